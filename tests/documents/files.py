"""Real files for tests, written byte by byte."""

import zlib
from collections.abc import Sequence


def pdf(
    *pages: Sequence[str], title: str = "", extra: bytes = b"", encrypted: bool = False
) -> bytes:
    """A PDF whose pages have these lines; `extra` takes the place of the first page's content."""
    objects: list[bytes] = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        content = _content(lines)
        if extra and not kids:
            content = extra
        stream = zlib.compress(content)
        objects.append(
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(stream)
            + stream
            + b"\nendstream"
        )
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792]"
            b" /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    objects.append(b"<< /Title (%s) >>" % title.encode("latin-1"))
    trailer = b"/Root 1 0 R /Size %d /Info %d 0 R" % (len(objects) + 1, len(objects))
    if encrypted:
        objects.append(
            b"<< /Filter /Standard /V 1 /R 2 /P -44 /O <%s> /U <%s> >>" % (b"11" * 32, b"22" * 32)
        )
        trailer += b" /Encrypt %d 0 R /ID [<00> <00>]" % len(objects)
    return _with_table(objects, trailer)


def _content(lines: Sequence[str]) -> bytes:
    shown = [
        b"(%s) Tj 0 -14 Td"
        % line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("latin-1")
        for line in lines
    ]
    return b"BT /F1 12 Tf 72 720 Td " + b"\n".join(shown) + b" ET"


def _with_table(objects: Sequence[bytes], trailer: bytes) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << %s >>\nstartxref\n%d\n%%%%EOF" % (trailer, table)
    return bytes(out)


PAGE = """<!doctype html>
<html><head><title>Opening hours - Museum</title>
<meta name="description" content="When the museum is open.">
<style>.x { color: red }</style><script>var a = "script text";</script></head>
<body>
<nav><a href="/">Navigation link</a></nav>
<header><h1>Opening hours</h1></header>
<!-- a comment -->
<main>
<p>The museum opens at <b>nine</b> on weekdays.</p>
<p style="display: none">Hidden by style.</p>
<p hidden>Hidden by attribute.</p>
<p aria-hidden="true">Hidden from readers.</p>
<p style="font-size:0px">Too small to see.</p>
<div role="navigation">Another menu</div>
<h2>Holidays</h2>
<ul><li>Closed on New Year's Day</li><li>Open on Easter Monday</li></ul>
<table><tr><th>Ticket</th><th>Price</th></tr><tr><td>Adult</td><td>12 euros</td></tr></table>
<pre>ring  twice
at the gate</pre>
<form><input value="typed"><button>Buy now</button></form>
<noscript>Enable scripts</noscript><template>Template text</template>
</main>
<aside>Advertisement</aside><footer>Imprint</footer>
</body></html>
"""

HANDBOOK = """---
title: Team handbook
---
# Handbook

How we work together.

## Budget

The yearly budget is decided in October. Every team names its needs by the first of September.

### Priorities

Hiring comes first. Travel is paid from the team's own share, and nothing above 4,000 euros is
booked without Maria's consent.

## Offices

- Lyon has forty desks.
- Porto has twelve desks and a terrace.

```python
def desks(city):
    # Not a heading
    return {"Lyon": 40, "Porto": 12}[city]
```
"""
