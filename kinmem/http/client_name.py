"""The name by which a program calls itself, as it is stored with what the program writes."""

CLIENT_CHARACTERS = 120


def client_name(told: str) -> str | None:
    """Return the name in one line, cut to its length; None if there is none."""
    return " ".join(told.split())[:CLIENT_CHARACTERS] or None
