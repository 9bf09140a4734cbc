"""The formats of keys and tokens, and the words that announce a password. Tables only.

Prefixes as the providers document them. Every repetition is bounded, possessive, or begins behind
a character that it cannot contain, so that time grows with the length of a text only.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kinmem.language.lexicon import word_class
from kinmem.language.pattern import late


class Kind(NamedTuple):
    name: str
    hint: str
    """Stands in every text that has one: looked for first, since most texts have none."""
    pattern: re.Pattern[str]
    """What is secret: the group `secret`, else all of it."""
    spaced: bool = True
    """Whether it may have spaces, or stand among other signs."""
    begins: tuple[str, ...] = ()
    """What it may begin with, in small letters; none: found by reading all."""


_FORMATS = r"""
openai key | sk- | sk-(?:proj-|svcacct-|admin-)?[\w-]{20,}+
anthropic key | sk-ant- | sk-ant-[\w-]{20,}+
openrouter key | sk-or- | sk-or-v\d-[0-9a-f]{32,}+
stripe key | k_ | [sr]k_(?:live|test)_[0-9A-Za-z]{16,}+
stripe webhook secret | whsec_ | whsec_[A-Za-z0-9+/=]{24,}+
github token | gh | gh[opusr]_[A-Za-z0-9]{30,}+
github token | github_pat_ | github_pat_\w{40,}+
gitlab token | gl | gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[\w-]{20,}+
slack token | xox | xox[abceoprs]-[A-Za-z0-9-]{10,}+
slack token | xapp- | xapp-\d-[A-Za-z0-9-]{20,}+
slack webhook | hooks.slack.com | hooks\.slack\.com/(?:services|workflows)/[\w/]{30,}+
discord webhook | /api/webhooks/ | discord(?:app)?\.com/api/webhooks/\d{16,20}/[\w-]{50,}+
discord token | . | [A-Za-z0-9][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}
telegram token | :AA | \d{8,10}:AA[\w-]{32,35}
aws key | AKIA | AKIA[A-Z2-7]{16}(?![A-Z0-9])
aws key | ASIA | ASIA[A-Z2-7]{16}(?![A-Z0-9])
aws key | ABIA | ABIA[A-Z2-7]{16}(?![A-Z0-9])
aws key | ACCA | ACCA[A-Z2-7]{16}(?![A-Z0-9])
google key | AIza | AIza[\w-]{35}
google client secret | GOCSPX- | GOCSPX-[\w-]{24,}+
google token | ya29. | ya29\.[\w-]{20,}+
google token | 1//0 | 1//0[\w-]{30,}+
twilio key | SK | SK[0-9a-f]{32}(?!\w)
sendgrid key | SG. | SG\.[\w-]{16,32}\.[\w-]{16,64}
mailgun key | key- | key-[0-9a-f]{32}(?!\w)
mailchimp key | -us | [0-9a-f]{32}-us\d{1,2}(?!\w)
hugging face token | hf_ | hf_[A-Za-z0-9]{30,}+
npm token | npm_ | npm_[A-Za-z0-9]{36,}+
pypi token | pypi-A | pypi-A[\w-]{50,}+
rubygems key | rubygems_ | rubygems_[0-9a-f]{48}
crates.io token | cio | cio[A-Za-z0-9]{32}(?!\w)
nuget key | oy2 | oy2[a-z0-9]{43}(?!\w)
docker token | dckr_ | dckr_[po]at_[\w-]{20,}+
digitalocean token | _v1_ | do[opr]_v1_[0-9a-f]{64}
heroku key | HRKU- | HRKU-[\w-]{30,}+
fly token | fo1_ | fo1_[\w-]{40,}+
fly token | FlyV1 | FlyV1 fm\d_[\w+/=,-]{40,}+
netlify token | nfp_ | nfp_[A-Za-z0-9]{36,}+
vercel token | vc | vc[aikpr]_[A-Za-z0-9]{24,}+
cloudflare key | v1.0- | v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}+
supabase key | sb | sb(?:p|_secret)_[\w-]{20,}+
planetscale token | pscale_ | pscale_(?:tkn|pw|oauth)_[\w.-]{32,}+
neon key | napi_ | napi_[a-z0-9]{40,}+
databricks token | dapi | dapi[0-9a-f]{32}(?:-\d)?
shopify token | shp | shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}
square token | sq0 | sq0(?:atp|csp|idp)-[\w-]{22,}+
braintree token | access_token$ | access_token\$\w{4,12}\$[0-9a-z]{16}\$[0-9a-f]{32}
facebook token | EAA | EAA[A-Za-z0-9]{80,}+
linear key | lin_ | lin_(?:api|oauth)_[A-Za-z0-9]{32,}+
notion token | ntn_ | ntn_[A-Za-z0-9]{40,}+
notion token | secret_ | secret_[A-Za-z0-9]{43}(?!\w)
airtable token | pat | pat[A-Za-z0-9]{14}\.[0-9a-f]{64}
atlassian token | ATATT3 | ATATT3[\w=-]{60,}+
figma token | figd_ | figd_[\w-]{36,}+
postman key | PMAK- | PMAK-[0-9a-f]{24}-[0-9a-f]{30,}+
new relic key | NRAK- | NRAK-[A-Z0-9]{24,}+
sentry token | sntry | sntry[su]_[\w+/=-]{40,}+
grafana token | gl | gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}+
dynatrace token | dt0 | dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}
vault token | hv | hv[bsr]\.[\w-]{24,}+
terraform token | .atlasv1. | [A-Za-z0-9]{14}\.atlasv1\.[\w-]{50,}+
pulumi token | pul- | pul-[0-9a-f]{40}
doppler token | dp. | dp\.(?:pt|st|ct|sa|scim|audit)\.(?:\w{1,30}\.)?[A-Za-z0-9]{40,}+
1password token | ops_eyJ | ops_eyJ[\w+/=-]{60,}+
1password key | A3- | A3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){3,5}[A-Z0-9]{5}(?!\w)
age key | AGE-SECRET-KEY-1 | AGE-SECRET-KEY-1[0-9A-Z]{50,}+
groq key | gsk_ | gsk_[A-Za-z0-9]{40,}+
xai key | xai- | xai-[A-Za-z0-9]{60,}+
perplexity key | pplx- | pplx-[A-Za-z0-9]{40,}+
replicate token | r8_ | r8_[A-Za-z0-9]{37}
fireworks key | fw_ | fw_[A-Za-z0-9]{22,}+
voyage key | pa- | pa-[\w-]{40,}+
jina key | jina_ | jina_[0-9a-f]{32}\w{0,40}
tavily key | tvly- | tvly-(?:dev-|prod-)?[\w-]{28,}+
langsmith key | lsv2_ | lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}
pinecone key | pcsk_ | pcsk_\w{40,}+
azure client secret | 8Q~ | [\w~.-]{3}8Q~[\w~.-]{31,34}
kinmem token | kmk_ | kmk_[0-9a-f]{8}_[\w-]{30,}+
json web token | eyJ | eyJ[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]{16,}+
"""

_HOLDERS = (
    # Everything up to the end line, or to the end of a text that was cut.
    Kind(
        "private key",
        "PRIVATE KEY",
        late(
            r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r".*?(?:-----END [A-Z0-9 ]{4,60}-----|\Z)",
            re.DOTALL,
        ),
    ),
    Kind(
        "private key",
        "PuTTY-User-Key-File",
        late(r"PuTTY-User-Key-File-\d: .*?(?:Private-MAC: [0-9a-f]+|\Z)", re.DOTALL),
    ),
    Kind(
        "credentials in a URL",
        "://",
        late(r"://[^\s/@:'\"<>]{0,100}+:(?P<secret>[^\s/@'\"<>]{1,200}+)@[\w\[.-]"),
    ),
    Kind(
        "authorization header",
        "",
        late(
            r"(?i:\b(?:authorization\W{1,4}(?:bearer|basic|token)|bearer)) {1,3}"
            r"(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)"
        ),
        begins=("authorization", "bearer"),
    ),
    Kind("storage key", "Key=", late(r"(?:Account|SharedAccess)Key=(?P<secret>[\w+/=]{40,}+)")),
)


def _formats() -> Iterator[Kind]:
    for line in _FORMATS.strip().splitlines():
        name, hint, pattern = (part.strip() for part in line.split(" | ", 2))
        yield Kind(
            name,
            hint,
            late(r"(?<![A-Za-z0-9_-])(?:" + pattern + ")", re.ASCII),
            " " in pattern,
        )


KEYS: tuple[Kind, ...] = (*_formats(), *_HOLDERS)
"""Formats that are a key whatever stands around them."""

SHOWN: tuple[Kind, ...] = (
    Kind(
        "password of a command",
        " -p",
        late(
            r"\b(?:(?:mysql|mariadb)\w{0,10}\b[^\n|;&]{0,120}?\s-p|sshpass\s{1,3}-p\s{0,3})"
            r"[\"']?(?P<secret>[^\s\"'-][^\s\"']{2,200}+)"
        ),
        begins=("mysql", "mariadb", "sshpass"),
    ),
    Kind(
        "password on the next line",
        ":",
        late(
            r"(?i:\b(?:pass(?:word|wd|phrase)|secret|token|api_?key))[\"']?:\s?[|>][+-]?"
            r"[ \t]{0,3}\r?\n[ \t]{1,20}(?P<secret>[^\s\"']{3,200}+)"
        ),
        begins=("pass", "secret", "token", "api"),
    ),
    Kind(
        "name and password",
        "/",
        late(
            r"\b(?i:admin|root|administrator|user|login)\s{1,2}/\s{1,2}"
            r"(?=[^\s\d]{0,60}\d)(?=[^\sA-Z]{0,60}[A-Z])(?P<secret>[^\s\"'`,;]{6,60}+)"
        ),
        begins=("admin", "root", "user", "login"),
    ),
    Kind(
        "security code of a card",
        "",
        late(
            r"\b(?i:cvv2?|cvc2?)(?i:\scode)?(?:\s{0,2}(?i:[:=]|is|ist|est|es|lautet))?\s{1,2}"
            r"(?P<secret>\d{3,4})(?![\d.,]?\d)"
        ),
        begins=("cvv", "cvc"),
    ),
    Kind(
        "social security number",
        "-",
        late(r"[0-8](?<![\w-].)\d\d(?<!000|666)-(?!00)\d\d-(?!0000)\d{4}(?![\w-])", re.ASCII),
    ),
    Kind(
        "bank account",
        "",
        late(
            r"[A-Z](?<!\w.)[A-Z]\d\d(?:\s?[A-Z0-9]{4}){3,7}+(?:\s?[A-Z0-9]{1,3})?+(?!\w)", re.ASCII
        ),
    ),
)
"""What is secret where it stands, though it has no format of a key.

