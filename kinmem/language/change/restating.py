"""What a statement says is so now, without the words that say that it has changed.

"Tom now works at Bosch" corrects "Tom works at Siemens": without the cue both have one form, and
what differs is the value alone. What no pattern knows stays as it is.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from kinmem.language.lexicon import word_class
from kinmem.language.pattern import Pattern

# How people say that something has changed, in seven languages side by side.
# Each gap in a pattern is bounded, so that time grows with the length alone. Of ENDED and FORMER
# the first rule that fits is used, of CUES all.
_GAP = r"[^.!?;\n]{0,60}?"
_END = r"(?=[.,;!?\n]|$)"
_FEW = r"(?P<former>(?:\w{1,40} ){0,3}\w{1,40})"
_IT = rf"(?P<former>{_GAP})"
_NAMED = r"(?P<former>[^.!?;,\n]{1,40}?)"

ENDED: tuple[tuple[Pattern, str], ...] = tuple(
    (Pattern(pattern), put)
    for pattern, put in (
        (rf"\b(?:do|did|does)(?:n['’]t| not)\b ({_GAP})\s?\b(?:any ?more|any longer)\b", r"\1"),
        (rf"(?:n['’]t| not)\b ({_GAP})\s?\b(?:any ?more|any longer)\b", r" \1"),
        (r"\bno longer (?!than\b)(?=\w)", ""),
        (
            r"(?:\b(?:have |has )|['’](?:ve|s) )?\b(?:stopped|quit|given up|gave up) "
            r"(?=\w{2,20}ing\b)",
            "",
        ),
        (
            r"\b(?:habe|hat|haben) aufgehört,? ((?:(?!zu ).){0,40}?)(?:zu )?",
            r"\1",
        ),
        (r"\bj['’]ai (?:arrêté|cessé) d(?:e |['’])", "je "),
        (r"\b(?:a|ont|avons) (?:arrêté|cessé) d(?:e |['’])", ""),
        (r"\b(?:(?:he|ha|han|hemos) dejado|dejé|dejó|dejaron|dejamos) de (?=\w{2,20}r\b)", ""),
        (r"\b(?:ho|ha|hanno|abbiamo) smesso di (?=\w)", ""),
        (r"\b(?:par(?:ei|ou|amos|aram)|deix(?:ei|ou|amos|aram)) de (?=\w{2,20}r\b)", ""),
        (rf"\bnicht ({_GAP})\s?\bmehr\b(?! als)", r"\1"),
        (rf"\bkein(?:en|e|er|em|es)? ({_GAP})\s?\bmehr\b(?! als)", r"\1"),
        (r"\bn(?:e |['’])(\w+) plus\b", r"\1"),
        (r"\b(?:ya no|já não) (?=\w)", ""),
        (r"\bnon (\w+) più\b(?! d[ie])", r"\1"),
        (r"\bnão (\w+) mais\b(?! d[eo]| que)", r"\1"),
        (r"(?:已经)?不再|(?:已经)?不(?=[^，。,.]{1,12}了)", ""),
    )
)
"""It was so, and is so no longer: what was."""
FORMER: tuple[tuple[Pattern, str], ...] = tuple(
    (Pattern(pattern), put)
    for pattern, put in (
        (rf"(?:,| and| but) (?:no longer {_FEW}){_END}", ""),
        (rf"(?:,| and| but) not {_FEW} (?:any ?more|any longer){_END}", ""),
        (rf"(?:,| und| aber) nicht mehr {_FEW}{_END}", ""),
        (rf"(?:,| et| mais) (?:et )?(?:non )?plus (?:à|en|au|chez) {_FEW}{_END}", ""),
        (rf"(?:,| y| pero) ya no (?:en )?{_FEW}{_END}", ""),
        (rf"(?:,| e| ma) non più (?:a |in |da )?{_FEW}{_END}", ""),
        (rf"(?:,| e| mas) (?:já não|não mais) (?:em |no |na )?{_FEW}{_END}", ""),
        (
            r"\s?,?\b(?:instead of|rather than|in place of|anstelle von|statt|anstatt|plutôt que|"
            rf"au lieu d[eu’']|en vez de|en lugar de|em vez de|invece d[ie]l?l?a?)"
            rf" ?(?=\w){_IT}{_END}",
            "",
        ),
        (rf"\bnot (?!only\b|just\b){_IT},? but ", ""),
        (rf"\bnicht (?!nur\b|mehr\b){_IT},? sondern ", ""),
        (rf"\b(?:no|não|non) (?!s[oó]l?o?\b){_IT},? (?:sino|mas sim|bensì) ", ""),
        (rf"(?:,| and| und) (?:not|nicht) {_FEW}{_END}", ""),
        (
            r"\b(?P<changed>switched|changed|moved|went|renamed) (?P<what>(?:[^.!?;,\n]{1,40}? )?)"
            rf"from {_NAMED} (?=to \w)",
            r"\g<changed> \g<what>",
        ),
        (rf"\b(?:von|vom) {_NAMED} (?=(?:auf|zu|nach) \w[^.!?\n]{{0,40}}\bge\w+)", ""),
        (
            r"\b(?P<past>passée?s?|cambiado|cambiamos|pasado|pasamos|pasé|cambié|mudamos|mudei|"
            rf"mudou|passat[oiae]) d(?:e |['’]|a |o ){_NAMED} (?=(?:à|a|para) )",
            r"\g<past> ",
        ),
        (r"(?:，)?而?不是(?P<former>[^，。！,.!]{1,12})", ""),
    )
)
"""What it was before, named beside what is so now."""

ANNOUNCING = Pattern(
    r"(?:(?:no|sorry|oh|wait|well|ok|okay|hey|hi|so|and|just|quick|small|a|my|ah|ach|bon|bueno|beh"
    r"|by the way|btw|ja|übrigens|au fait|por cierto|a prop[oó]sito)[,.!:]? )*"
    r"(?:(?P<corrects>actually|correction|update|in fact|i was wrong|scratch that|strike that"
    r"|change of plans?|(?:it |as it )?turn(?:s|ed) out(?: that)?|never ?mind|forget that"
    r"|eigentlich|korrektur|kurzes update|planänderung|wie sich herausstellt|en fait|finalement"
    r"|mise à jour|rectification|changement de programme|en realidad|corrección|actualización"
    r"|cambio de planes|al final|in realtà|aggiornamento|correzione|cambio di programma|alla fine"
    r"|na verdade|correção|atualização|afinal|mudança de planos|更正|更新)"
    r"|fyi|for your information|heads[- ]up|(?:good |big )?news|just so you know"
    r"|please note(?: that)?|(?:quick )?note(?=:)|reminder(?=:)|zur info|hinweis(?=:)"
    r"|bitte beachten|neuigkeiten|pour info|novedad(?:es)?(?=:)|novità|novidades?(?=:))(?!\w)"
    r" ?[,:!.;–—，：-]{0,2} ?"
)
"""Words by which news is announced to somebody, or something is taken back."""
CUES: tuple[Pattern, ...] = (
    Pattern(
        r",? ?\b(?:(?:from|as of|starting|effective) (?:now|today|tomorrow|next week|\w+day)"
        r"(?: on)?|from here on|from this point(?: on)?|these days|nowadays|by now|actually"
        r"|currently|(?:since|from) (?:last|this|next) \w+(?: on)?|since \w+day"
        r"|ab (?:jetzt|sofort|heute|morgen)|von nun an|künftig"
        r"|seit (?:kurzem|\w+tag|(?:dieser|letzter|diesem|letztem) \w+)"
        r"|à partir d(?:e maintenant|['’]aujourd['’]hui)|désormais|dorénavant|à présent"
        r"|(?:a partir|de|desde) (?:de )?(?:ahora|agora)(?: en adelante| em diante)?|doravante"
        r"|d['’]?a? ?ora in (?:poi|avanti)|atualmente)\b,?"
    ),
    Pattern(
        r",? ?\b(?:now|jetzt|nun|inzwischen|mittlerweile|neuerdings|nunmehr|maintenant|ahora|adesso"
        r"|agora)\b,?"
    ),
    Pattern(r"^ora,? |,? ora(?=[.!]?$)|(?<=[a-z]) ora (?=a |in |da |al )"),
    Pattern(r",? ?\binstead(?=[.,;!]|$)|,? ?\bstattdessen\b"),
    Pattern(r"现在|如今|目前|从(?:今天|现在)(?:起|开始)|以后"),
)
"""Signs that it was otherwise before; they go."""
CHANGED = word_class("changed")
"""Words that only say that an amount or a day is another one now."""


LONGEST = 400
"""Characters; a longer text tells many things, and no sign is told of all of them."""


class Restated(NamedTuple):
    """What a text says is so now."""

    text: str
    """Without its cues: Tom works at Bosch. Of what has ended, what was so: I drink coffee."""
    corrects: bool
    """Whether it says that it was otherwise."""
    ends: bool
    """Whether it says that this is so no longer, and not what is instead."""
    instead_of: str
    """What was so before, if it is named; else empty."""


@lru_cache(maxsize=2048)
def restated(text: str) -> Restated:
    """The statement behind the cues. A text without any is given back as it is. Never raises."""
    if len(text) > LONGEST:
        return Restated(text, False, False, "")
    announced = ANNOUNCING.match(text)
    plain = text[announced.end() :] if announced else text
    now, former = _without(plain, FORMER)
    ends = False
    if not former:
        now, ends = _ended(now)
    before = now
    for cue in CUES:
        now = cue.sub(" ", now)
    cued = now != before
    corrected = announced is not None and bool(announced["corrects"])
    now = _tidy(now) if now != text else text
    return Restated(now, corrected or cued or ends or bool(former), ends, former)


def _ended(text: str) -> tuple[str, bool]:
    for pattern, put in ENDED:
        if pattern.search(text):
            return pattern.sub(put, text), True
    return text, False


def _without(text: str, rules: tuple[tuple[Pattern, str], ...]) -> tuple[str, str]:
    for pattern, put in rules:
        if found := pattern.search(text):
            return pattern.sub(put, text), found["former"].strip()
    return text, ""


def _tidy(text: str) -> str:
    """Single spaces, none before a mark, a capital first."""
    text = re.sub(r"\s+(?=[.,;:!?])", "", " ".join(text.split())).strip(" ,;")
    return text[:1].upper() + text[1:]
