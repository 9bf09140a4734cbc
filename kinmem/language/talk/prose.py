"""What of a message is its writer's own prose: no code, logs, quotations, tables, pasted text."""

import re
from collections.abc import Sequence
from itertools import takewhile

from kinmem.language.pattern import Pattern, late

FENCED = late(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
LINK = Pattern(r"<?(?:https?://|www\.)\S+>?")
QUOTED = late(r"\s*(?:>|\|.*\|\s*$)")
PASTE_FOLLOWS = late(
    r"(?i)\b(?:summari[sz]e|translate|proofread|rewrite|rephrase|correct|edit|improve|paste[ds]?"
    r"|copied|email|e-mail|article|text|letter|essay|transcript|document|log|logs|output|error"
    r"|trace|traceback|stack|code|snippet|config|file|résume|traduis|corrige|übersetze|fasse"
    r"|traduce|resume|traduci|riassumi|traduza|resuma)\b[^\n]{0,120}:\s*$"
)
SELF = late(
    r"(?i)\b(?:i|i['’]\w+|my|me|we|our|ich|mein\w*|mir|mich|wir|unser\w*|je|j['’]\w+|mon|ma|mes"
    r"|nous|notre|yo|mi|mis|nosotros|io|mio|mia|miei|noi|eu|meu|minha|n[oó]s)\b"
)
LONG_PARAGRAPH = 600
"""Characters; that much without a word about oneself is a document, not talk."""

LOG = late(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG"
    r"|TRACE|FATAL|CRITICAL)\b[\]:]|Traceback \(|File \"|at [\w$.<>]+\(|[\w.]*(?:Error|Exception): "
    r"|(?:\w+\.)+[A-Z]\w+: "
    r"|npm (?:ERR|WARN)|error\[|\^+$|[$#%] \w|(?:PASS|FAIL|FAILED)\b.*[:.]\w|diff --"
    r"|[+-]{3} |@@ )"
)
CODE = late(
    r"\s*(?:(?:def|class) \w+.*[:({]\s*$|import [\w.{*]+(?: as \w+)?;?\s*$|import [\w.{* ,}]+ from"
    r"|from [\w.]+ import|#include|#!/|@\w+[\w.]*(?:\(.*\))?\s*$|(?:public|private|protected|static"
    r"|async|export|function|const|let|var) \w+.*[({=;]|return\b.*;\s*$|return [\w.]+\(|(?:SELECT"
    r"|INSERT INTO"
    r"|UPDATE|DELETE FROM|CREATE TABLE|ALTER TABLE) .*(?:FROM|VALUES|SET|\(|WHERE|ADD)|</?[a-zA-Z]"
    r"|//|/\*|\*/|[\w.\[\]]+ ?[+-]?= ?\S.*|(?:pip|npm|git|docker|cargo|sudo|curl) [\w./-]+"
    r"(?: [\w./=@:-]+)*\s*$)|.*[{};]\s*$"
)
FIELD = late(
    r"(?i)[\s*]*(?:(?P<subject>subject|betreff|objet|asunto|oggetto|assunto|主题)|from|to|cc|bcc|date|sent"
    r"|reply-to|von|an|datum|gesendet|de|à|envoyé|cc[io]|para|fecha|enviado|da|a|data|inviato"
    r"|发件人|收件人|抄送|日期|发送时间)[\s*]*[:：][\s*]*\S"
)
"""A line at the head of a mail, with the field's name as mail programs write it."""
SENT_BEFORE = late(
    r"(?i)[^\n]*\d[^\n]*(?:\b(?:wrote|schrieb|a écrit|escribió|ha scritto|escreveu)\b[^\n]{0,80}"
    r"|写道)\s?[:：]\s*$"
)
"""What mail programs put before the mail that is answered: "On 3 Nov 2026 Lena wrote:"."""
MARKUP = late(r"(?m)^\s*(?:[-*•+]|\d{1,2}[.)]|#+)\s+|\*\*|__(?=\w)|(?<=\w)__")
"""List marks, headings and emphasis."""
HEAD = 8
"""Lines at the head of a mail that are looked at."""
SYMBOLS = late(r"[{}()\[\]<>=;|\\/_*&^%$#@~`+:]")
MOST_SYMBOLS = 0.12
"""Share of a line; prose with a path and a bracket stays below."""


def own_prose(text: str) -> str:
    """The text without what its writer has put in from elsewhere; line breaks stay."""
    return MARKUP.sub("", own_places(text)).strip()


def own_places(text: str) -> str:
    """The text with line feeds in place of what its writer has put in from elsewhere.

    It is as long as before, so that a place in it is the same place in the text.
    """
    kept: list[str] = []
    pasted = False
    lines = FENCED.sub(_blank, text).split("\n")
    for at, line in enumerate(lines):
        pasted = pasted or _begins_mail(lines, at)
        foreign = pasted or QUOTED.match(line) or _is_technical(line) or _is_document(line)
        pasted = pasted or PASTE_FOLLOWS.search(line) is not None
        kept.append("\n" * len(line) if foreign else line)
    return "\n".join(kept)


def _blank(match: re.Match[str]) -> str:
    return "\n" * len(match[0])


def _begins_mail(lines: Sequence[str], at: int) -> bool:
    """Whether a mail is pasted from this line on: two fields of its head at least, one of them with
    an address or the subject. Where to fly from and to has neither."""
    if SENT_BEFORE.match(lines[at]):
        return True
    fields = list(takewhile(bool, map(FIELD.match, lines[at : at + HEAD])))
    return len(fields) > 1 and any(one and (one["subject"] or "@" in one.string) for one in fields)


def _is_technical(line: str) -> bool:
    line = LINK.sub("", line.strip())
    if not line:
        return False
    if LOG.match(line) or CODE.match(line):
        return True
    return len(SYMBOLS.findall(line)) > max(2, MOST_SYMBOLS * len(line))


def _is_document(paragraph: str) -> bool:
    return len(paragraph) > LONG_PARAGRAPH and SELF.search(paragraph) is None
