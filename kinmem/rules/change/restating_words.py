"""How people say that something has changed: en, de, fr, es, it and pt side by side. Tables only.

Each gap in a pattern is bounded, so that time grows with the length alone. A statement's first rule
that fits is used of ENDED, FORMER and NO_LONGER, and all of MOVED and CUES.
"""

import re
from collections.abc import Callable

from kinmem.rules.change.kinds import EMPLOYERS
from kinmem.rules.grammar import PRONOUNS, SAME, words
from kinmem.rules.same.lexemes import third_person
from kinmem.rules.vocabulary import PERSONS

Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]


def _rules(*rules: tuple[str, str | Callable[[re.Match[str]], str]]) -> tuple[Rule, ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), put) for pattern, put in rules)


_GAP = r"[^.!?;\n]{0,60}?"

ENDED = _rules(
    (rf"\b(?:do|did)(?:n['’]t| not)\b ({_GAP})\s?\b(?:any ?more|any longer)\b", r"\1"),
    (
        rf"\bdoes(?:n['’]t| not)\b (\w{{1,20}})({_GAP})\s?\b(?:any ?more|any longer)\b",
        lambda found: third_person(found[1].lower()) + found[2],
    ),
    (rf"(?:n['’]t| not)\b ({_GAP})\s?\b(?:any ?more|any longer)\b", r" \1"),
    (r"\bno longer (?!than\b)(?=\w)", ""),
    (
        r"(?:\b(?:have |has )|['’](?:ve|s) )?\b(?:stopped|quit|given up|gave up) (?=\w{2,20}ing\b)",
        "",
    ),
    (r"\b(?:habe|hat|haben) mit dem (\w{2,20}) aufgehört", r"\1"),
    (rf"\b(?:habe|hat|haben) aufgehört,? ({_GAP})\bzu (?=\w)", r"\1"),
    (r"\bj['’]ai (?:arrêté|cessé) d(?:e |['’])", "je "),
    (r"\b(?:a|ont|avons) (?:arrêté|cessé) d(?:e |['’])", ""),
    (r"\b(?:(?:he|ha|han|hemos) dejado|dejé|dejó|dejaron|dejamos) de (?=\w{2,20}r(?:se)?\b)", ""),
    (r"\b(?:ho|ha|hanno|abbiamo) smesso di (?=\w)", ""),
    (r"\b(?:par(?:ei|ou|amos|aram)|deix(?:ei|ou|amos|aram)) de (?=\w{2,20}r\b)", ""),
    (rf"\bnicht ({_GAP})\s?\bmehr\b(?! als)", r"\1"),
    (rf"\bkein(en|e|er|em|es)? ({_GAP})\s?\bmehr\b(?! als)", r"\2"),
    (r"\bn(?:e |['’])(\w+) (?:plus)\b", r"\1"),
    (r"\bya no (?=\w)", ""),
    (r"\bnon (\w+) più\b(?! d[ie])", r"\1"),
    (r"\bnão (\w+) mais\b(?! d[eo]| que)", r"\1"),
    (r"\bjá não (?=\w)", ""),
)
"""It was so, and is so no longer: what was."""

LEFT = _rules(
    (
        r"^(I|we)(?: have|['’]ve)? (?:just |recently )?(?:quit|left|resigned from|lost) "
        r"(?:my|our) (?:job|position|post) (?:at|with) ",
        r"\1 work at ",
    ),
    (
        r"^(\w+)(?: has|['’]s)? (?:just |recently )?(?:quit|left|resigned from|lost) "
        r"(?:his|her|their) (?:job|position|post) (?:at|with) ",
        r"\1 works at ",
    ),
    (r"^(I|we)(?: have|['’]ve)? (?:sold|given away|gave away) (?:my|our) ", r"\1 have a "),
    (r"^(\w+)(?: has|['’]s)? (?:sold|given away|gave away) (?:his|her|their) ", r"\1 has a "),
)
"""An end told as an event, as what was so before it."""

