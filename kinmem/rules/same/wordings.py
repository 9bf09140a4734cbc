"""Whether two texts word one statement differently: in another order, or in the passive.

Nothing may be left over on either side but words that hold a sentence together. What turns round is
only what cannot change who does what: a circumstance that moves to the front, the two sides of
`is`, a passive with its agent. Word by word, without a model; in doubt they are two statements.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import combinations, pairwise, takewhile

from kinmem.rules import grammar, vocabulary
from kinmem.rules.grammar import words
from kinmem.rules.pattern import late
from kinmem.rules.same.atoms import Atoms, Contrast, atoms, contrast, is_content, opposed
from kinmem.rules.same.lexemes import Lexeme, lexemes, stem

ARTICLES_OR_PRONOUNS = words(
    "der die das den dem des la le les l el los las lo il i gli un une una unos unas uno o a os as",
    "um uma",
)
"""Which of the two they are nobody knows here, so both texts must have as many of each."""
RELATIVES = words("that which who what where que qui quem onde où dove wo something there c")
COPULAS = words("be is est es son è sono é são ist sind")
NOMINATIVES = words("i ich je j yo io eu")
"""Wherever they stand they are who does it, and Romance verbs say it without them."""
DROPPED = words("eu yo io")
LIGHT = words("get gets")
FREE = (
    (grammar.FUNCTION_WORDS | RELATIVES | COPULAS | LIGHT)
    - (grammar.PLACES - {"a", "o"})
    - (grammar.PRONOUNS - DROPPED)
    - (grammar.LINKS - RELATIVES)
    - vocabulary.NEGATORS
    - vocabulary.CONCORD
    - vocabulary.MODALS
    - vocabulary.TENSES
    - vocabulary.QUANTITIES
    - words("have has do does how why then")
)
"""Articles, copulas and relatives: which of them stand in a text depends on its order."""
COUNTED = NOMINATIVES - DROPPED | ARTICLES_OR_PRONOUNS
EVERY = words("each every jede jeder jedes jeden chaque cada ogni")
AT = words("on at in am um im à a le el às aos em alle il")
"""Before a day or an hour they say no more than that."""
GENITIVE = "of"
EXACT = ("question", "number", "date", "unit")
ARTICLES = words(
    "the my our their el la los las il lo i gli o a os as le les der die das mein meine"
)
LONGEST = 400
"""Characters; a longer text tells more than one thing."""
VERB_AND_ANOTHER = 2
"""Words without a preposition: one of them is the verb, and only the other can do or suffer it."""
AGENTS = {"by": words("be get gets"), "von": words("wird werden")}
"""What names who does it, and the verb that stands with it in the present passive."""
PLACING = grammar.PLACES | words("a às ao aos à al ai agli alla del della dei degli delle du da do")
ATTACHED = (
    PLACING
    | grammar.LINKS
    | vocabulary.NEGATORS
    | vocabulary.CONCORD
    | vocabulary.TENSES
    | vocabulary.QUANTITIES
) - FREE
LIMITING = vocabulary.NEGATORS | vocabulary.CONCORD | vocabulary.MODALS | vocabulary.QUANTITIES
OFTEN = words(
    "always often sometimes usually rarely seldom mostly once twice immer oft manchmal selten",
    "meistens toujours souvent parfois rarement siempre sempre spesso",
)
TITLE = late(r"\b([A-Z][a-z])\.(?= [A-Z])")
"""Words that belong to what stands behind them."""


@dataclass(frozen=True, slots=True)
class Item:
    """A word with what is attached to it."""

    word: str
    before: tuple[str, ...] = ()
    """Prepositions, `only`, `not`, `may`."""
    is_time: bool = False

    @property
    def is_circumstance(self) -> bool:
        """Whether it may stand first or last without becoming somebody else's part."""
        return self.is_time or not PLACING.isdisjoint(self.before)


