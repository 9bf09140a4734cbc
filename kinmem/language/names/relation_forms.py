"""How relations are said: patterns, English first, the clearest of five languages beside them.

In a form <A> and <B> are the ends, each a name or several; an end that is missing is the speaker.
<still> is what may stand before the verb, <end> says that nothing else belongs to the name.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kinmem.language.names.relation_words import PLURALS, ROLES

# Names that are known to be employers', products' or makers': nobody lives there.
_COMPANY_NAME = (
    r"[A-Z][\w&-]{1,20} (?:Inc|GmbH|AG|Ltd|LLC|Corp|Labs|Technologies|Consulting|Holdings?)"
)
_PLACES_IN_CAPITALS = "USA?|UK|UAE|NYC|LA|SF|DC|EU|DR|NZ"


def _read_known() -> dict[str, list[str]]:
    """The names of well_known.txt by the kind above them."""
    found: dict[str, list[str]] = {}
    kind: list[str] = []
    known = Path(__file__).with_name("well_known.txt").read_text(encoding="utf-8")
    for line in known.splitlines():
        if line.startswith("["):
            kind = found.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            kind += line.split()
    return found


def _one_of(names: list[str]) -> str:
    either = sorted(set(names), key=len, reverse=True)
    spelt = "|".join(
        f"(?{'-' * one[0].isupper()}i:{re.escape(one).replace('_', '[ -]')})" for one in either
    )
    return rf"(?<![\w-])(?:{spelt})(?!\w|-\w)"


def _surely_employers(known: dict[str, list[str]]) -> str:
    """Those that are nothing else that one may move to: Slack is a chat as well."""
    things = {name.casefold() for name in known["things"]}
    short = "|".join(sorted(name for name in things if name.isalpha() and len(name) <= 5))
    alone = [name for name in known["employers"] if name.casefold() not in things]
    capitals = rf"(?!(?:{_PLACES_IN_CAPITALS}|(?i:{short}))\b)[A-Z]{{2,5}}(?:&[A-Z])?(?![\w-])"
    return rf"(?:{_one_of(alone)}|(?-i:{_COMPANY_NAME}\b)|(?-i:{capitals}))"


_WELL_KNOWN = _read_known()
EMPLOYERS = _surely_employers(_WELL_KNOWN)
"""A pattern of names that are employers' for certain, where one is said to have moved to them."""
NAMED = _one_of([name for names in _WELL_KNOWN.values() for name in names])
"""A pattern of all of them."""


_UPPER = "A-ZÀ-ÖØ-ÞŁŚŠŽČĆĐ"
_TOKEN = rf"(?!I\b)[{_UPPER}][\w&-]*(?:['’][{_UPPER}]\w+)?"
_BETWEEN = r"(?:(?:of|the|de|da|do|dos|das|del|della|di|du|van|von|der|den|bin|al|la|le|&) ){1,2}"
NAME = rf"(?:(?:Dr|Prof|Mr|Mrs|Ms)\. )?{_TOKEN}(?: (?:{_BETWEEN})?{_TOKEN}){{0,4}}"
NAMES = rf"{NAME}(?:(?:, {NAME}){{0,5}},? (?:and|und|et|y|e) {NAME})?"
USER = r"(?:[Tt]he )?[Uu]ser(?= )"
SELF = r"I|[Ww]e|Ich|Wir|Je"
_WHOLE = r"(?![\w-])(?!['’]s)"
_ADJECTIVES = (
    r"(?:(?:very|best|good|close|dear|old|new|little|big|older|elder|younger|oldest|youngest"
    r"|eldest|twin|only|direct|line|current|business|main|beste[nr]?|kleine|große) )*"
)
_STILL = (
    r"(?:,? who)?(?: (?:currently|now|still|also|always|already|actually|mostly|both|happily"
    r"|officially|recently|just|finally))*"
)
_END = (
    r"(?=\s*(?:$|[.,;:!)(–—])|\s(?:and|but|in|at|as|since|for|with|on|from|during|last|this|when"
    r"|because|together|back|who|which|by|after|every|all|again|too|now|directly|und|et|y|e)\b)"
)
_MOVED = r"(?:has |have )?(?:just |recently )?moved(?: back)?(?: from [^.,;]{1,40}?)? to"
_MY = r"(?:[Mm](?:y|eine?|on|a|i|ia|io|eu|inha)|[Oo]ur|[Uu]nsere?|[Nn]otre)"
_CALLED = (
    r"(?:['’]s name is|,? (?:is )?(?:called|named)| hei(?:ß|ss)t| namens| s['’]appelle| se llama"
    r"| si chiama| se chama|,)?"
)
_ROLE = rf"{_ADJECTIVES}(?P<role>(?i:{'|'.join(sorted(ROLES, key=len, reverse=True))}))"
_MANY = rf"{_ADJECTIVES}(?P<role>(?i:{'|'.join(sorted(PLURALS, key=len, reverse=True))}))"


