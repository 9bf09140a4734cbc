"""Stage 1d: keys and tokens in a document, which memories are no safe place for."""

from typing import Literal

from kinmem.errors import InvalidInput
from kinmem.rules.secrets.secrets import keys_in, redacted

Secrets = Literal["refuse", "redact", "allow"]
MOST_LINES = 5


def allowed(text: str, secrets: Secrets) -> str:
    """The text, or without its secrets. Raises InvalidInput, which never repeats a secret."""
    if secrets == "allow" or not (kinds := keys_in(text)):
        return text
    if secrets == "redact":
        return redacted(text)[0]
    lines = [number for number, line in enumerate(text.split("\n"), 1) if keys_in(line)]
    where = f" in line {', '.join(map(str, lines[:MOST_LINES]))}" if lines else ""
    raise InvalidInput(
        f"the document holds a secret ({', '.join(kinds)}){where}, and memories are no safe place"
        " for it; take it out, or set KINMEM_SECRETS to redact or allow"
    )