Part = tuple[Item, ...]
Change = tuple[str, int, int, int, int]
"""See SequenceMatcher.get_opcodes."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A statement of one clause, word by word."""

    items: tuple[Item, ...]
    loose: tuple[str, ...]
    """Prepositions with nothing behind them: what the user goes by."""
    persons: Counter[str]
    """Subjects, and what may be an article or a pronoun."""
    denials: int
    agents: frozenset[str]
    """By what the agent of a present passive would be named here."""
    past: bool
    names_one: bool
    """Whether it is clear which thing is meant: `the`, a possessive, a name."""
    copula: bool
    cleft: bool
    """Whether a copula and a relative part it: short answers are what I want."""


def reworded(a: str, b: str) -> bool:
    """Whether both say the same of the same, and only the order or the voice differs. Symmetric."""
    if max(len(a), len(b)) > LONGEST:
        return False
    left, right = _read(a), _read(b)
    if left is None or right is None:
        return False
    left, right = _completed(left, right), _completed(right, left)
    if left.denials != right.denials or left.persons != right.persons or left.loose != right.loose:
        return False
    if Counter(left.items) == Counter(right.items):
        return _rearranged(left, right)
    return _is_voiced(left, right) or _is_voiced(right, left)


def _read(text: str) -> Wording | None:
    """None: a question, or more than one clause."""
    found = lexemes(TITLE.sub(r"\1", text))
    forms = {lexeme.form for lexeme in found}
    if any(lexeme.kind == "question" for lexeme in found):
        return None
    denying = vocabulary.NEGATORS | vocabulary.CONCORD
    denials = [lexeme.form for lexeme in found if lexeme.form in denying]
    is_plain = len(denials) == 1 and forms.isdisjoint(vocabulary.QUANTITIES | vocabulary.MODALS)
    clauses, loose = [], []
    for clause in _clauses(found):
        kept = [lexeme for lexeme in clause if not (is_plain and lexeme.form in denying)]
        items, pending = _items(kept)
        clauses.append(items)
        loose += pending
    full = [items for items in clauses if any(not item.is_circumstance for item in items)]
    if len(full) != 1:
        return None
    named = any(lexeme.kind == "name" or lexeme.form.endswith("'s") for lexeme in found)
    return Wording(
        tuple(item for items in clauses for item in items),
        tuple(loose),
        Counter(lexeme.form for lexeme in found if lexeme.form in COUNTED),
        len(denials),
        frozenset(by for by, verbs in AGENTS.items() if by in forms and forms & verbs),
        not forms.isdisjoint(vocabulary.PAST | vocabulary.TENSES - AGENTS["von"]),
        named or _has_article(text),
        not forms.isdisjoint(COPULAS),
        not forms.isdisjoint(COPULAS) and not forms.isdisjoint(RELATIVES),
    )


def _has_article(text: str) -> bool:
    return not ARTICLES.isdisjoint(text.casefold().replace("'", " ").split())


def _clauses(found: Sequence[Lexeme]) -> Iterator[list[Lexeme]]:
    clause: list[Lexeme] = []
    for lexeme in [*found, Lexeme("", "break")]:
        if lexeme.kind != "break":
            clause.append(lexeme)
        elif clause:
            yield clause
            clause = []


def _items(clause: Sequence[Lexeme]) -> tuple[list[Item], list[str]]:
    """The words that are said, each with what is attached to it, and what is attached to none."""
    items: list[Item] = []
    pending: list[str] = []
    for form, kind in clause:
        if form in EVERY:
            pending.append("every")
        elif form in OFTEN:
            items.append(Item(form, (), True))
        elif kind not in ("date", "number") and form in ATTACHED:
            pending.append(form)
        elif kind in ("word", "name") and form in FREE | NOMINATIVES:
            continue
        else:
            is_time = kind == "date" or kind == "number" and ":" in form
            owner = form.removesuffix("'s")
            before = [word for word in pending if not (is_time and word in AT)]
            before += [GENITIVE] if owner != form else []
            items.append(Item(owner, tuple(sorted(before)), is_time))
            pending = []
    return items, pending