@dataclass(frozen=True)
class Form:
    """One way of saying a relation."""

    relation: str
    """`role`: what the word in the group of that name means."""
    hints: tuple[str, ...]
    """One of them, in lower case, is in all that fits: most texts need not be searched. None for
    forms of roles."""
    turned: bool
    """Whether <B> is the source."""
    text: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when a hint is first seen: all of them take 200 ms."""
        text = self.text
        for sign, meaning in _SIGNS:
            text = text.replace(sign, meaning)
        return re.compile(text)


_SAID: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "works_at",
        "work|employ|arbeit|travail|trabaj|lavor|trabalh",
        (
            r"<A><still> (?:works?|(?:am|is|are) (?:now )?working|(?:has|have) (?:worked"
            r"|been working)|(?:am|is|are) employed)(?: part-time| full-time)? (?:at|for|by)"
            r" (?:the )?<B>",
            r"<A><still> arbeitet? (?:seit \w+ |jetzt |als \w+ )*bei (?:der |dem )?<B>",
            r"<A> travaille (?:chez|pour) <B>",
            r"<A> trabaja para (?:el |la )?<B>",
            r"^(?:Yo )?[Tt]rabajo para (?:el |la )?<B>",
            r"<A> lavora (?:per|presso) (?:la |il )?<B>",
            r"^(?:Io )?[Ll]avoro (?:per|presso) (?:la |il )?<B>",
            r"<A> trabalha para (?:a |o )?<B>",
            r"^(?:Eu )?[Tt]rabalho para (?:a |o )?<B>",
        ),
    ),
    (
        "works_at",
        " is a| is the | am a| am the ",
        (
            r"<A><still> (?:is|am) (?:an?|the) (?!student\b|fan\b|guest\b|star\b|regular\b)"
            r"[a-z][\w-]*(?: [a-z][\w-]*){0,3} at (?:the )?<B>",
            r"<A><still> (?:is|am) (?:the|an?) (?:[A-Z]{3}|chief executive|managing director"
            r"|head of \w+|(?:vice )?president|chair(?:man|woman)?) (?:of|at) <B>",
        ),
    ),
    (  # no place, and known to be an employer's name
        "works_at",
        "moved|joined|start|gewechselt|pass|cambi|mud",
        (
            rf"<A><still> (?:{_MOVED}|(?:has |have )?(?:just |recently )?"
            rf"(?:joined|started (?:working )?(?:at|with))) (?={EMPLOYERS})<B>",
            rf"<A> (?:bin|ist|sind) (?:\w+ )?zu (?={EMPLOYERS})<B> gewechselt",
            rf"<A> (?:est|suis) passée? chez (?={EMPLOYERS})<B>",
            rf"<A> (?:se ha cambiado|se pasó|ha pasado) a (?={EMPLOYERS})<B>",
            rf"<A> è passat[oa] (?:a|alla) (?={EMPLOYERS})<B>",
            rf"<A> mudou para a (?={EMPLOYERS})<B>",
        ),
    ),
    (
        "lives_in",
        "liv|viv|based|moved|wohn|leb|gezogen|habit|vit|vis|abit|mor",
        (
            r"<A><still> (?:lives?|(?:am|is|are) living|(?:has|have) (?:lived|been living))"
            r" in (?:the )?<B>",
            r"\b(?:I am|[Ww]e are) based in (?:the )?<B>",
            rf"<A><still> {_MOVED} (?!{EMPLOYERS}|{NAMED})(?:the )?<B>",
            r"<A> (?:wohn|leb)(?:e|t|en) (?:seit [\w.]+ |jetzt |noch |derzeit )*in (?:der )?<B>",
            r"<A> (?:bin|ist|sind) (?:\w+ )?nach <B> (?:um)?gezogen",
            r"<A> (?:habite|vi[ts]) (?:à|en|au) <B>",
            r"^[Jj]['’]habite (?:à|en|au) <B>",
            r"<A> vive (?:en|a|em|no|na) <B>",
            r"^(?:Yo |Io |Eu )?[Vv]ivo (?:en|a|em|no|na) <B>",
            r"<A> (?:abita a|mora (?:em|no|na)) <B>",
            r"^(?:Io |Eu )?(?:[Aa]bito a|[Mm]oro (?:em|no|na)) <B>",
        ),
    ),
    (
        "married_to",
        "married|verheiratet|mari|casad|sposat",
        (
            r"<A><still> (?:is|am|has been|have been|got) (?:happily )?married to <B>",
            r"<A> married <B><end>",
            r"(?P<both><NAMES>) (?:are|got) married\b",
            r"<A> (?:ist|bin) (?:seit \w+ )?mit <B> verheiratet",
            r"<A> (?:est|suis) mariée? (?:à|avec) <B>",
            r"<A> (?:está casad[oa] con|è sposat[oa] con|é casad[oa] com) <B>",
            r"^(?:[Ee]stoy casad[oa] con|[Ss]ono sposat[oa] con|[Ss]ou casad[oa] com) <B>",
        ),
    ),
    ("manages<", "report", (r"<A><still> reports?(?: directly)? to <B><end>",)),
    ("manages", "manage", (r"<A><still> manages? <B><end>",)),
    (
        "founded",
        "found|gegründet|fond|fund",
        (
            r"<A> (?:has |have )?(?:co-?)?founded <B><end>",
            r"<A><still> (?:is|am) (?:the|an?) (?:co-?)?founder of <B>",
            r"<A> (?:hat|habe|haben) (?:\d{4} )?<B> gegründet",
            r"<A> (?:a fondé|fundó|fundou|ha fondato) <B>",
            r"^(?:[Jj]['’]ai fondé|[Hh]o fondato) <B>",
        ),
    ),
    ("founded<", "founded by", (r"<A> was (?:co-?)?founded by <B>",)),
    ("friend_of", "friends", (r"<A><still> (?:is|am|are) (?:good |best )?friends with <B>",)),
    (
        "dating",
        "dating|relationship",
        (
            r"<A><still> (?:is|am) (?:dating|in a relationship with) <B>",
            r"(?P<both><NAMES>) are dating\b",
        ),
    ),
    (
        "member_of",
        "member",
        (r"<A><still> (?:(?:is|am)|(?:has|have) been) an? (?:\w+ )?member of (?:the )?<B>",),
    ),
    ("mentors", "mentor", (r"<A><still> mentors? <B><end>",)),
    (
        "collaborates_with",
        "collaborat|work",
        (
            r"<A><still> collaborates? with <B>",
            r"<A><still> works? (?:closely |together )with <B><end>",
        ),
    ),
    ("competitor_of", "compete", (r"<A><still> competes? with <B>",)),
    ("partner_of", "partner", (r"<A><still> partners? with <B>",)),
    ("knows", "know each", (r"(?P<both><NAMES>) (?:all )?know each other\b",)),
    ("uses", "use", (r"<A><still> uses? <B><end>",)),
    (
        "created",
        "creat|wrote|written|built|design|develop|invent|compos",
        (
            r"<A> (?:(?:has |have )?(?:created|built|designed|developed|invented|composed)|wrote"
            r"|(?:has|have) written) <B><end>",
        ),
    ),
    (
        "created<",
        " by ",
        (
            r"<A> was (?:created|written|built|designed|developed|invented|composed|painted)"
            r" by <B>",
        ),
    ),
    (  # my brother Daniel, my wife is called Julia: <B> has the role
        "role",
        "",
        (
            rf"\b{_MY} {_ROLE}{_CALLED} <B>",
            rf"\b{_MY} {_ROLE} is <B>(?=\s*(?:$|[.,;!]))",
            rf"\b{_MY} {_MANY}{_CALLED} <B>",
            rf"<A>['’]s {_ROLE}(?: is)?{_CALLED} <B>",
            rf"<A> (?:has|have) an? {_ROLE},? (?:called|named) <B>",
        ),
    ),
    (  # Karen is Tom's manager: <A> has it
        "role<",
        "",
        (
            rf"<A><still> is (?:one of )?<B>['’]s {_ROLE}s?\b",
            rf"<A><still> is (?:my|our) {_ROLE}\b(?!['’])",
            rf"<A><still> is (?:the|an?) {_ROLE} of <B>",
            rf"(?P<both><NAMES>) are {_MANY}\b",
        ),
    ),
)


_SIGNS = (
    ("<A>", rf"(?<![\w'’-])(?P<a>{SELF}|{USER}|{NAMES})"),
    ("<B>['’]s", rf"(?P<b>{NAMES})['’]s"),
    ("<B>", rf"(?P<b>{NAMES}){_WHOLE}"),
    ("<NAMES>", NAMES),
    ("<still>", _STILL),
    ("<end>", _END),
)
FORMS = tuple(
    Form(relation.rstrip("<"), tuple(hints.split("|")) if hints else (), "<" in relation, text)
    for relation, hints, texts in _SAID
    for text in texts
)
