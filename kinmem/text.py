"""Text utilities: clean text on the way in, split it into words, estimate its tokens."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

from kinmem.errors import InvalidInput, TooLarge


def late(text: str, flags: int = 0) -> re.Pattern[str]:
    """As re.compile, but the work is done at the first use: a hook uses few of all there are."""
    return cast("re.Pattern[str]", _Late(text, flags))


class _Late:
    """Whatever is asked of it is fetched from the compiled one, once."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found


# Scripts written without spaces: each sign is a word of its own.
UNSPACED_SIGN = (
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
UNSPACED = late(UNSPACED_SIGN)
UNSPACED_RUN = late(f"(?:{UNSPACED_SIGN})+")
# C0 and C1 controls except tab and newline: SQLite's LIKE and length() stop at NUL, FTS5 reads on.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# One visible character: text made of white space and zero-width characters alone counts as empty.
VISIBLE = re.compile("[^\\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
# Unicode's default ignorable characters and annotation marks. They are drawn as nothing, even
# inside words.
INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff]"
)
LONE_SURROGATES = re.compile("[\ud800-\udfff]")

WORD = re.compile(r"[^\W_]+[#+]{0,2}")

# Function words by language. They do not tell what a question is about: searching without them
# gains 0.9 points of recall@10 on LoCoMo and 2.6 on BEAM. English comes first because the first
# wins ties.
STOP_WORDS: Mapping[str, frozenset[str]] = {
    "en": frozenset(
        """
        a about above after again against ain all also am an and any are aren as at be
        because been before being below between both but by can could couldn d did didn
        do does doesn doing don down during each few for from further had hadn has hasn
        have haven having he her here hers herself him himself his how i if in into is
        isn it its itself just ll m me might mine more most must my myself no nor not of
        off on once only onto or other our ours ourselves out over own re s same shall
        shan she should shouldn so some such t than that the their theirs them
        themselves then there these they this those through to too under until up upon
        us ve very was wasn we were weren what when where which while who whom whose why
        will with won would wouldn you your yours yourself yourselves
        """.split()
    ),
    "de": frozenset(
        """
        aber als am an auch auf aus bei beim bin bis bist da dann das dass dein deine
        dem den der des dich die dies diese diesem diesen dieser dieses dir doch du
        durch ein eine einem einen einer eines er es euch für gibt hab habe haben hat
        hatte ich ihm ihn ihr ihre im in ins ist ja jede jeder kann kein keine können
        man mein meine meinem meinen meiner mich mir mit nach nicht noch nur ob oder
        sein seine sich sie sind so um und uns unser vom von vor wann war waren warum
        was weil welche welcher welches wem wen wenn wer werden wie wieder wir wird wo
        wurde zu zum zur über
        """.split()
    ),
    "fr": frozenset(
        """
        ai au aux avec c ce ces cet cette comment d dans de des du elle elles en es est
        et eux fait il ils j je l la le les leur leurs lui m ma mais me mes moi mon n ne
        nos notre nous on ont ou où par pas pour pourquoi qu quand que quel quelle
        quelles quels qui s sa sans se ses si son sont sur t ta te tes toi ton tu un une
        vos votre vous y à été être
        """.split()
    ),
    "es": frozenset(
        """
        a al algo como con cuando cuál cuándo cómo de del desde donde dónde el ella
        ellos en entre era eres es esa ese eso esta este esto estos está fue ha han hay
        la las le les lo los me mi mis muy más ni no nos o para pero por porque que
        quien quién qué se ser si sin sobre son su sus también te tiene tu tus un una
        uno unos y ya yo
        """.split()
    ),
    "it": frozenset(
        """
        a agli ai al alla alle anche che chi ci come con cosa cui da dal dalla dei del
        della delle di dove e era gli ha hai hanno ho i il in io l la le lei li lo loro
        lui ma mi mia mie mio nei nel nella non o per perché più quale quali quando
        quanto quello questa questo qui se sei si sono sta su sua sul suo tra tu un una
        uno vi è
        """.split()
    ),
    "pt": frozenset(
        """
        a ao aos as até com como da das de dela dele do dos e ela ele em entre era essa
        esse esta este eu foi isso já mais mas me meu minha muito na nas no nos não o
        onde os ou para pela pelo por porque qual quando que quem se sem ser seu sua são
        também te tem um uma você
        """.split()
    ),
}