def _completed(one: Wording, other: Wording) -> Wording:
    """What the user goes by: the preposition goes to the word that has it in the other text."""
    loose, items = list(one.loose), list(one.items)
    for at, item in enumerate(items):
        wanted = next((it.before for it in other.items if it.word == item.word), ())
        if not item.before and len(wanted) == 1 and wanted[0] in loose:
            items[at] = Item(item.word, wanted, item.is_time)
            loose.remove(wanted[0])
    return replace(one, items=tuple(items), loose=tuple(loose))


def _rearranged(left: Wording, right: Wording) -> bool:
    """Whether the order differs only in what cannot change who does what."""
    if left.items == right.items:
        return True
    named = left.copula and right.copula and left.names_one and right.names_one
    turned = named or left.cleft != right.cleft
    if turned and _is_turned(left.items, right.items):
        return True
    rest, other = _without(left.items, right.items), _without(right.items, left.items)
    if rest == other:
        return True
    ours, theirs = _parts(rest, other), _parts(other, rest)
    return (
        len(_stated(ours)) <= VERB_AND_ANOTHER == len(_stated(theirs))
        and _circumstances(ours) == _circumstances(theirs)
        and (not left.denials or not NOMINATIVES.isdisjoint(left.persons))
        and (named or not left.copula)
    )


def _is_turned(ours: Sequence[Item], theirs: Sequence[Item]) -> bool:
    return any([*ours[at:], *ours[:at]] == list(theirs) for at in range(1, len(ours)))


def _without(items: Sequence[Item], others: Sequence[Item]) -> list[Item]:
    """Without the circumstances that either text begins with."""
    ours, theirs = _parts(items, others), _parts(others, items)
    fronted = [*takewhile(_is_circumstance, ours), *takewhile(_is_circumstance, theirs)]
    return [item for part in ours if part not in fronted for item in part]


def _parts(items: Sequence[Item], others: Sequence[Item]) -> list[Part]:
    """Each circumstance with the words behind it that stand so in the other text as well."""
    together = set(pairwise(others))
    parts: list[Part] = []
    for item in items:
        goes_on = parts and _is_circumstance(parts[-1]) and not item.is_circumstance
        if goes_on and (parts[-1][-1], item) in together:
            parts[-1] = (*parts[-1], item)
        else:
            parts.append((item,))
    return parts


def _is_circumstance(part: Part) -> bool:
    return part[0].is_circumstance


def _circumstances(parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if _is_circumstance(part)]


def _stated(parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if not _is_circumstance(part)]


def _is_voiced(active: Wording, passive: Wording) -> bool:
    """Whether the second is the first in the passive: reviews, is reviewed by."""
    if active.past or passive.past:
        return False
    return any(
        _does(*found)
        for at, agent in enumerate(passive.items)
        if not passive.agents.isdisjoint(agent.before)
        if (found := _agentless(active.items, passive.items, at))
    )


def _agentless(
    active: Sequence[Item], passive: Sequence[Item], at: int
) -> tuple[list[Item], list[Item]] | None:
    """Both texts without the agent, which the active one begins with."""
    named = [Item(passive[at].word), *passive[at + 1 :]]
    start = next((place for place, item in enumerate(active) if not item.is_circumstance), 0)
    pairs = zip(active[start:], named, strict=False)
    length = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if not length:
        return None
    ours = [*active[:start], *active[start + length :]]
    return ours, [*passive[:at], *passive[at + length :]]


