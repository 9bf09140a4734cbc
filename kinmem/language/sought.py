"""What kind of answer a question asks for, and whether a text holds one of that kind at all.

A memory may be about the very thing and still not tell what is asked: "how much does Biscuit
weigh?" is not answered where there is no number, nor where all numbers are euros. Amounts and
colours in English, German, French, Spanish, Italian and Portuguese, the rest in English; where a
question asks for none of these kinds, any text may answer it.
"""

import re
from collections.abc import Callable, Iterable

from kinmem.language.counted import (
    COUNT,
    DATE,
    HEAT,
    LENGTH,
    MASS,
    MONEY,
    MONTHS,
    NUMBERS,
    SHARE,
    TIME,
    UNIT,
    amounts,
)
from kinmem.language.evidence import TIMES
from kinmem.language.pattern import late
from kinmem.text import STOP_WORDS, words

Test = Callable[[str], bool]
Tests = Callable[[str], Test]
"""Made for a question."""

CAPITAL = late(r"\b[^\W\d_a-zß-ÿ][\w-]+")
CLOSES = ".!?:"
STOPS = frozenset().union(*STOP_WORDS.values())
DOES = late(r" (?:is|was|has|had|and|can|will|[a-z]{2,}(?:s|ed))\b")


def sought(question: str) -> Test | None:
    """Whether a text holds an answer of the kind asked for; None: any text may."""
    if counted := HOW_MANY.search(question):
        unit = UNIT.get(counted["what"].casefold(), COUNT)
        return _counting({unit, COUNT})(question)
    for asked, made in KINDS:
        if asked.search(question):
            return made(question)
    return None


def _saying(pattern: str) -> Tests:
    """Answered by what matches."""
    told = late(pattern, re.IGNORECASE)
    return lambda question: lambda text: bool(told.search(text))


def _counting(kinds: Iterable[str], or_saying: str = r"(?!)") -> Tests:
    """Answered by a number of one of these kinds, or by what matches."""
    accepted, told = frozenset(kinds), late(or_saying, re.IGNORECASE)
    return lambda question: (
        lambda text: bool(told.search(text)) or not accepted.isdisjoint(amounts(text))
    )


def _naming(pattern: str = r"(?!)") -> Tests:
    """Answered by a name that the question does not have, or by what matches."""
    told = late(pattern, re.IGNORECASE)

    def made(question: str) -> Test:
        known = TIMES.union(words(question))
        return lambda text: bool(told.search(text)) or _names_other(text, known)

    return made


def _names_other(text: str, known: frozenset[str]) -> bool:
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