# "The user studies", but not "the user table": a verb in the third person has to follow.
USER_STATES = re.compile(r"\b[Tt]he user(?= (?:\w+(?:s|ed)|can|will|must|may)\b)")
USER_ASKED = re.compile(r"\b(do|did|ha|i|wa)(?:es|s|d)? the user(?!['’])\b", re.IGNORECASE)
USER_OWNS = re.compile(r"\b[Tt]he user['’]s\b")


def in_first_person(text: str) -> str:
    """Put statements about "the user" in the first person: agents note "the user's flat", people
    ask for "my flat".

    Use the result for comparing only: verbs keep their endings.
    """
    if "user" not in text:
        return text
    text = USER_ASKED.sub(lambda found: found[0][: -len("the user")] + "I", text)
    return USER_STATES.sub("I", USER_OWNS.sub("my", text))


def clean(text: str, what: str, limit: int) -> str:
    """Return the text as it is stored: NFC, without control characters or lone surrogates,
    stripped.

    `limit` is in bytes of UTF-8 and applies to the text as it came in. Raises TooLarge above the
    limit, and InvalidInput if nothing visible is left.
    """
    if (size := size_of(text)) > limit:
        raise TooLarge(what, size, limit)
    if text.isascii() and text.replace("\n", "").isprintable() and (text := text.strip()):
        return text
    text = storable(text).strip()
    if not VISIBLE.search(text):
        raise InvalidInput(f"{what} is empty; say in a few words what it is", "empty", what=what)
    return text


def size_of(text: str) -> int:
    """Return the bytes of the text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def storable(text: str) -> str:
    """Normalize the text: NFC, LF line ends, no control characters, U+FFFD for each lone
    surrogate."""
    text = LONE_SURROGATES.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    return unicodedata.normalize("NFC", CONTROLS.sub("", text))


def words(text: str) -> list[str]:
    """Return every word in order, in lower case.

    An apostrophe separates words; C# and C++ are words.
    """
    return WORD.findall(text.casefold())


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning, each once, in order; all words if all are stop words.

    The stop words are those of the language that explains most of the text, so "son" is dropped
    from a French question and kept in an English one.
    """
    found = list(dict.fromkeys(words(text)))
    stop = STOP_WORDS[_language(found)]
    return [word for word in found if word not in stop] or found


def content_terms(text: str) -> frozenset[str]:
    """Return what carries meaning, to compare two texts by: the content words, and of scripts
    without spaces each pair of neighbouring characters, since a whole clause would be one word."""
    return frozenset(term for word in content_words(text) for term in terms_of(word))


def terms_of(word: str) -> list[str]:
    """Return the word, or if it is of a script without spaces its parts; see content_terms."""
    if not UNSPACED.search(word):
        return [word]
    runs = UNSPACED_RUN.findall(word)
    return [
        *filter(None, UNSPACED_RUN.split(word)),
        *(pair for run in runs for pair in pairs_of(run)),
    ]


def pairs_of(run: str) -> list[str]:
    """Return each pair of neighbouring characters in order, or a single character as it is."""
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def count_words(text: str) -> int:
    """Count the words. In scripts without spaces, two characters count as one word."""
    return _count_spaced(words(text)) + (len(UNSPACED.findall(text)) + 1) // 2


def count_content_words(text: str) -> int:
    """Count the content words, each once; see count_words."""
    return _count_spaced(content_words(text)) + (len(UNSPACED.findall(text)) + 1) // 2


def _count_spaced(found: Iterable[str]) -> int:
    return sum(not UNSPACED.search(word) for word in found)


def many(count: int, one: str, more: str) -> str:
    """Return the number with its noun: 1 memory, 1,200 memories."""
    return f"{count:,} {one if count == 1 else more}"


def cut(text: str, characters: int) -> str:
    """Shorten the text to at most `characters`, ending with a whole word and an ellipsis.

    A last word that would take up more than half of the result is cut in two.
    """
    if len(text) <= characters:
        return text
    head = text[: characters - 1]
    whole = head.rpartition(" ")[0]
    return (whole if 2 * len(whole) >= characters else head).rstrip() + "…"


