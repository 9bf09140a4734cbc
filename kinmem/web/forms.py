"""Reads what was filled in: no more than a page of ours sends, and nothing of another session."""

import re
from collections.abc import AsyncGenerator

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from kinmem.documents.document import FILE_BYTES
from kinmem.http.logins import Session, is_same

# Bytes of a form without files. A text of 64 KiB takes three times as much in a form.
MOST_BYTES = 1 << 20
# Bytes of a form with a file, which waits on disk.
MOST_UPLOADED = FILE_BYTES + MOST_BYTES
MOST_FIELDS = 1000
# Fields beside the file, which together are held to MOST_BYTES.
MOST_BESIDE = 16
# Bytes within which the session's mark has to stand in a form with a file: it is its first field.
HEAD_BYTES = 4096
SIZE = re.compile(r"[0-9]{1,18}")
CSRF, CSRF_HEADER = "csrf", "x-csrf"
MARKED = re.compile(rb'name="csrf"\r\n\r\n([!-~]*)\r\n')


class Refused(Exception):
    """A form that is not read, or not further."""

    def __init__(self, response: Response) -> None:
        self.response = response
        super().__init__(response.status_code)


def too_large() -> Refused:
    told = "the form is too large, or holds a file where none belongs"
    return Refused(PlainTextResponse(told, 413))


def foreign() -> Refused:
    return Refused(PlainTextResponse("this form is of another session; reload it", 403))


async def filled_in(request: Request, session: Session | None, *, files: bool = False) -> FormData:
    """Return what was filled in. Raises Refused if it is too large, is in parts though it takes no
    `files`, or lacks the mark of the session; None: nobody has logged in yet.

    A file is read only after the mark has been seen.
    """
    marked = request.headers.get(CSRF_HEADER)
    if session and marked is not None and not is_same(marked, session.csrf):
        raise foreign()
    size = request.headers.get("content-length", "")
    is_upload = request.headers.get("content-type", "").startswith("multipart/")
    if is_upload and not files:
        raise too_large()
    if not SIZE.fullmatch(size) or int(size) > (MOST_UPLOADED if is_upload else MOST_BYTES):
        raise too_large()
    if is_upload and session:
        return await _uploaded(request, session, is_marked=marked is not None)
    form = await request.form(max_fields=MOST_FIELDS, max_part_size=MOST_BYTES)
    given = form.get(CSRF, "") if marked is None else marked
    if session and not (isinstance(given, str) and is_same(given, session.csrf)):
        raise foreign()
    return form


async def _uploaded(request: Request, session: Session, *, is_marked: bool) -> FormData:
    stream = _after_mark(request, None if is_marked else session.csrf)
    parser = MultiPartParser(
        request.headers,
        stream,
        max_files=1,
        max_fields=MOST_BESIDE,
        max_part_size=MOST_BYTES // MOST_BESIDE,
    )
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise HTTPException(400, error.message) from error
    finally:
        await stream.aclose()


async def _after_mark(request: Request, expected: str | None) -> AsyncGenerator[bytes, None]:
    """Yield the body, nothing of it before its first field was seen to be the expected mark."""
    head = b""
    async for chunk in request.stream():
        if expected is None:
            yield chunk
            continue
        head += chunk
        found = MARKED.search(head[:HEAD_BYTES])
        if found is None and len(head) < HEAD_BYTES:
            continue
        if found is None or not is_same(found[1].decode(), expected):
            raise foreign()
        yield head
        expected = None
    if expected is not None:
        raise foreign()