def _does(active: Sequence[Item], passive: Sequence[Item]) -> bool:
    """Whether the active begins with the verb of the passive, and the rest is the same."""
    before = [*takewhile(lambda item: item.is_circumstance, active)]
    if len(before) == len(active):
        return False
    verb, *behind = active[len(before) :]
    rest = [*before, *behind]
    for at, item in enumerate(passive):
        same = stem(item.word.removeprefix("ge")) == stem(verb.word)
        if same and item.before == verb.before and item.word != verb.word:
            others = [*passive[:at], *passive[at + 1 :]]
            return Counter(rest) == Counter(others) and _without(rest, others) == _without(
                others, rest
            )
    return False


def resembles(a: str, b: str, *, close: bool) -> bool:
    """Whether both seem to say the same in other words; a person should look. Symmetric.

    Who puts another thing into a statement leaves the rest as it stands. So words that have changed
    places speak for a paraphrase, as do two or uneven changes in texts that are `close`. Where
    nothing but the order has changed, two may have exchanged their roles.
    """
    pair = contrast(a, b)
    if pair.differs(EXACT) or _is_otherwise(pair):
        return False
    ours, theirs = _said(pair.left), _said(pair.right)
    shared = Counter(ours) & Counter(theirs)
    if 2 * shared.total() < min(len(ours), len(theirs)) or pair.lost == pair.gained:
        return False
    turned = opposed(pair.lost, pair.gained)
    if shared.total() > sum(
        end - start for kind, start, end, *_ in _changes(ours, theirs, "equal")
    ):
        denied = pair.left.negations != pair.right.negations
        return denied == turned or turned and _is_converse(pair, ours, theirs)
    free = not pair.differs(("negation", "person", "attribute", "modality", "tense", "quantity"))
    left, right = (
        [word for word in side.words if word not in FREE] for side in (pair.left, pair.right)
    )
    replaced = _changes(left, right, "replace")
    uneven = any(end - start != until - since for _, start, end, since, until in replaced)
    return close and free and not turned and (uneven or len(replaced) > 1)


def _changes(ours: list[str], theirs: list[str], kind: str) -> list[Change]:
    first, second = sorted((ours, theirs))
    found = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    return [change for change in found if change[0] == kind]


def is_counterpart(a: str, b: str) -> bool:
    """Whether only numbers, dates, units and names differ: ticket 7 and ticket 8 are two things."""
    pair = contrast(a, b)
    exact = {*pair.left.names, *pair.right.names}
    for side in (pair.left, pair.right):
        exact |= side.numbers | side.dates | side.units
    return bool(pair.lost and pair.gained) and exact.issuperset([*pair.lost, *pair.gained])


def extends(whole: str, part: str) -> bool:
    """Whether the first text is the second with something behind it, and denies no more."""
    longer, shorter = atoms(whole), atoms(part)
    added = longer.words[len(shorter.words) :]
    return (
        bool(added)
        and longer.words[: len(shorter.words)] == shorter.words
        and longer.question == shorter.question
        and LIMITING.isdisjoint(added)
    )


def _said(side: Atoms) -> list[str]:
    every = ("every" if word in EVERY else word.removesuffix("'s") for word in side.words)
    return [stem(word) for word in every if is_content(word)]


def _is_converse(pair: Contrast, ours: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether two have changed places together with the verb: lent to, borrowed from."""
    both = [name for name in ours if name in theirs and name in map(stem, _names(pair))]
    return any(
        (ours.index(one) < ours.index(other)) != (theirs.index(one) < theirs.index(other))
        for one, other in combinations(both, 2)
    )


def _names(pair: Contrast) -> set[str]:
    return {name.removesuffix("'s") for name in pair.left.names | pair.right.names}


def _is_otherwise(pair: Contrast) -> bool:
    """Whether somebody else does it, or it may, shall or will be instead of being so."""
    ours, theirs = (
        {word.removesuffix("'s") for word in side.words} for side in (pair.left, pair.right)
    )
    kept = _names(pair) - RELATIVES - COPULAS
    other = pair.both_have(vocabulary.MODALS) or pair.both_have(vocabulary.QUANTITIES - EVERY)
    return other or not kept <= ours & theirs
