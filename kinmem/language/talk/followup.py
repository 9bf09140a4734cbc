"""Questions that only the conversation before them explains, in six languages; of Russian and
Chinese the plainest."""

import re
from collections.abc import Collection, Sequence

from kinmem.language.pattern import late
from kinmem.text import STOP_WORDS, content_words, folded, language_of, words

# How a continuation begins, whatever follows.
_PHRASES = (
    r"what(?:['’]s| is)? about|how about|what else|me too|the same|i meant?"
    r"|was ist mit|wie steht es mit|ich meinte?|qu['’]en est-il|moi aussi|je veux dire|qué tal"
    r"|yo también|quise decir|anch['’]io|e invece|intendevo|eu também|e quanto a|quis dizer"
)
# The same only before a pause: "Yes, and where?", but not "No smoking in the flat?".
_ANSWERS = (
    "so also then yes no yeah nope ok okay sure exactly right agreed same thanks perfect dann ja"
    " nein genau stimmt danke auch ebenso alors donc aussi oui non exactement merci pareil d'accord"
    " entonces también sí vale exacto gracias igual allora anche sì esatto grazie uguale va_bene"
    " então também sim não exato obrigado obrigada tá_bem да нет хорошо спасибо"
)
_BEGINS = late(
    rf"\W*(?:(?:{_PHRASES})(?![-\w'’])|(?:{'|'.join(_ANSWERS.split()).replace('_', ' ')})"
    r"(?=\s*[,.;!?…]|\s*$))",
    re.IGNORECASE,
)
_JOINING = {
    "en": "and but or",
    "de": "und aber oder",
    "fr": "et mais ou",
    "es": "y pero o",
    "it": "e ma o",
    "pt": "e mas ou",
    "ru": "а и но или",
}
_JOINS = {
    code: late(rf"\W*(?:{'|'.join(said.split())})(?![-\w'’.]| a-t-)", re.IGNORECASE)
    for code, said in _JOINING.items()
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
    "ru": "он она они его её ее ему ей их им него неё нее них ним ней нему",
}
THINGS = {
    "en": "it its this that these those there one",
    "de": "es dies diese dieser dieses dort davon damit darüber dafür dazu",
    "fr": "ça cela celui celle ceux celles",
    "es": "eso esto ese esa esos esas allí",
    "it": "ciò questo quello questa quella lì",
    "pt": "isso isto aquilo aquele aquela lá",
    "ru": "это этот эта там туда",
}
# They may mean somebody named before them in the question: "Does my sister like her job?"
BACKWARDS = frozenset(
    """her his their its hers theirs she he they sein seine seinen seiner seinem il elle ils elles
    leur leurs dele dela deles delas его её ее их""".split()
)
SOMEBODY = late(
    r"\b(?:my|our|your|the|an?|mein\w*|unser\w*|de[rmns]|die|das|ein\w*|mon|ma|mes|notre|nos|les?"
    r"|la|une?|mis?|el|l[oa]s|nuestr[oa]s?|il|gli|mi[oa]|nostr[oa]|meus?|minhas?|nossos?|os"
    r"|мо\w{1,3}|наш\w*)\s+[^\W\d_]{2,}|\bl['’][^\W\d_]{2,}",
    re.IGNORECASE,
)
# "Is it raining?", "Is there ...", "I think that ...": nothing is meant by these.
EMPTY = late(
    r"\b(?:is|was|are|were) there\b|\bthere (?:is|are|was|were)\b"
    r"|\b(?:think|know|say|said|told|sure|hope|so) that\b|\bgibt es\b|\bgeht es\b"
    r"|\bth(?:is|ese|ose|at) (?:morning|afternoon|evening|night|week|weekend|month|year|spring"
    r"|summer|autumn|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|\bthat (?:our|we|i|you|my|your|the)\b|\b(?:the|which|any|no|every) one(?: that)?\b"
    r"|\bone of\b|\bthis (?!still|really|also|all|even)[a-z]{3,} (?=\w)|\bthese [a-z]{3,}"
    r"|\bthat \w+ \w+ of\b"
    r"|\bit (?:is |was |will |be )?(?:rain|snow|late|time|take|possible|true)\w*"
    r"|\bit (?:that|to)\b|\bit (?=\S+['’]s )|\bit (?:cold|hot|warm|dark|far) (?:in|to|from|at)\b"
    r"|\b(?:spät|früh|warm|kalt|heiß|dunkel) (?:ist|war|wird) es\b|\b(?:ist|war|wird) es in\b"
    r"|\bdiese[snmr]? (?:jahr|monat|woche|wochenende|sommer|winter|herbst|frühling|\w+tag)\b"
    r"|\by a-t-il\b|\bil y a\b|\bil (?:pleut|neige|fait|faut)\b|\b(?:faut|fait|pleut)-il\b"
    r"|\b(?:il est|est-il) (?:possible|permis|prévu|temps|\w+ heures?)\b|\bes[ae]s? \w+ de\b"
    r"|\bquest[oaie] (?:settimana|mese|anno|sera|mattina|notte|estate|inverno|autunno|primavera)\b",
    re.IGNORECASE,
)
STOPS = frozenset().union(*STOP_WORDS.values())
NAME = late(r"(?<=\w[ ,])\s?\b([^\W\d_a-zß-ÿ][^\W\d_A-Z]\w*)")
# Beside stop words they ask for nothing yet: "Since when?", "Where exactly?", "С каких пор?".
LITTLE = frozenset(
    """since else exactly come such kind seit bis genau depuis jusqu avec après combien desde hasta
    después poi fino dopo até depois с до каких пор почему зачем как где когда кто что сколько какой
    какая какие""".split()
)
SELF = frozenset("i me my we us our ich wir mir uns je nous me nosotros io noi eu nós".split())
BARE = late(
    r"\W*(?:(?:how (?:much|many|long|far|old|often)|tell me more|more|go on|which one|wie ?viele?"
    r"|combien|cuánt[oa]s?|quant[oiae]s?|por ?qu[eêé]|perché|warum|wieso|pourquoi)"
    r"(?: (?:kostet|cuesta|custa|costa|coûte|koster|is|ist))?"
    r"|(?:which|what|welche[rsnm]?|was für|quel(?:le)?s?|qué|cuál(?:es)?|che|quale|quali|que|qual)"
    r" [^\W\d_]+|c['’](?:est|était) [^\W\d_]+|de qué \w+ (?:es|son)"
    # Spanish, Italian and Portuguese leave out whom they mean.
    r"|(?:dónde|cuándo|cómo|cuánto|dove|quando|come|quanto|onde|como) (?:se |si )?[^\W\d_]+"
    r"|(?:cuántos años|quanti anni|quantos anos) \w+)\W*",
    re.IGNORECASE,
)
CHINESE = late(
    "^.{0,3}[他她它]|^那.*呢?[?？]?$|^(?:为什么|怎么样|多少钱|什么时候|谁|哪里|哪儿)[?？]?$"
)
AT_THE_END = late(r"\b(?:kostet|ist|war|heißt|macht|geht) das\W*$", re.IGNORECASE)
MOST_CARRIED = 4
_ALL_PERSONS = frozenset(" ".join(PERSONS.values()).split())