HOW_MANY = late(
    r"\b(?:how many|wie ?viele|combien d(?:e |['’])|cu[aá]nt[oa]s|quant[iea]|quant[oa]s)\s*"
    r"(?P<what>[^\W\d_]+)",
    re.IGNORECASE,
)
PHONE = r"\d(?:[ /().-]{0,2}\d){4}"
PLACE = (
    r"\d|@|\bhttps?:|\bwww\.|\b\w*(?:street|road|avenue|lane|square|stra(?:ß|ss)e|platz|weg|rue|calle"
    r"|via|piazza|rua)\b"
)
COLOUR = (
    r"\b(?:red|green|blue|white|black|gr[ae]y|yellow|orange|brown|pink|purple|violet|silver|gold\w*"
    r"|beige|turquoise|crimson|teal|navy"
    r"|rot\w*|grün\w*|blau\w*|weiß\w*|schwarz\w*|grau\w*|gelb\w*|braun\w*|rosa|lila"
    r"|rouges?|verte?s?|bleue?s?|blanc\w*|noire?s?|grise?s?|jaunes?|marron|roses?|violette?s?"
    r"|roj[oa]s?|verdes?|azul\w*|negr[oa]s?|amarill[oa]s?|naranja"
    r"|ross[oaie]|verdi|blu|bianc\w+|ner[oaie]|grigi\w*|giall[oaie]|marrone"
    r"|vermelh[oa]s?|branc[oa]s?|pret[oa]s?|cinz\w+|amarel[oa]s?|castanh[oa]s?)\b"
    r"|#[0-9a-f]{3,8}\b"
)
SPAN = (
    r"\b(?:(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?|until|since|for ages"
    r"|always|bis|seit|jusqu|depuis|hasta|desde|fino|até)\b"
)
WHEN = (
    r"\d|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mornings?|noon|midday|afternoons?"
    r"|evenings?|nights?|midnight|today|tomorrow|weekends?|weeks?|months?|years?|tonight|daily|weekly|monthly|yearly"
    r"|spring|summer|autumn|fall|winter|christmas|easter|soon|later|now|until|before|after|since"
    rf"|every|next|if|when|once|while|{'|'.join(sorted(MONTHS))})\b"
)
PERSON = (
    r"\b(?:mother|father|mum|mom|dad|sister|brother|wife|husband|son|daughter|uncle|aunt|cousin"
    r"|niece|nephew|grand\w+|friend|boss|doctor|teacher|neighbou?r|colleague|coach|boy|girl|man"
    r"|woman|nun|nurse|driver|we|he|she|they)s?\b"
)
# The thing asked for, and not one that is only mentioned: "what is she planning to do after she got
# the phone number?" asks for no number.
WHAT_IS = (
    r"^\W*(?:and |so |but )?what(?:['’]s| is| was| are| were) "
    r"(?:the |my |our |your |his |her |their |\S+['’]s? |\w+ (?=\S+['’]s? ))(?:\S+ ){0,2}"
)
WHICH = r"\b(?:what|which) (?:\w+ )?"
KINDS = [
    (late(asked, re.IGNORECASE), made)
    for asked, made in (
        (rf"{WHAT_IS}(?:(?:tele)?phone|mobile) number\b", _saying(PHONE)),
        (rf"{WHAT_IS}e-?mail(?: address)?\b", _saying("@")),
        (rf"{WHAT_IS}address\b", _saying(PLACE)),
        (
            rf"(?:{WHICH}|{WHAT_IS})colou?rs?\b|\bwelche\w* farben?\b|\bquelles? couleurs?\b"
            r"|\bqu[eé] color(?:es)?\b|\bche colore\b|\bque cor(?:es)?\b",
            _saying(COLOUR),
        ),
        (
            r"\bhow long\b|\bwie lange?\b|\bcombien de temps\b|\bcu[aá]nto (?:tiempo|dur)"
            r"|\bquanto (?:tempo|dur)",
            _counting({TIME, LENGTH, DATE, COUNT}, or_saying=SPAN),
        ),
        (r"\bhow old\b|\bwhat age\b|\bwie alt\b|\bquel âge\b", _counting({TIME, COUNT})),
        (r"\bhow (?:tall|high|deep|wide)\b|\bwie (?:hoch|tief)\b", _counting({LENGTH, COUNT})),
        (r"\bhow far\b|\bwie weit\b", _counting({LENGTH, TIME, COUNT})),
        (
            rf"\bhow heavy\b|\b(?:how much|what) .*\bweigh\b|{WHAT_IS}weight\b|\bwie schwer\b",
            _counting({MASS, COUNT}),
        ),
        (rf"\bhow (?:hot|cold)\b|{WHAT_IS}temperature\b", _counting({HEAT, COUNT})),
        (
            r"\b(?:what|how much) (?:does|did|do|is|was|will|would) .*"
            r"\b(?:cost|earn|charge|pay(?! for\W*$)|owe)\b"
            rf"|{WHAT_IS}(?:price|rent|salary|wage|fee|turnover|budget|discount)\b"
            r"|\bwas kostete?n?\b|\bwie teuer\b|\bcombien coût|\bcu[aá]nto (?:cuesta|cost)"
            r"|\bquanto (?:cost|cust)",
            _counting({MONEY, SHARE, COUNT}),
        ),
        (
            r"\bhow (?:much|large|big|fast|late)\b"
            rf"|(?:{WHICH}|{WHAT_IS})(?:number|code|version|rate|size)\b"
            r"|\bwie (?:viel|groß|schnell)\b|\bcombien\b|\bcu[aá]nt[oa]\b|\bquant[oa]\b",
            _counting(NUMBERS),
        ),
        (r"^when (?:does|do|is|are|will|should|can)\b", _saying(WHEN)),
        (
            rf"(?:{WHICH}|{WHAT_IS})(?:names?|surname|brand)\b|^what .*\b(?:called|titled)\W*$",
            _naming(),
        ),
        (r"^\W*(?:\w+ )?(?:who|whose|whom)\b", _naming(PERSON)),
    )
]
"""The first whose words a question has says what answers it."""
