"""Which project a memory belongs to: what is learned, what is told, and what was there before.

Rules, decisions and facts that come up in a repository are the repository's. Who somebody is, what
they like and how they want to be answered holds wherever they work. What "we" do is told apart by
meaning, in any language: it is their life or their work. In doubt it is the project's: elsewhere it
is still found by a question, and only not told unasked.
"""

import re

from kinmem.errors import ModelError
from kinmem.learn.prepare import judgement
from kinmem.llm.base import Embedder
from kinmem.models.places import place_of
from kinmem.store.base import Store

PERSONAL = frozenset({"identity", "relationship"})
BOUND = frozenset({"decision"})
OF_ME = re.compile(
    r"\bI\b|\bI['’]|(?i:\b(?:my|mine|me|myself|ich|mich|mir|meine?[mnrs]?|je|j['’]\w+|moi|mon|mes"
    r"|yo|mis?|conmigo|mio|mia|miei|eu|meus?|minhas?)\b|\bthe user\b)|我(?!们)"
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
READ = 400
"""Characters of a statement that tell what it is about."""


LIFE = 0.8
"""Chance from which on a statement is about somebody's life (scripts/train_places.py)."""


def project_of(
    category: str | None,
    content: str,
    subject: str | None,
    place: str | None,
    embedder: Embedder | None = None,
) -> str | None:
    """`place`, where the statement is about the project and not about whoever works in it.

    Without a category it is judged by its words; without an `embedder` that knows lives from
    projects, what "we" do is the project's.
    """
    if not place or not isinstance(content, str):
        return None
    holds_here = belongs(category or judgement(content)[0], content, subject)
    return place if holds_here and not _is_of_life(content, category, embedder) else None


def belongs(category: str, content: str, subject: str | None = None) -> bool:
    """Whether it holds in the project where it was learned, and not everywhere, by its words."""
    if category in PERSONAL or category == "preference" and (subject or OF_TALK.search(content)):
        return False
    if category in BOUND or OF_A_PROJECT.search(content):
        return True
    return not OF_ME.search(content) and not OF_TALK.match(content.lstrip())


def _is_of_life(content: str, category: str | None, embedder: Embedder | None) -> bool:
    """Whether it is about somebody's life by its meaning: "our daughter is six"."""
    life = embedder.calibration.life if embedder is not None and embedder.ready else None
    if embedder is None or life is None or category in BOUND or OF_A_PROJECT.search(content):
        return False
    try:
        return life.chance(embedder.embed([content[:READ]])[0]) >= LIFE
    except ModelError:
        return False


def settle_places(store: Store) -> None:
    """Find out where memories hold that were learned before kinmem knew of places. A folder that is
    gone tells nothing: they hold everywhere, as before."""
    waiting = store.unplaced()
    if not waiting:
        return
    folders = {one.place: place_of((one.place or "")[1:]) for one in waiting}
    store.set_places(
        {
            one.id: project_of(one.category, one.content, one.subject, folders[one.place])
            for one in waiting
        }
    )