_END = r"(?=[.,;!?\n]|$)"
_IT = rf"(?P<former>{_GAP})"
_FEW = r"(?P<former>(?:\w{1,40} ){0,3}\w{1,40})"
_NAMED = r"(?P<former>[^.!?;,\n]{1,40}?)"
NO_LONGER = _rules(
    (rf"(?:,| and| but) not {_FEW} (?:any ?more|any longer){_END}", ""),
    (rf"(?:,| and| but) no longer {_FEW}{_END}", ""),
    (rf"(?:,| und| aber) nicht mehr {_FEW}{_END}", ""),
    (rf"(?:,| et| mais) (?:et )?(?:non )?plus (?:à|en|au|chez) {_FEW}{_END}", ""),
    (rf"(?:,| y| pero) ya no (?:en )?{_FEW}{_END}", ""),
    (rf"(?:,| e| ma) non più (?:a |in |da )?{_FEW}{_END}", ""),
    (rf"(?:,| e| mas) (?:já não|não mais) (?:em |no |na )?{_FEW}{_END}", ""),
)
"""Beside what is so now, what is so no longer."""
FORMER = _rules(
    (rf"\s?,?\b(?:instead of|rather than|in place of) {_IT}{_END}", ""),
    (rf"\s?,?\b(?:statt|anstatt|anstelle von) {_IT}{_END}", ""),
    (rf"\s?,?\b(?:au lieu d[eu’']|plutôt que) ?{_IT}{_END}", ""),
    (rf"\s?,?\b(?:en vez de|en lugar de|em vez de|invece d[ie]l?l?a?) {_IT}{_END}", ""),
    (rf"\bnot (?!only\b|just\b){_IT},? but ", ""),
    (rf"\bnicht (?!nur\b){_IT},? sondern ", ""),
    (rf"\b(?:no|não|non) (?!s[oó]l?o?\b){_IT},? (?:sino|mas sim|bensì) ", ""),
    (rf"(?:,| and) not {_FEW}{_END}", ""),
    (rf"(?:,| und) nicht {_FEW}{_END}", ""),
    (
        r"\b(?P<changed>switched|changed|moved|renamed) (?P<what>(?:[^.!?;,\n]{1,40}? )?)"
        rf"from {_NAMED} (?=to \w)",
        r"\g<changed> \g<what>",
    ),
    (rf"\b(?P<be>bin|sind|ist) von {_NAMED} (?=(?:auf|zu) \w)", r"\g<be> "),
    (
        rf"\b(?P<be>suis|sommes|est|sont) (?P<past>passée?s?) d(?:e |['’]){_NAMED} (?=à )",
        r"\g<be> \g<past> ",
    ),
    (
        rf"\b(?P<past>cambiado|cambiamos|pasado|pasamos|pasé|cambié) de {_NAMED} (?=a )",
        r"\g<past> ",
    ),
    (rf"\b(?P<past>passat[oiae]) da {_NAMED} (?=a )", r"\g<past> "),
    (rf"\b(?P<past>mud(?:amos|ei|ou)) d[eoa] {_NAMED} (?=para )", r"\g<past> "),
)
"""What it was before, named."""

