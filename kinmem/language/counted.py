"""The numbers of a text, in digits or in words, each with what it counts: 5 kilos are a mass.

Units and number words are those of English, German, French, Spanish, Italian and Portuguese. Only
the English "one" is a number word: in the other languages it is the article.
"""

import re
from collections.abc import Iterator

from kinmem.language.pattern import late

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
