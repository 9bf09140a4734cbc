"""What kind of answer a question asks for, and whether a text holds one of that kind at all.

A memory may be about the very thing and still not tell what is asked: "how much does Biscuit
weigh?" is not answered where there is no number. English; in other languages no kind is known.
"""

import re
from collections.abc import Callable

from kinmem.text import STOP_WORDS, words

NUMBER = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty"
    r"|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|once|twice|dozen|couple|both"
    r"|several|few|no)\b"
)
SPAN = (
    r"\b(?:second|minute|hour|day|night|week|weekend|month|year|decade|until|since|for ages)s?\b"
    r"|\d\s?(?:ms|s|min|h)\b|\b\d{4}\b"
)
COLOUR = (
    r"\b(?:red|green|blue|white|black|gr[ae]y|yellow|orange|brown|pink|purple|violet|silver|gold\w*"
    r"|beige|turquoise|crimson|teal)\b|#[0-9a-f]{3,8}\b"
)
CONTACT = r"\d|@|\bhttps?:"
PERSON = (
    r"\b(?:mother|father|mum|mom|dad|sister|brother|wife|husband|son|daughter|uncle|aunt|cousin"
    r"|niece|nephew|grand\w+|friend|boss|doctor|teacher|neighbou?r|colleague|coach|boy|girl|man"
    r"|woman|nun|nurse|driver|we|he|she|they)s?\b"
)
NOTHING = r"(?!)"
NAMED, UNNAMED = True, False
KINDS = [
    (re.compile(asked, re.IGNORECASE), re.compile(told, re.IGNORECASE), by_name)
    for asked, told, by_name in (
        (r"\b(?:(?:tele)?phone number|e-?mail|password|postcode|address)\b", CONTACT, UNNAMED),
        (r"\bcolou?rs?\b", COLOUR, UNNAMED),
        (r"\bhow long\b", SPAN, UNNAMED),
        (
            r"\bhow (?:many|much|old|tall|far|large|big|heavy|hot|cold|high|deep|fast|late)\b",
            NUMBER,
            UNNAMED,
        ),
        (r"\b(?:number|code|price|salary|version|rate|size|budget)\b", NUMBER, UNNAMED),
        (
            r"\bwhat (?:does|did|do|is|was) .*\b(?:cost|earn|charge|pay|weigh)\b",
            NUMBER,
            UNNAMED,
        ),
        (r"\b(?:names?|surname|called|titled?|brand)\b", NOTHING, NAMED),
        (r"\b(?:who|whose|whom)\b", PERSON, NAMED),
    )
]
"""A question with the first is answered by the second or, if NAMED, by a name it does not have."""

CAPITAL = re.compile(r"\b[^\W\d_a-zß-ÿ][\w-]+")
CLOSES = ".!?:"
STOPS = frozenset().union(*STOP_WORDS.values())
DOES = re.compile(r" (?:is|was|has|had|and|can|will|[a-z]{2,}(?:s|ed))\b")

Test = Callable[[str], bool]


def sought(question: str) -> Test | None:
    """Whether a text holds an answer of the kind asked for; None: any text may."""
    for asked, told, by_name in KINDS:
        if asked.search(question):
            known = set(words(question))
            return lambda text: bool(told.search(text)) or (by_name and _names_other(text, known))
    return None


def _names_other(text: str, known: set[str]) -> bool:
    """Whether a word that is none of these has a capital, and not only as the first of a sentence.

    Names begin sentences as well: such a one counts before a comma, an apostrophe, or what somebody
    does: Bob drinks.
    """
    for match in CAPITAL.finditer(text):
        start, end = match.span()
        before = text[:start].rstrip()
        begins = not before or before[-1] in CLOSES
        if match.group().lower() in known:
            continue
        if not begins or text[end : end + 1] in set(",'’"):
            return True
        if match.group().lower() not in STOPS and DOES.match(text, end):
            return True
    return False
