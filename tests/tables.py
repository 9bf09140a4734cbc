"""A table whose rows are checked by one test, which lists every row that is wrong.

pytest takes more than two milliseconds for each test beside what the test does. Where a row needs
nothing but its own values, a table of hundreds is one test; where it needs a fixture of its own,
`pytest.mark.parametrize` makes a test of each row.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

SHOWN = 20
"""Wrong rows that are told with where they failed; of further ones only the name is."""


def each(
    names: str | Sequence[str],
    rows: Iterable[Any],
    *,
    ids: Iterable[str] | Callable[[Any], object] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the function with each row, as parametrize would, and fail once with all that failed."""
    fields = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    table = list(_table(fields, rows, ids))
    assert table, "a table without rows shows nothing"

    def for_each(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def all_rows(*given: Any, **fixtures: Any) -> None:
            wrong = []
            for name, values in table:
                try:
                    function(*given, **fixtures, **values)
                except (Exception, pytest.fail.Exception) as error:
                    wrong.append((name, error))
            if wrong:
                pytest.fail(_told(wrong, len(table)), pytrace=False)

        signature = inspect.signature(function)
        left = [one for name, one in signature.parameters.items() if name not in fields]
        all_rows.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return all_rows

    return for_each


def _table(
    fields: Sequence[str],
    rows: Iterable[Any],
    ids: Iterable[str] | Callable[[Any], object] | None,
) -> Iterable[tuple[str, dict[str, Any]]]:
    """Each row with its name."""
    named = iter(ids) if ids is not None and not callable(ids) else None
    for row in rows:
        values, name = row, next(named) if named else None
        if isinstance(row, type(pytest.param())):
            assert not row.marks, "a row with a mark is a test of its own"
            values, name = row.values, row.id
            values = values[0] if len(fields) == 1 else values
        values = [values] if len(fields) == 1 else [*values]
        assert len(values) == len(fields), f"{values} are no values for {fields}"
        shown = map(ids, values) if callable(ids) else map(repr, values)
        yield name or ", ".join(map(str, shown)), dict(zip(fields, values, strict=True))


def _told(wrong: Sequence[tuple[str, BaseException]], among: int) -> str:
    lines = [f"{len(wrong)} of {among} rows are wrong"]
    for at, (name, error) in enumerate(wrong):
        lines.append(f"\n--- {name}")
        if at < SHOWN:
            found = pytest.ExceptionInfo.from_exception(error)
            lines.append(str(found.getrepr(style="short", chain=False)))
    return "\n".join(lines)
