"""Questions that only the conversation before them explains, in six languages."""

import re
from collections.abc import Collection, Sequence

from kinmem.text import STOP_WORDS, content_words, folded, language_of, words

# How a continuation, or an answer, begins.
_PHRASES = (
    r"what(?:['’]s| is)? about|how about|what else|me too|the same|was ist mit|wie steht es mit"
    r"|qu['’]en est-il|d['’]accord|moi aussi|qué tal|yo también|va bene|anch['’]io|e invece"
    r"|tá bem|eu também|e quanto a"
)
_WORDS = {
    "en": "and but so also then yes no yeah nope ok okay sure exactly right agreed same thanks"
    " perfect",
    "de": "und aber also dann ja nein okay genau stimmt danke auch ebenso",
    "fr": "et mais alors donc aussi oui non exactement merci pareil",
    "es": "y pero entonces también sí no vale exacto gracias igual",
    "it": "e ma allora anche sì no esatto grazie uguale",
    "pt": "e mas então também sim não exato obrigado obrigada igual",
}
_BEGINS = {
    code: re.compile(rf"\W*(?:{_PHRASES}|{'|'.join(said.split())})(?![-\w'’])", re.IGNORECASE)
    for code, said in _WORDS.items()
}

# Whom or what they mean was said before. Words that are articles as often as pronouns (la, lo, le,
# das, i) are left out: carrying over what nobody meant costs more than missing one.
PERSONS = {
    "en": "he she they him them her his hers their theirs",
    "de": "er sie ihn ihm ihnen sein seine seinen seiner seinem",
    "fr": "il elle ils elles lui leur leurs",
    "es": "él ella ello ellos ellas",
    "it": "lui lei loro egli",
    "pt": "ele ela eles elas dele dela deles delas",
}
THINGS = {
    "en": "it its this that these those there one",
    "de": "es dies diese dieser dieses dort davon damit darüber dafür dazu",
    "fr": "ça cela celui celle ceux celles",
    "es": "eso esto ese esa esos esas allí",
    "it": "ciò questo quello questa quella lì",
    "pt": "isso isto aquilo aquele aquela lá",
}
# "Is it raining?", "Is there ...", "I think that ...": nothing is meant by these.
EMPTY = re.compile(
    r"\b(?:is|was|are|were) there\b|\bthere (?:is|are|was|were)\b"
    r"|\b(?:think|know|say|said|told|sure|hope|so) that\b|\bgibt es\b|\bgeht es\b"
    r"|\bth(?:is|ese|ose|at) (?:morning|afternoon|evening|night|week|weekend|month|year|spring"
    r"|summer|autumn|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|\bthat (?:our|we|i|you|my|your|the)\b|\b(?:the|which|any|no|every) one\b|\bone of\b"
    r"|\bit (?:is |was |will |be )?(?:rain|snow|late|time|take|possible|true)\w*",
    re.IGNORECASE,
)
STOPS = frozenset().union(*STOP_WORDS.values())
NAME = re.compile(r"(?<=\w[ ,])\s?\b([^\W\d_a-zß-ÿ][^\W\d_A-Z]\w*)")
BARE = re.compile(
    r"\W*(?:how (?:much|many|long|far|old|often)|tell me more|more|go on|which one|wie ?viele?"
    r"|combien|cuánt[oa]s?|quant[oiae]s?|por ?qu[eêé]|perché|warum|wieso|pourquoi)"
    r"(?: (?:kostet|cuesta|custa|costa|coûte|koster|is|ist))?\W*",
    re.IGNORECASE,
)
AT_THE_END = re.compile(r"\b(?:kostet|ist|war|heißt|macht|geht) das\W*$", re.IGNORECASE)
MOST_CARRIED = 4
_ALL_PERSONS = frozenset(" ".join(PERSONS.values()).split())


def needs_context(text: str, threshold: int) -> bool:
    """Whether a question is likely to be meant as a continuation of what was said before.

    It is at most `threshold` characters long, and begins as an answer or a continuation does, or
    has a pronoun and before it no name for whom it means, or no word with a meaning of its own.
    """
    if len(text) > threshold:
        return False
    if _BEGINS[language_of(text)].match(text) or STOPS.issuperset(words(text)):
        return True
    if BARE.fullmatch(text) or AT_THE_END.search(text):
        return True
    meant = _pronoun(text)
    return meant is not None and not NAME.search(text[: meant.start()])


def carried_over(text: str, before: Sequence[str], names: Collection[str]) -> list[str]:
    """What a question leaves out and the latest texts before it name, at most four words.

    A person (he, she, they) is the one named last; else it is what the last text that has anything
    to say speaks of. `names`: who and what is known by name, as text.folded gives them.
    """
    own = set(content_words(text))
    if (meant := _pronoun(text)) and meant[0].casefold() in _ALL_PERSONS:
        for said in reversed(before):
            if named := _named(said, names):
                return [named[-1]]
    has_name = bool(_named(text, names))
    for said in reversed(before):
        telling = _telling(said, names, with_names=not has_name)
        if left := [word for word in telling if word.casefold() not in own]:
            return left[:MOST_CARRIED]
    return []


def _pronoun(text: str) -> re.Match[str] | None:
    """The first one, in the language of the text, that means something said before."""
    plain = EMPTY.sub(lambda match: " " * len(match[0]), text)
    found = set(words(text))
    languages = [language_of(text)] if found & STOPS else list(PERSONS)
    known = {word for code in languages for word in f"{PERSONS[code]} {THINGS[code]}".split()}
    return next((word for word in re.finditer(r"\w+", plain) if word[0].casefold() in known), None)


def _named(text: str, names: Collection[str]) -> list[str]:
    """Known names in order, or capitalised words within a sentence."""
    known = [word for word in re.findall(r"\w[\w-]*", text) if folded(word) in names]
    return [word for word in known if word[:1].isupper()] or NAME.findall(text)


def _telling(text: str, names: Collection[str], *, with_names: bool) -> list[str]:
    """Names first, then the longest words that are no stop words: short ones say little."""
    named = list(dict.fromkeys(_named(text, names)))
    known = STOPS | {name.casefold() for name in named}
    rest = {word for word in content_words(text) if word not in known}
    longest = sorted(rest, key=lambda word: (-len(word), word))
    return [*named, *longest] if with_names else longest
