"""What kind of answer a question asks for, and whether a text holds one of that kind at all.

A memory may be about the very thing and still not tell what is asked: "how much does Biscuit
weigh?" is not answered where there is no number, nor where all numbers are euros. Amounts and
colours in English, German, French, Spanish, Italian and Portuguese, the rest in English; where a
question asks for none of these kinds, any text may answer it.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from kinmem.language.weight import TIMES
from kinmem.text import STOP_WORDS, late, words

# The numbers of a text, in digits or in words, each with what it counts: 5 kilos are a mass.
# Units and number words are those of English, German, French, Spanish, Italian and Portuguese. Only
# the English "one" is a number word: in the other languages it is the article.

MONEY, TIME, MASS, LENGTH = "money", "time", "mass", "length"
VOLUME, HEAT, SHARE = "volume", "heat", "share"
COUNT, DATE = "count", "date"
"""A number without a unit that is known, and one that only says when."""

UNITS = {
    MONEY: """€ $ £ ¥ k euro euros eur usd gbp chf dollar dollars pound pounds cent cents pence
        franc francs franken yen rupees pesos lire liras lei kronor kroner crowns reales reais
        dollari sterline livres libras""",
    TIME: """s ms min h second seconds minute minutes hour hours day days night nights week weeks
        weekend weekends month months year years decade decades sekunde sekunden minuten stunde
        stunden tag tage tagen nacht nächte woche wochen monat monate monaten jahr jahre jahren
        seconde secondes heure heures jour jours nuit nuits semaine semaines mois ans année années
        segundo segundos minuto minutos hora horas día días noche noches semana semanas mes meses
        año años secondi minuti ore ora giorno giorni notte notti settimana settimane mese mesi
        anno anni dia dias noite noites mês ano anos""",
    MASS: """kg g gram grams gramm gramme grammes kilo kilos kilogram kilograms ton tons tonne
        tonnes lb lbs ounce ounces stone chilo chili quilo quilos""",
    LENGTH: """mm cm m km metre metres meter meters kilometre kilometres kilometer kilometers mile
        miles foot feet ft inch inches yard yards mètre mètres kilomètres metro metros metri
        kilómetros chilometri quilómetros""",
    VOLUME: "ml l litre litres liter liters gallon gallons pint pints cup cups litros litri",
    HEAT: "° °c °f degree degrees grad degré degrés grados gradi graus celsius fahrenheit",
    SHARE: "% percent per-cent prozent pourcent",
}
UNIT = {word: kind for kind, named in UNITS.items() for word in named.split()}
NUMBERS = frozenset({*UNITS, COUNT})
"""All but DATE."""

IN_WORDS = (
    # English
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty"
    r"|sixty|seventy|eighty|ninety|hundred|thousand|half|once|twice|dozen|couple|both|several|few"
    r"|no|none"
    # German
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+zehn|\w+zig|\w*hundert"
    r"|\w*tausend|halbe?|mehrere|wenige|keine?"
    # French
    r"|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|treize|quinze|seize|vingt|trente"
    r"|quarante|cinquante|soixante|cent|mille|demie?|plusieurs|aucune?"
    # Spanish, Italian, Portuguese
    r"|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|doce|veinte|treinta|cuarenta|cincuenta"
    r"|cien|mil|medi[oa]|vari[oa]s|ningun[oa]?|due|tre|quattro|cinque|sei|sette|otto|nove|dieci"
    r"|undici|dodici|venti|trenta|quaranta|cinquanta|cento|mezz[oa]|nessun[oa]?|dois|duas|três"
    r"|quatro|sete|oito|dez|doze|vinte|trinta|quarenta|cinquenta|cem|mei[oa]|vári[oa]s|nenhum"
)
NUMBER = late(
    rf"(?P<money>[€$£¥] ?)?(?:(?P<clock>\b\d\d?:\d\d\b)|(?P<digits>\d+(?:[.,]\d+)*)"
    rf"|\b(?:{IN_WORDS})\b)(?P<ordinal>(?:st|nd|rd|th)\b)?"
    r"(?:[ -]?(?P<next>°[cf]?|[%€$£¥]|per cent|[^\W\d_]+))?(?: (?P<second>[^\W\d_]+))?",
    re.IGNORECASE,
)
MONTHS = frozenset(
    """january february march april may june july august september october november december januar
    februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août
    septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre
    octubre noviembre diciembre gennaio febbraio aprile maggio giugno luglio settembre ottobre
    dicembre janeiro fevereiro março maio junho julho setembro outubro dezembro""".split()
)
YEAR = late(r"(?:19|20)\d\d")
BETWEEN = frozenset("a an the of per and or to in at for on by with from".split())
"""What stands between a number and a unit that is not its own: 17.50 an hour is no time."""


def amounts(text: str) -> Iterator[str]:
    """For each number of the text a key of UNITS, COUNT or DATE."""
    for match in NUMBER.finditer(text):
        yield _counted(match, text)


def _counted(match: re.Match[str], text: str) -> str:
    after = (match["next"] or "").casefold().replace(" ", "-")
    if match["money"] or after in UNIT:
        return MONEY if match["money"] else UNIT[after]
    if match["clock"] or match["ordinal"] or after in MONTHS:
        return DATE
    before = text[: match.start()].rstrip().rpartition(" ")[2].casefold()
    if before in MONTHS or YEAR.fullmatch(match["digits"] or ""):
        return DATE
    second = (match["second"] or "").casefold()
    return COUNT if {after, second} & BETWEEN else UNIT.get(second, COUNT)


Test = Callable[[str], bool]
Tests = Callable[[str], Test]
"""Made for a question."""

CAPITAL = late(r"\b[^\W\d_a-zß-ÿ][\w-]+")
CLOSES = ".!?:"
STOPS = frozenset().union(*STOP_WORDS.values())
DOES = late(r" (?:is|was|has|had|and|can|will|[a-z]{2,}(?:s|ed))\b")


def answer_test(question: str) -> Test | None:
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
