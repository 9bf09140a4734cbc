"""What the word tables say of a statement, as evidence for the judge: none of it decides alone."""

from collections.abc import Iterator

from kinmem.rules.talk import talk_words
from kinmem.rules.talk.about import about, is_unreal
from kinmem.rules.talk.cues import STANDING, category_of
from kinmem.rules.talk.talk import ADDRESSED, COURTESY, ELIDED, asks_help, is_own, telling
from kinmem.text import words


def signs(text: str) -> Iterator[str]:
    """Names of what was found."""
    own = is_own(text)
    category, confidence = category_of(text, own)
    found, of_whom = words(text), about(text)
    orders = bool(found) and found[0] in talk_words.IMPERATIVES
    yield f"category {category}"
    yield f"category {category} {confidence:.2f}"
    yield f"telling {min(int(2 * telling(text)), 8)}"
    yield f"own {own} {orders}"
    yield f"about {of_whom.subject is not None} {of_whom.lasts}"
    for name, is_so in {
        "own": own,
        "orders": orders,
        "lasts": of_whom.lasts,
        "subject": of_whom.subject is not None,
        "unreal": is_unreal(text, text),
        "standing": STANDING.match(text) is not None,
        "asks": asks_help(text),
        "addressed": ADDRESSED.search(text) is not None,
        "courtesy": COURTESY.search(text) is not None,
        "elided": ELIDED.match(text) is not None,
    }.items():
        yield f"{name} {is_so}"
