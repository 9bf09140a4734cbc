"""Words by which an amount becomes another one: a month, twice, each, hardly, but for Ana.

A text that stands for others has them as they have them (proof.py). By class: what is said
per day may be said daily.
"""

from collections.abc import Iterator

from kinmem.rules.grammar import FUNCTION_WORDS, by_word, words
from kinmem.rules.same.bearing import Bearing
from kinmem.rules.same.lexemes import stem
from kinmem.rules.same.statements import Clause, Reading

SPANS = by_word(
    """
    second: seconds
    minute: minute minutes minuten minuto minutos minuti
    hour: hour hours hourly stunde stunden stündlich heure heures hora horas ora ore
    day: day days daily tag tage tagen täglich jour jours quotidien quotidienne quotidiennement
    day: día días diario diaria diariamente giorno giorni giornaliero quotidiano quotidianamente
    day: dia dias diário diária
    night: nightly nächtlich
    week: week weeks weekly woche wochen wöchentlich semaine semaines hebdomadaire semana semanas
    week: semanal semanalmente settimana settimane settimanale settimanalmente
    fortnight: fortnight fortnightly
    month: month months monthly monat monate monaten monats monatlich mois mensuel mensuelle
    month: mensuellement mes meses mensual mensualmente mese mesi mensile mensilmente mês mensal
    month: mensalmente
    quarter: quarter quarters quarterly quartal vierteljährlich trimestre
    year: year years yearly annual annually jahr jahre jahren jährlich an année années annuel
    year: annuelle annuellement año años anual anualmente anno anni annuale annualmente ano anos
    weekend: weekend weekends wochenende
    decade: decade decades jahrzehnt jahrzehnte décennie década décadas decennio
    century: century centuries jahrhundert siècle siglo secolo século
    """
)
"""Where no number stands before them; with one they are units."""
BEHIND = {
    "an": words("par l un d"),
    "mes": words("al por cada el del este un próximo"),
    "ora": words("all per ogni un l"),
    "tag": words("pro am jeden je dem einem"),
    "minute": words("per each every last à la par"),
    "peine": words("à"),
}
"""Words that mean something else unless one of these stands before them."""
MANNERS = by_word(
    """
    once: once einmal
    times: fois veces vez volte volta vezes
    twice: twice double doubled zweimal doppelt doble doppio doppia dobro
    thrice: thrice triple dreimal
    half: half halb halbe halber halben moitié demi demie mitad medio metà mezzo mezza metade meio
    half: meia
    never: never nie niemals jamais jamás nunca mai nooit
    each: each every per apiece jede jeder jedes jeden jedem jeweils pro chaque chacun chacune cada
    each: ogni ciascuno ciascuna ciascun
    hardly: hardly barely scarcely kaum peine apenas appena mal
    nearly: almost nearly beinahe fast presque casi quasi quase
    except: except excepting excluding außer ausgenommen sauf excepté hormis salvo excepto tranne
    except: eccetto exceto
    part time: teilzeit halbtags
    full time: vollzeit ganztags
    """
)
"""How many times, for how many, how nearly, and for whom not."""
BESIDE = 4
"""Words from a rate to its number: a nightly backup may take 40 minutes, and not each night."""
EVERYBODY = words("everyone everybody all nobody everything nothing anyone anybody anything none")
"""Behind these `but` takes somebody out."""


def rates(reading: Reading, *, exact: bool = False) -> list[Bearing]:
    """All of a text, in order. `exact`: beside an amount they go with its number alone."""
    return [
        one
        for sentence in reading.sentences
        for clause in sentence
        for one in _of(clause, frozenset().union(*(clause.content for clause in sentence)), exact)
    ]


def _of(clause: Clause, sentence: frozenset[str], exact: bool) -> Iterator[Bearing]:
    """A rate of an amount belongs to its clause, any other to its sentence."""
    wide = clause.content if clause.amounts else sentence
    counted = {amount.number for amount in clause.amounts}
    for at, word in enumerate(clause.words):
        before = clause.words[at - 1] if at else ""
        behind = clause.words[at + 1] if at + 1 < len(clause.words) else ""
        is_unit = before in counted and word in SPANS
        if is_unit or word in BEHIND and before not in BEHIND[word]:
            continue
        if what := SPANS.get(word) or _manner(word, before, behind, clause):
            near = clause.content - clause.names - {stem(word)}
            yield Bearing(what, word, _number(clause, at) & near if exact else near, wide)


def _number(clause: Clause, at: int) -> frozenset[str]:
    """The one before the place, else the one behind it; without one all there is."""
    counted = {amount.number for amount in clause.amounts}
    before = range(at - 1, max(-1, at - 1 - BESIDE), -1)
    places = [*before, *range(at + 1, min(len(clause.words), at + 1 + BESIDE))]
    found = next((clause.words[place] for place in places if clause.words[place] in counted), "")
    return frozenset({stem(found)}) if found else clause.content


def _manner(word: str, before: str, behind: str, clause: Clause) -> str:
    if word == "but":
        return "except" if before in EVERYBODY else ""
    if word == "feira":
        return f"{before}-feira"  # Portuguese days of the week
    if behind == "time" and word in ("part", "full"):
        return f"{word} time"
    what = MANNERS.get(word, "")
    if what == "each" and behind in SPANS:
        return ""  # every day is daily
    if word == "per" and (behind in FUNCTION_WORDS or behind in clause.names):
        return ""  # Italian: for
    return what
