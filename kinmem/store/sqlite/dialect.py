"""How SQLite says the words of store/sql/database.py."""

import re
from functools import lru_cache

WORDS = {
    "LISTED": "(SELECT value FROM json_each({}))",
    "NUMBERED": "(SELECT value FROM json_each({}))",
    "PAIRED": "(SELECT value ->> 0 AS one, value ->> 1 AS other FROM json_each({}))",
}
CALL = re.compile(rf"\b({'|'.join(WORDS)})\(([\w:.?]+)\)")


@lru_cache(maxsize=1024)
def spoken(statement: str) -> str:
    """Return a statement as SQLite runs it."""
    statement = CALL.sub(lambda call: WORDS[call[1]].format(call[2]), statement)
    return statement.replace("ORDERED JOIN", "CROSS JOIN").replace("BY INDEX", "INDEXED BY")
