"""What only leads in to a statement, or out of it: "just to confirm,", "Kurz gesagt:", "as I said".

No list of phrases: a short clause that carries no number, date, name, person or denial, and whose
words are about talking itself, in any order. Before a colon other words do as well: a label.
"""

import re
from collections.abc import Iterator

from kinmem.language import lexicon
from kinmem.language.lexicon import word_class
from kinmem.language.same.lexemes import Lexeme, lexemes
from kinmem.text import folded, late, words

LONGEST = 8
"""Words of a lead-in; what is longer says something."""
READ = 100
"""Characters from either end within which one is looked for."""
_MANY = 4
"""That many in a row: "Well, as I said, to be clear: ..."."""

# About talking, reminding, knowing and repeating: how such words begin, without accents.
_TALK = word_class("talk_stems")
_TALKS = late(rf"(?:{'|'.join(sorted(_TALK))})\w{{0,8}}")
_SHORT = word_class("talk_words")
"""What is not bent, or is too short for a beginning: klar, but not Klara."""
_SLIGHT = word_class("talk_slight")
"""What may stand in a lead-in and makes none: only I, you and I."""
_FORGETS = late(r"(?:forget|vergess|vergiss|oubli|olvid|dimentic|esquec)\w*")
_CARRYING = lexicon.FUNCTION_WORDS | lexicon.NEGATORS
_UNTRUE = word_class("untrue")
_FACTS = _UNTRUE | {
    word
    for word in (lexicon.PERSONS - lexicon.PRONOUNS).union(lexicon.ATTRIBUTES)
    if word not in _SHORT | _SLIGHT and not _TALKS.fullmatch(word)
}

_MARKUP = late(r"(?:[>*•·●★◎○▸|#_~`\"“”„«»'‘’\s]|[-–—+](?=\s)|\d{1,2}[.)]\s|\[[^\W\d_]{3,20}\])*")
_BEHIND = " \t\n*_~`\"“”„«»'‘’"
_ENDS = late(
    r"\s?(?P<label>:)\s+|\s?[,;]\s+|\s[-–—]{1,2}\s+|—|\s(?:that|dass|daß|que|che)\s+", re.IGNORECASE
)
_LEADS_OUT = late(r"\s?[,;:]\s+|\s?[-–—]{1,2}\s+")
_SPACE = late(r"\s+")


def stated(text: str) -> str:
    """What the text states, without its markup and the lead-ins before and behind it."""
    left = _without_markup(text)
    for _ in range(_MANY):
        shorter = _without_markup(_behind_lead_in(_before_lead_out(left)))
        if shorter == left:
            break
        left = shorter
    return left


def says_nothing(text: str) -> bool:
    """Whether it is a lead-in and no more: As I already said."""
    return any(_TALKS.fullmatch(folded(word)) for word in words(text)) and _leads_in(text)


def ends_of(text: str) -> Iterator[str]:
    """What follows the first words, for as long as these lead in without a comma: Btw I live."""
    for space in _SPACE.finditer(text, 0, READ):
        if not _leads_in(text[: space.start()]):
            return
        yield text[space.end() :]


def _without_markup(text: str) -> str:
    begun = _MARKUP.match(text)
    return text[begun.end() if begun else 0 :].rstrip(_BEHIND)


def _behind_lead_in(text: str) -> str:
    for end in _ENDS.finditer(text, 0, READ):
        if _leads_in(text[: end.start()], label=end["label"] is not None):
            return text[end.end() :]
    return text


def _before_lead_out(text: str) -> str:
    for end in _LEADS_OUT.finditer(text, max(1, len(text) - READ)):
        if _leads_in(text[end.end() :]):
            return text[: end.start()]
    return text


def _leads_in(clause: str, *, label: bool = False) -> bool:
    """Whether it is about talking only; a label may also have other words, but no facts."""
    if len(clause) > 2 * READ:
        return False
    said = [lexeme for lexeme in lexemes(clause) if lexeme.form and lexeme.form != "?"]
    if not 0 < len(said) <= LONGEST or not (label or any(map(_is_about_talking, said))):
        return False
    denied = any(lexeme.form in lexicon.NEGATORS for lexeme in said)
    if denied and not any(_FORGETS.fullmatch(folded(lexeme.form)) for lexeme in said):
        return False
    return all(_is_talk(lexeme) or label and _is_plain(lexeme) for lexeme in said)


def _is_talk(lexeme: Lexeme) -> bool:
    if lexeme.form in _FACTS or lexeme.kind in ("date", "unit"):
        return False
    carrying = lexeme.kind == "word" and lexeme.form in _CARRYING
    return carrying or folded(lexeme.form) in _SLIGHT or _is_about_talking(lexeme)


def _is_about_talking(lexeme: Lexeme) -> bool:
    form = folded(lexeme.form)
    return form in _SHORT or bool(_TALKS.fullmatch(form)) or bool(_FORGETS.fullmatch(form))


def _is_plain(lexeme: Lexeme) -> bool:
    return lexeme.kind == "word" and lexeme.form not in _FACTS | lexicon.TENSES
