"""The tables of docs/rest.md."""

from kinmem.web.rest.api_routes import ENDPOINTS
from kinmem.web.rest.streams import ENDPOINT


def endpoints() -> str:
    """Return one row for each endpoint, as it is declared."""
    rows = ["| group | endpoint | scope | what it does |", "| --- | --- | --- | --- |"]
    group = ""
    for one in (*ENDPOINTS, ENDPOINT):
        name = "" if one.group == group else one.group
        group = one.group
        rows.append(f"| {name} | `{one.method} {one.path}` | {one.scope} | {one.summary} |")
    return "\n".join(rows)