def language_of(text: str) -> str:
    """Return the language code whose stop words explain most of the text; the first code wins
    ties."""
    return _language(set(words(text)))


def _language(found: Collection[str]) -> str:
    explained = _explained(found)
    return max(explained, key=lambda code: explained[code])


def _explained(found: Collection[str]) -> dict[str, int]:
    """Return how many of the words are stop words of each language."""
    distinct = set(found)
    return {code: len(stop & distinct) for code, stop in STOP_WORDS.items()}


# The share of the stop words of the best language that another must have to be possible too.
NEARLY = 2 / 3


def languages_of(text: str) -> set[str]:
    """Return the codes of the languages that the text may be in, by their stop words. Chinese is
    known by its characters, and is the only one where there are no stop words of another."""
    explained = _explained(words(text))
    most = max(explained.values())
    chinese = {"zh"} if UNSPACED.search(text) else set()
    if chinese and not most:
        return chinese
    return chinese | {code for code, count in explained.items() if count >= NEARLY * most}


# How people call the place at hand, looked for in the languages that the text may be in.
HERE = {
    "en": late(r"\b(?:here|this (?:repo(?:sitory)?|project|codebase))\b", re.IGNORECASE),
    "de": late(r"\b(?:hier|diese[mns] (?:repo(?:sitory)?|projekt))\b", re.IGNORECASE),
    "fr": late(r"\b(?:ici|ce (?:dépôt|projet|repo))\b", re.IGNORECASE),
    "es": late(r"\b(?:aqu[ií]|este (?:repo(?:sitorio)?|proyecto))\b", re.IGNORECASE),
    "it": late(r"\b(?:qui|quest[oa] (?:repo(?:sitory)?|progetto))\b", re.IGNORECASE),
    "pt": late(r"\b(?:aqui|n?este (?:repo(?:sitório)?|projeto))\b", re.IGNORECASE),
    "zh": late("这里|這裡|这个(?:项目|仓库)"),
}

# In French "hier" is yesterday and "qui" is who: where a text may be French, they are.
ALSO_FRENCH = {"de", "it"}


def says_here(text: str) -> bool:
    """Return whether a text is about the place at hand, by its words."""
    may_be = languages_of(text)
    may_be -= ALSO_FRENCH if "fr" in may_be else set()
    return any(HERE[code].search(text) for code in may_be if code in HERE)


@lru_cache(maxsize=4096)
def folded(text: str) -> str:
    """Normalize a name for comparison: no case, no accents, white space collapsed."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).split())


def estimated_tokens(text: str) -> int:
    """Estimate a model's token count: one per four Latin characters, one per character of any other
    script (above U+2E7F).

    An exact count needs a tokenizer for each model, and tiktoken downloads its tables on first use.
    """
    if text.isascii():
        return (len(text) + 3) // 4
    wide = sum(1 for c in text if ord(c) > 0x2E7F)
    return wide + (len(text) - wide + 3) // 4


def asks(text: str) -> bool:
    """Whether a sentence ends as a question."""
    return text.rstrip(' !."”)').endswith(("?", "？"))


LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Plain:
    """A text made easy to match: lower case, no accents, single spaces."""

    text: str
    places: list[int]  # where each of its characters stands in the original; then the end
    words: frozenset[str]  # with accents and without

    @classmethod
    @lru_cache(maxsize=2)  # each question is read three times in a row
    def of(cls, original: str) -> "Plain":
        kept: list[str] = []
        places: list[int] = []
        for place, character in enumerate(original):
            for plain in _plain(character):
                if plain != " " or kept[-1:] != [" "]:
                    kept.append(plain)
                    places.append(place)
        text = "".join(kept)
        accented = unicodedata.normalize("NFC", original.casefold())
        words = frozenset(LETTERS.findall(text)) | frozenset(LETTERS.findall(accented))
        return cls(text, [*places, len(original)], words)


def _plain(character: str) -> str:
    if character.isspace():
        return " "
    if character in "’‘ʼ´`":
        return "'"
    decomposed = unicodedata.normalize("NFD", character.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))
