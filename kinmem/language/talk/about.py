"""Of whom or what a statement is, by its first words. Where they leave doubt, it is of nobody."""

from kinmem.language.lexicon import either
from kinmem.language.pattern import late
from kinmem.language.same.amounts import CAPITAL_MONTHS, DAY_NAMES
from kinmem.language.vocabulary import FUNCTION_WORDS
from kinmem.text import STOP_WORDS

WORD = r"(?-i:[A-ZÀ-Þ][\w’-]*[^\W_])"
NAME = rf"{WORD}(?: (?:(?:van|von|de|da|del|di|der) )?{WORD}){{0,2}}"
KIN, KIN_ABROAD = either("kin"), either("kin_abroad")
MINE, ARTICLES = either("mine"), either("articles")
RELATIVE = rf"(?:{KIN}|{KIN_ABROAD}|cão|cadela|gato|landlord|vermieter(?:in)?|housemate|flatmate)"
THING = either("things")
"""Things of one's work and home, of which it is told how they are."""

VERB = r"(?-i:[a-zà-ÿ])"
"""How what is said of a name goes on."""
OF_TWO = late(rf"(?i){WORD} (?:and|und|et|y|e|ed) {WORD} {VERB}")
OF_ONE = late(
    rf"(?i)(?:A (?={WORD} ))?(?P<who>{NAME})(?:['’]s?)? (?!(?:ich|wir|er|man|du)\b){VERB}"
)
OF_RELATIVE = late(
    rf"(?i)(?:a |à |al )?(?:{MINE}) (?:\w+ )?(?P<what>{RELATIVE})(?:,? (?:is |named |called )?"
    rf"(?P<who>{WORD}),?)? (?=[a-zà-ÿ])"
)
OF_THING = late(
    rf"(?i)(?:(?:{ARTICLES}|{MINE}) ?\b(?P<what>(?:(?!of\b|and\b|in\b)[\w-]+ ){{0,2}}?(?:{THING}))"
    rf"|(?:project|projekt|projet|proyecto|progetto|projeto) (?P<who>{WORD}(?: {WORD})?))"
    rf"(?= (?:{either('goes')})\b|['’]s )"
)
PLURAL = late(r"(?i)\b(deploy|deployment|release|build|pipeline|server|backup|service|sprint)s$")
HE = late(
    rf"(?i)(?:(?:{either('before_named')})\b|he(?! \w+(?:ado|ido|cho|sto|rto)\b)\b"
    r"|(?:his|her|its|their|sein\w*|ihr\w*|su|leur) \w)"
)
"""Whoever was named before."""
NEVER = (FUNCTION_WORDS | frozenset().union(*STOP_WORDS.values()) | DAY_NAMES.keys()) - {"mia"}
MONTHS = frozenset(month.casefold() for month in CAPITAL_MONTHS)
HEAD = 200
"""Characters that are looked at."""


def subject(text: str, *, named: bool = True) -> str | None:
    """A name, or what somebody or something is to the speaker; None where it is of two, or nobody
    knows. `named`: it may begin with a name; an order begins with a verb."""
    text = text[:HEAD]
    if found := OF_RELATIVE.match(text):
        return found["who"] or found["what"]
    if found := OF_THING.match(text):
        return found["who"] or PLURAL.sub(r"\1", found["what"])
    found = OF_ONE.match(text)
    if not named or found is None or OF_TWO.match(text) or not _is_name(found["who"]):
        return None
    return found["who"]


def _is_name(text: str) -> bool:
    first = text.split()[0].casefold()
    return first not in NEVER and first not in MONTHS


def refers_back(text: str) -> bool:
    """Whether only what was said before it tells of whom it is: She likes dogs."""
    return HE.match(text) is not None