What has no word to begin with begins with a sign that can be searched for: nothing else is as fast.
"""

PASSWORD = r"""pass(?:word|wd|phrase|code)|pwd|passwort|kennwort|mot\sde\spasse(?:\swi-?fi)?
|contraseña|clave|parola\sd['’]ordine|senha|palavra-passe|wachtwoord|hasło|пароль|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호"""
NUMBER = r"""puk|pin(?:[\s-]?(?:code|number|nummer|kode))?|geheimzahl|código\spin|code\spin
|(?:door|gate|alarm|safe|security|access|lock|garage|entry|unlock|verification|keypad|one-time|bike|backup
|recovery|tür|türöffner|alarmanlagen)[\s-]?(?:lock[\s-])?code
|c[oó]d(?:e|igo|ice)\s(?:for|of|to|für|für\sdie|de|du|de\sla|del|della|da|do|der)\s(?:the|my|our|der|das|den|die|meine
|la|le|el|il|ma|mon|mi|mia|minha|l['’])?\s?(?:(?:bank|credit|debit)\s)?
(?:door|gate|alarm|safe|lock|garage|house|building|card|phone|tür|tresor|karte|handy|porte|portail|coffre|carte|alarme
|téléphone|tarjeta|puerta|alarma|caja|móvil|carta|porta|cancello|allarme|cassaforte|telefono|cartão|portão|cofre|celular)
|(?:card|phone|sim|karten)[\s-]?(?:pin|code)|(?:secret|geheim)[\s-]?code|code\s(?:secret|confidentiel|bancaire)
|código\ssecreto|codice\ssegreto|пин(?:-?код)?|код\s(?:от|карты|двери|домофона)(?:\s\w{1,15})?|ピン|핀(?:번호)?
|combination|combinaison"""
KEY = r"""api[\s_-]?key|access[\s_-]?key|secret[\s_-]?key|private[\s_-]?key|signing[\s_-]?key
|encryption[\s_-]?key|license[\s_-]?key|client[\s_-]?secret|webhook[\s_-]?secret|app[\s_-]?secret
|shared[\s_-]?secret|(?:auth|access|bearer|refresh|session|bot|api)?[\s_-]?token|secret|credentials?
|(?:wi-?fi|wlan|wpa[23]?|wep|network|netzwerk|router|hotspot|wireless)[\s-]?(?:key|schlüssel)|pre-shared[\s-]key
|clé\s(?:wi-?fi|wep|wpa|réseau|du\swi-?fi)|clave\s(?:del?\s)?(?:wi-?fi|wpa|router)|chiave\s(?:del?\s)?(?:wi-?fi|wpa|rete|router)
|chave\s(?:do\s|da\s)?(?:wi-?fi|wpa|rede|roteador)
|api[\s-]schlüssel|clé\s(?:d['’])?api|clave\s(?:de\s)?api|chiave\s(?:di\s)?api|chave\s(?:de\s|da\s)?api
|密钥|令牌|apiキー|ключ"""
ANCHORS = tuple(
    """pass pwd kennwort contrase clave parola senha palavra wachtwoord hasło пароль
    密码 密碼 密钥 パスワード 暗証番号 비밀번호 pin geheimzahl code código combin key secret token
    credential schlüssel clé chiave chave 令牌 ключ puk codic пин код ピン 핀 口令 암호""".split()
)
"""One of these, in small letters, stands in every name of a secret."""
PASSWORDS = tuple(
    """pass pwd kennwort contrase clave parola senha palavra wachtwoord hasło пароль
    密码 密碼 口令 パスワード 暗証番号 비밀번호 암호""".split()
)
"""Those of passwords."""
OTHER_ANCHORS = ("-u",)
"""Of what has no name: curl -u."""
WITHIN_WORDS = frozenset(
    """code key token secret phrase signature= sig= versicherungsn login фраз
    フレーズ schlüssel passwort kennwort 密码 密碼 密钥 パスワード
    暗証番号 비밀번호 令牌 ключ пароль 口令 암호 ピン 핀""".split()
)
"""Those that may stand behind a letter: apikey."""
IS = r"""is|was|be|=|:|are|ist|lautet|war|est|c['’]est|es|è|é|to|jest|это|—|是|は|が|는|은|为|為
|changed\sto|set\sto"""
FOR = r"""for|of|to|on|at|in|from|fürs?|von|vom|zum|zur|des|der|im|pour|du|de|del|della|per|para
|da|do|dla|voor|van|для|от"""

NO_PASSWORDS = word_class("no_passwords")
"""What a password is said to be without being told."""
EXPRESSIONS = word_class("expressions")
"""What stands for a value in code and in documentation."""
