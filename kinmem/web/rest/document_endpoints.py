"""Documents: files that recall finds chunk by chunk."""

from base64 import b64decode
from binascii import Error
from typing import Annotated

from pydantic import Field

from kinmem.documents.document import Given
from kinmem.errors import InvalidInput
from kinmem.http.lanes import UnderWay, answered
from kinmem.models import Stored
from kinmem.web.rest.declaration import LEFT_OUT, BatchName, Call, Group, Made

# A file of 16 MiB in base64, with its details.
FILE_BYTES = 22 * 1024 * 1024

group = Group("Documents")
under_way = UnderWay()


class Document(Made):
    text: Annotated[str, Field(description="Markdown, text or HTML")] = LEFT_OUT
    base64: Annotated[str, Field(description="instead: the bytes of the file, as of a PDF")] = (
        LEFT_OUT
    )
    name: Annotated[str, Field(description="of the file; its extension tells the kind")] = ""
    source_ref: Annotated[
        str | None, Field(description="a path or address; another text from there is a new version")
    ] = None
    title: str | None = None
    batch: BatchName = None
    description: str | None = None


@group("POST", "/documents", "write", body_bytes=FILE_BYTES)
def add_document(call: Call, asked: Document) -> Stored:
    """Store a file in chunks. The same text again is a duplicate. If the server still works on it
    (code deadline), the same request again waits for its end."""
    what = ("add_document", asked.digest)
    return answered(under_way.result(call.service, what, lambda _: _stored(call, asked)))


def _stored(call: Call, asked: Document) -> Stored:
    call.trusts(asked.trusted)
    if asked.scope == "shared":
        call.service.share(1)
    details = {"client": call.client, **asked.given()}
    batch = details.pop("batch", None)
    text, encoded = details.pop("text", None), details.pop("base64", None)
    if (text is None) == (encoded is None):
        raise InvalidInput("give either text or base64")
    data = text if encoded is None else _bytes(encoded)
    return call.service.add(Given(data=data, **details), batch)


def _bytes(encoded: str) -> bytes:
    try:
        return b64decode(encoded, validate=True)
    except (Error, ValueError) as error:
        raise InvalidInput(f"base64: {error}") from None