_CHANGED = r"(?:moved|changed|switched|postponed|brought forward|rescheduled|raised|lowered|set)"
_DAYS = r"(?=(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
_PEOPLE = PERSONS | words(
    "parents neighbour neighbours neighbors flatmate flatmates roommates family eltern kinder",
    "nachbarn familie enfants voisin voisine voisins famille padres hijos vecino vecina vecinos",
    "familia genitori figli vicino vicina vicini famiglia pais filhos vizinho vizinha vizinhos",
)
_SOMEBODY = "|".join(
    sorted(_PEOPLE - PRONOUNS | {word for word, same in SAME.items() if same in _PEOPLE})
)
_THING = rf"(?!(?:{_SOMEBODY}|has|have|is|was|just|recently)\b)\w{{1,40}}"
_HAS = r"(?: has| have|['’](?:s|ve))?(?: just| recently| now)?"
_DEM = r"(?:mein|dein|unser|euer|eur|ihr|sein|der|die|das)e?"
_LE = r"(?:mon|ma|mes|notre|nos|votre|leur|son|sa|le |la |les |l['’])"
_EL = r"(?:mi|mis|tu|nuestr[oa]s?|su|sus|el|la|los|las)"
_IL = r"(?:(?:il|la|i|le) )?(?:mio|mia|nostr[oa]|suo|sua|loro|il|la|l['’])"
MOVED = _rules(
    (rf"\b(?:has |have |was |been )*(?:moved|postponed|rescheduled) to {_DAYS}", "is on "),
    (
        rf"^((?:my|our|the|their|his|her|your) (?:{_THING} )?{_THING}){_HAS} "
        r"(?:moved|relocated) to ",
        r"\1 is in ",
    ),
    (
        rf"^(I|we|they|you){_HAS} moved (?:over )?to (?={EMPLOYERS})",
        r"\1 work at ",
    ),
    (
        rf"^(\w+){_HAS} moved (?:over )?to (?={EMPLOYERS})",
        r"\1 works at ",
    ),
    (rf"^(I|we|they|you){_HAS} (?:moved|relocated) to\b", r"\1 live in"),
    (
        r"^((?:my |our )?(?!the |this |that |has )\w+(?: (?!has\b|just\b|recently\b|moved\b)\w+)?)"
        rf"{_HAS} (?:moved|relocated) to (?=[^\W\d])",
        r"\1 lives in ",
    ),
    (rf"\b(?:has|have) been {_CHANGED} to\b", "is"),
    (rf"\bwas {_CHANGED} to\b", "is"),
    (rf"^(I|we|they){_HAS} (?:switched|changed) to\b", r"\1 use"),
    (
        rf"^((?:(?:the|our|my|their|his|her) )?\w{{1,40}}){_HAS} (?:switched|changed) to\b",
        r"\1 uses",
    ),
    (
        rf"^({_DEM} {_THING}) (?:ist|sind) (?:gerade |jetzt )?nach (\w+) (?:um)?gezogen\b",
        r"\1 ist in \2",
    ),
    (r"\bich bin (?:gerade |jetzt )?nach (\w+) (?:um)?gezogen\b", r"ich wohne in \1"),
    (r"\bwir sind (?:gerade |jetzt )?nach (\w+) (?:um)?gezogen\b", r"wir wohnen in \1"),
    (
        rf"^((?:{_DEM} )?\w+) ist (?:gerade |jetzt )?nach (\w+) (?:um)?gezogen\b",
        r"\1 wohnt in \2",
    ),
    (r"\bich bin (?:auf|zu) (\w[\w ]{0,40}) (?:gewechselt|umgestiegen)\b", r"ich nutze \1"),
    (r"\bwir sind (?:auf|zu) (\w[\w ]{0,40}) (?:gewechselt|umgestiegen)\b", r"wir nutzen \1"),
    (
        rf"^((?:{_DEM} )?\w+) ist (?:auf|zu) (\w[\w ]{{0,40}}) (?:gewechselt|umgestiegen)\b",
        r"\1 nutzt \2",
    ),
    (rf"^({_LE} ?{_THING}) (?:a|ont) déménagé (?=à |en )", r"\1 est "),
    (r"\bj['’]ai déménagé (?:à|en) ", "j'habite à "),
    (r"\bnous avons déménagé (?:à|en) ", "nous habitons à "),
    (rf"^((?:{_LE} ?)?\w+) a déménagé (?:à|en) ", r"\1 habite à "),
    (r"\bje suis passée? à ", "j'utilise "),
    (r"\bnous sommes passée?s à ", "nous utilisons "),
    (rf"^((?:{_LE} ?)?\w+) est passée? à ", r"\1 utilise "),
    (rf"^({_EL} {_THING}) se (?:ha|han) (?:mudado|trasladado) a ", r"\1 está en "),
    (rf"^({_EL} {_THING}) se (?:mudó|trasladó) a ", r"\1 está en "),
    (r"\bme (?:he mudado|mudé) a ", "vivo en "),
    (r"\bnos (?:hemos mudado|mudamos) a ", "vivimos en "),
    (r"\bse (?:ha mudado|mudó) a ", "vive en "),
    (r"\b(?:me )?(?:he (?:cambiado|pasado)|cambié|pasé) a (?=(?-i:[A-Z]))", "uso "),
    (r"\b(?:nos )?(?:hemos (?:cambiado|pasado)|cambiamos|pasamos) a (?=(?-i:[A-Z]))", "usamos "),
    (r"\b(?:se )?ha (?:cambiado|pasado) a (?=(?-i:[A-Z]))", "usa "),
    (rf"^({_IL} ?{_THING}) si è trasferit[oa] a ", r"\1 è a "),
    (r"\bmi sono trasferit[oa] a ", "abito a "),
    (r"\bsi è trasferit[oa] a ", "abita a "),
    (r"\bsono passat[oa] a (?=(?-i:[A-Z]))", "uso "),
    (r"\bsiamo passat[ie] a (?=(?-i:[A-Z]))", "usiamo "),
    (r"\bmudei-me para ", "moro em "),
    (r"\bmudou-se para ", "mora em "),
)
"""A change told as an event, as the state that it led to."""