def needs_context(text: str, threshold: int) -> bool:
    """Whether a question is likely to be meant as a continuation of what was said before.

    It is at most `threshold` characters long, and begins as an answer or a continuation does, or
    has a pronoun and before it nobody whom it means, or no word with a meaning of its own.
    """
    if len(text) > threshold:
        return False
    said = words(text)
    if _BEGINS.match(text) or _joins(text, said) or CHINESE.search(text):
        return True
    if (STOPS | LITTLE).issuperset(said) and SELF.isdisjoint(said):
        return True
    if BARE.fullmatch(text) or AT_THE_END.search(text):
        return True
    meant = _pronoun(text)
    return meant is not None and not _is_explained(meant, text)


def _joins(text: str, said: Sequence[str]) -> bool:
    """Whether it begins with an "and" of a language in which the rest may be."""
    rest = set(said[1:])
    known = {code: len(rest & stop) for code, stop in STOP_WORDS.items()}
    most = max(known.values())
    return any(begins.match(text) for code, begins in _JOINS.items() if known.get(code, 0) == most)


def _is_explained(meant: re.Match[str], text: str) -> bool:
    """Whether whom or what a pronoun means stands before it, or it begins a name."""
    before, after = text[: meant.start()], text[meant.end() :]
    if NAME.search(before) or ":" in before and content_words(before):
        return True
    if not words(before):
        return re.match(r" [^\W\d_a-zß-ÿ]\w+,", after) is not None
    return meant[0].casefold() in BACKWARDS and SOMEBODY.search(before) is not None


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
