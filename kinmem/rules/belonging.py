"""Whether what was learned in a project is true of the project, or of whoever works there.

Rules, decisions and facts that come up in a repository are the repository's. Who somebody is, what
they like and how they want to be answered holds wherever they work. In doubt it is the project's:
elsewhere it is still found by a question, and only not told unasked.
"""

import re

PERSONAL = frozenset({"identity", "relationship"})
BOUND = frozenset({"decision"})
FREE = ("event", "activity")
"""What happened is no rule for anybody: it may be told elsewhere, with the name of its place."""

OF_ME = re.compile(
    r"\bI\b|\bI['’]|(?i:\b(?:my|mine|me|myself|ich|mich|mir|meine?[mnrs]?|je|j['’]\w+|moi|mon|mes"
    r"|yo|mis?|conmigo|mio|mia|miei|eu|meus?|minhas?)\b|\bthe user\b)"
)
OF_A_PROJECT = re.compile(
    r"\b(?:repo(?:sitor\w+)?|project|codebase|app|branch|backend|frontend|service|projekt\w*"
    r"|projets?|dépôt|proyecto|repositorio|progetto|projeto)\b",
    re.IGNORECASE,
)
OF_TALK = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|respon[ds]\w*|speak|talk|address|call me|antwort\w*|sprich"
    r"|siez\w*|duz\w*|répond\w*|parle\w*|tutoie\w*|vouvoie\w*|respond\w*|contest\w*|habl[ae]\w*|tutéame"
    r"|trata\w*|rispond\w*|parla\w*)\b",
    re.IGNORECASE,
)
"""How an assistant is to talk is what somebody likes."""


def belongs(category: str, content: str, subject: str | None = None) -> bool:
    """Whether it holds in the project where it was learned, and not everywhere."""
    if category in PERSONAL or category == "preference" and (subject or OF_TALK.search(content)):
        return False
    if category in BOUND or OF_A_PROJECT.search(content):
        return True
    return not OF_ME.search(content) and not OF_TALK.match(content.lstrip())