ANNOUNCING = re.compile(
    r"^(?:(?:no|sorry|oh|wait|well|ok|okay|hey|hi|so|and|just|quick|small|a|my|ah|ach|bon|bueno|beh"
    r"|by the way|btw|also ja|ja|übrigens|au fait|por cierto|a proposito|a propósito)[,.!:]? )*"
    r"(?:actually|correction|update|in fact|i was wrong|fyi|for your information|btw|by the way"
    r"|heads[- ]up|(?:good |bad |great |big |some |latest )?news|just so you know|scratch that"
    r"|strike that|change of plans?|turns out(?: that)?|it turns out(?: that)?|as it turns out"
    r"|please note(?: that)?|(?:a )?(?:quick )?note(?=:)|reminder(?=:)|never ?mind|forget that"
    r"|eigentlich|korrektur|tatsächlich|zur info|kurzes update|neuigkeiten|planänderung"
    r"|wie sich herausstellt|bitte beachten|hinweis(?=:)|en fait|finalement|mise à jour|pour info"
    r"|petite mise à jour|bonne nouvelle|nouvelles?(?=:| :)|rectification|changement de programme"
    r"|en realidad|corrección|actualización|novedad(?:es)?(?=:)|cambio de planes|al final"
    r"|para que (?:lo )?sepas|por fin|in realtà|aggiornamento|correzione|novità|cambio di programma"
    r"|alla fine|per tua informazione|na verdade|correção|atualização|novidades?(?=:)|afinal"
    r"|mudança de planos|para tua informação|buenas noticias|boas notícias|buone notizie"
    r"|gute nachrichten?|gute neuigkeiten)\b ?[,:!.;–—-]{0,2} ?",
    re.IGNORECASE,
)
"""Words by which news is announced to somebody."""
CORRECTING = re.compile(
    r"\b(?:actually|correction|update|in fact|wrong|scratch|strike|change of plans?|turns out"
    r"|never ?mind|forget that|eigentlich|korrektur|tatsächlich|planänderung|wie sich herausstellt"
    r"|en fait|finalement|mise à jour|rectification|changement|en realidad|corrección"
    r"|actualización|cambio de planes|al final|in realtà|aggiornamento|correzione|cambio di"
    r"|alla fine|na verdade|correção|atualização|afinal|mudança)\b",
    re.IGNORECASE,
)
"""Those of them by which something is taken back."""

_WHEN = (
    r"(?:from now on|as of (?:now|today)|from (?:today|tomorrow|next week) on|these days|nowadays"
    r"|since (?:last |this )?(?:week|month|year|yesterday|monday|tuesday|wednesday|thursday|friday)"
    r"|last (?:week|month|year)|ab (?:jetzt|sofort|heute)|von nun an|seit kurzem"
    r"|à partir de maintenant|désormais|dorénavant|a partir de ahora|de ahora en adelante"
    r"|d['’]ora in poi|da ora in poi|a partir de agora|de agora em diante)"
)
CUES = _rules(
    (r"\bactually ", ""),
    (rf",? ?\b{_WHEN}\b,?", ""),
    (r",? ?\b(?:now|jetzt|inzwischen|mittlerweile|neuerdings|maintenant|ahora|adesso|agora)\b", ""),
    (r"^ora,? |,? ora(?=[.!]?$)", ""),
    (r",? ?\binstead(?=[.,;!]|$)", ""),
)
"""Signs that it was otherwise before; they go."""

BEGINNINGS = frozenset(
    word[:5]
    for word in (
        "more longer anymore any stopped quit given gave mehr plus ya più mais já instead rather"
        " place statt anstatt anstelle lieu plutôt vez lugar invece not nicht no não non from moved"
        " relocated switched changed been was gezogen umgezogen déménagé mudado mudé trasferito"
        " trasferita mudei on as these nowadays since last ab von seit partir désormais dorénavant"
        " adelante ora actually correction update fact wrong eigentlich korrektur tatsächlich fait"
        " realidad corrección realtà verdade correção now jetzt inzwischen mittlerweile neuerdings"
        " maintenant ahora adesso agora new up postponed rescheduled left resigned lost sold gave"
        " gewechselt umgestiegen aufgehört passé passée passés passées arrêté cessé trasladado"
        " trasladó mudó mudamos hemos cambiado cambié cambiamos pasado pasé pasamos dejado dejé"
        " dejó fyi btw heads turns scratch strike change never forget info kurzes neuigkeiten"
        " planänderung sich finalement jour nouvelle rectification cambio final actualización por"
        " alla aggiornamento correzione per mudança atualização afinal news note reminder good"
        " great passato passata passati passate smesso mudou parei parou paramos deixei"
        " deixou deixamos dejaron dejamos"
    ).split()
)
"""Every cue has a word that begins so; most texts have none, and need not be searched."""
