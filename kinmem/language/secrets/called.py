"""What is secret by what it is called: accounts, identities, backup codes, logins, seed phrases,
cookies, signatures. Tables, and what in each makes a value one. Languages stand side by side.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from kinmem.language.lexicon import word_class
from kinmem.language.pattern import late
from kinmem.language.secrets.kinds import NO_PASSWORDS
from kinmem.language.secrets.sayings import bare, describes, is_random, stands_for_one
from kinmem.text import STOP_WORDS

Span = tuple[int, int]


class Called(NamedTuple):
    begins: tuple[str, ...]
    """What the name may begin with, in small letters."""
    pattern: re.Pattern[str]
    secrets: Callable[[re.Match[str]], Iterator[Span]]
    """Where in a match they stand."""


_IS = (
    r"(?:\s{0,2}(?:is|are|was|ist|sind|lautet|lauten|est|sont|es|son|è|é|sono|são|это|—|-|=|:|\#"
    "|是|为|為|は|が|는|은|이|가))"
)
_DIGIT = (
    "zero|oh|one|two|three|four|five|six|seven|eight|nine|null|eins|zwei|drei|vier|fünf|sechs|sieben"
    "|acht|neun|zéro|un|deux|trois|quatre|cinq|sept|huit|neuf|cero|uno|dos|tres|cuatro|cinco|seis"
    "|siete|ocho|nueve|due|tre|quattro|cinque|sei|sette|otto|nove|um|dois|três|quatro|sete|oito"
)
_FLAGS = re.IGNORECASE | re.VERBOSE


def _behind(names: str) -> str:
    """Behind one of the words; looked for from their end, which is rarer than their beginning."""
    return "|".join(rf"(?<={name}[\s-])|(?<={name})" for name in names.split())


def _if(is_secret: Callable[[str], bool]) -> Callable[[re.Match[str]], Iterator[Span]]:
    def spans(found: re.Match[str]) -> Iterator[Span]:
        value = bare(found["secret"])
        if value and not stands_for_one(value) and is_secret(value):
            yield found.start("secret"), found.start("secret") + len(value)

    return spans


def _digits(least: int) -> Callable[[str], bool]:
    return lambda value: sum(map(str.isdigit, value)) >= least


def _is_code(value: str) -> bool:
    """8271-2231, Dyah-M9xi-RaFy, several of them; no word has such a form."""
    return all(
        any(map(str.isdigit, one)) or ("-" in one and one.lower() != one)
        for one in re.split(r"[\s,;]+", value)
    )


_SYMBOL = re.compile(r"[!@#$%^&*+=?]")
_MEASURE = re.compile(r"[\d.,/:x-]+[a-zA-Zµ%°/²³]{0,6}")


def is_strong(value: str) -> bool:
    """Whether it mixes what only passwords mix, and is no file, test or measure."""
    if re.search(r"[/\\]|\.\w{1,5}$", value) or value.casefold().startswith("test"):
        return False
    kinds = [str.isdigit, str.isupper, str.islower]
    mixed = sum(any(map(kind, value)) for kind in kinds) + bool(_SYMBOL.search(value))
    return mixed >= 3 or (mixed == 2 and any(map(str.isdigit, value)) and len(value) >= 8)


def _is_short(value: str) -> bool:
    """Behind `PW:`, which stands for other things too."""
    return is_random(value) and not _MEASURE.fullmatch(value) and is_strong(value)


MNEMONIC = 9
"""Words from which a list may have some that are in every text: about, above."""
COMMON_SHARE = 0.34
SHORTEST_WORDS = 3


def _is_mnemonic(value: str) -> bool:
    """Words that make no sentence: 12 or 24 of a list, correct horse battery staple."""
    said = re.findall(r"[^\W\d_]{2,20}", value.casefold())
    common = sum(word in STOP_WORDS["en"] for word in said)
    if len(said) >= MNEMONIC:
        return common <= COMMON_SHARE * len(said)
    return len(said) > SHORTEST_WORDS and not common and _RULES.isdisjoint(said)


_RULES = word_class("password_rules")
_COMMON = frozenset().union(*STOP_WORDS.values())


def _is_about(said: list[str]) -> bool:
    """Whether words tell of a password instead of being one."""
    known = NO_PASSWORDS | _COMMON | _RULES
    return any(word in known or describes(word) for word in said)


def _is_phrase(value: str) -> bool:
    """blue moon river: plain words that say nothing."""
    said = value.casefold().split()
    return len(said) >= SHORTEST_WORDS and not _is_about(said)


_COOKIE = late(r"(?<![\w.-])(?P<name>[\w.-]{1,60}+)=(?P<secret>[^;\s\"',]{8,4096}+)")
_SESSION = late(r"sess|auth|sid|token|csrf|jwt|login|remember", re.IGNORECASE)
LONG = 16


def _cookies(found: re.Match[str]) -> Iterator[Span]:
    """The values that let somebody in; not what a site keeps of colours and languages."""
    for one in _COOKIE.finditer(found.string, *found.span("values")):
        value = one["secret"]
        is_session = _SESSION.search(one["name"]) or len(value) >= LONG
        if is_session and is_random(value) and not stands_for_one(value):
            yield one.span("secret")


CALLED: tuple[Called, ...] = (
    Called(
        (
            "account",
            "routing",
            "code",
            "konto",
            "compte",
            "cuenta",
            "conto",
            "conta",
            "счёт",
            "счет",
        )
        + ("银行", "銀行", "口座", "계좌"),
        late(
            rf"""(?:account\s?(?:number|no\.?|nr\.?|\#)|(?<=bank\s)account
            |routing\s?(?:number|no\.?)|(?<=sort\s)code|konto(?:nummer|nr\.?)
            |(?:(?<=numéro\sde\s)|(?<=n°\sde\s))compte(?:\sbancaire)?|cuenta(?:\s(?:bancaria|corriente))?
            |conto(?:\s(?:corrente|bancario))?|conta(?:\s(?:bancária|corrente))?
            |[银銀]行(?:账[号户]|帳號|口座)|口座番号|계좌\s?번호|сч[её]та?)
            (?:\s(?:at|for|bei|chez|en|of)\s[^.!?\n:=\d]{{1,30}}?)?{_IS}?\s{{0,3}}
            (?P<secret>\d(?:[ -]?\d){{5,19}}+)(?![A-Za-z\d_-]|[.,]\d)""",
            _FLAGS,
        ),
        _if(_digits(6)),
    ),
    Called(
        tuple("social ssn versicherungsn steuer fiscale pass pasaporte".split()),
        late(
            rf"""(?:social\ssecurity(?:\s(?:number|no\.?|\#))?|ssn|(?<=tax\s)id(?:\snumber)?
            |(?:(?<=sozial)|(?<=renten))versicherungsn(?:ummer|r\.?)|steuer-?(?:id|identifikations)(?:nummer)?
            |(?:(?<=sécurité\s)|(?<=seguridad\s)|(?<=segurança\s))sociale?|(?<=codice\s)fiscale
            |passport(?:\s(?:number|no\.?|\#))?|passnummer|(?<=\sde\s)(?:passeport|pasaporte|passaporte)
            |(?<=\sdi\s)passaporto)
            {_IS}?\s{{0,3}}(?P<secret>[A-Z]{{0,6}}\d(?:[ .-]?[A-Z\d]){{6,16}}+)(?![\w-])""",
            _FLAGS,
        ),
        _if(_digits(6)),
    ),
    Called(
        ("code", "código", "codic", "код", "代码", "コード", "코드"),
        late(
            rf"""(?:(?:{
                _behind(
                    "backup recovery emergency scratch one-time 2fa mfa restore"
                    " wiederherstellungs notfall"
                )
            })codes?
            |codes?\sde\s(?:récupération|secours)|códigos?\sde\s(?:recuperación|respaldo|recuperação)
            |codic[ei]\sdi\s(?:recupero|backup)|(?:(?<=резервный\s)|(?<=резервные\s))код\w{{0,2}}
            |(?:(?<=备份)|(?<=恢复))代码|(?<=バックアップ)コード|(?:(?<=복구\s)|(?<=백업\s)|(?<=복구)|(?<=백업))코드)
            (?:\s(?:for|für|pour|para|per|von)\s[^.!?\n:=]{{1,30}}?)?{_IS}\s{{0,3}}
            (?P<secret>[\w-]{{6,40}}+(?:[\s,;]{{1,3}}(?=[\w-]{{0,39}}\d)[\w-]{{6,40}}+){{0,19}})""",
            _FLAGS,
        ),
        _if(_is_code),
    ),
    Called(
        ("login", "credential", "zugang", "identifiant", "账户", "логин", "ログイン", "로그인"),
        late(
            rf"""(?:login|credentials|zugang(?:sdaten)?|identifiants?|账户|логин|ログイン|로그인)
            (?:\s(?:for|to|at|für|zu|pour|de|para|per|a)\s[^.!?\n:=/]{{1,40}}?)?
            {_IS}\s{{0,3}}[\w.@+-]{{2,60}}+(?:\s{{0,2}}(?:/|\||:|;|,|and|und|et|y|e)\s{{1,2}}|[/:|])
            (?P<secret>[^\s"'`<>]{{6,60}}+)""",
            _FLAGS,
        ),
        _if(is_strong),
    ),
    Called(
        ("pw", "pass"),
        late(
            r"""(?<![\w.-])(?:(?-i:pw|PW|Pw)|(?-i:pass|Pass))\s{0,2}(?::|=|\bis\b|\bist\b)\s{0,3}["'`]?
            (?P<secret>[^\s"'`,;<>()]{6,100}+)""",
            _FLAGS,
        ),
        _if(_is_short),
    ),
    Called(
        (
            "phrase",
            "frase",
            "words",
            "mnemonic",
            "助",
            "フレーズ",
            "시드",
            "복구",
            "니모닉",
            "фраз",
        ),
        late(
            rf"""(?:(?:(?<=seed[\s-])|(?<=recovery[\s-])|(?<=mnemonic[\s-])|(?<=secret[\s-])|(?<=backup[\s-])
            |(?<=wallet[\s-])|(?<=word[\s-]))phrase|(?<=pass)phrase|(?<=wiederherstellungs)phrase
            |(?:(?<=seed\s)|(?<=recovery\s)|(?<=wallet\s)|(?<=backup\s)|(?<=\b12\s)|(?<=\b24\s))words|mnemonic
            |phrase\s(?:de\srécupération|mnémonique|secrète)|frase\s(?:semilla|de\srecuperación|mnemónica|di\srecupero
            |mnemonica|de\srecuperação|mnemônica)|助[记記][词詞]|フレーズ|(?:시드|복구)\s?(?:문구|구문)|니모닉
            |фраз\w{{1,2}}(?:\sвосстановления)?)
            (?:\s(?:for|of|für|pour|para|per|von|de)\s[^.!?\n:=]{{1,40}}?)?{_IS}\s{{0,3}}["'`“„]?
            (?P<secret>(?:\d{{1,2}}[.):]\s?)?[^\W\d_]{{2,20}}+
            (?:[\s,;-]{{1,3}}(?:\d{{1,2}}[.):]?\s?)?[^\W\d_]{{2,20}}+){{3,24}}+)""",
            _FLAGS,
        ),
        _if(_is_mnemonic),
    ),
    Called(
        ("pass", "kennwort", "contrase", "senha"),
        late(
            rf"""(?:passw(?:ord|ort)|passphrase|kennwort|(?<=mot\sde\s)passe|contraseña|senha){_IS}\s{{1,3}}
            (?P<secret>[^\W\d_]{{2,20}}+(?:\s[^\W\d_]{{2,20}}+){{2,5}}+)(?=\s*(?:[.!;]|\n|\Z))""",
            _FLAGS,
        ),
        _if(_is_phrase),
    ),
    Called(
        ("pin", "code", "código", "codic", "geheimzahl"),
        late(
            rf"""(?:pin|(?:door|alarm|safe|card)\scode|code|código|codice|geheimzahl)(?:\s\w{{1,12}}){{0,3}}?{_IS}\s{{1,3}}
            (?P<secret>(?:{_DIGIT})(?:[\s,-]{{1,2}}(?:{_DIGIT})){{3,7}})\b""",
            _FLAGS,
        ),
        _if(bool),
    ),
    Called(
        ("signature=", "sig=", "credential", "token"),
        late(
            r"""(?:(?:(?<=[?&])|(?<=x-amz-)|(?<=x-goog-))(?:signature|sig|credential|security-token)|(?<=security-)token)=
            (?P<secret>[\w%+/=.~-]{16,4096}+)""",
            _FLAGS,
        ),
        _if(is_random),
    ),
    Called(
        ("cookie",),
        late(r"""cookie2?["']?\s?[:=]\s?["']?(?P<values>[^\r\n]{8,8192})""", _FLAGS),
        _cookies,
    ),
)
"""By how a name begins; a pattern is tried only there."""
BEGINNINGS = tuple(dict.fromkeys(word for kind in CALLED for word in kind.begins))
