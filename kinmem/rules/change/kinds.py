"""Of what kind well-known names are: Postgres is a database, Ericsson an employer. Tables only.

Of two names of one kind, said of the same thing, the second may have taken the place of the first;
of two kinds they are two things. A name that no table has is of no kind. Written with a small
letter here, it is one however it is written; with a capital, only so: Go, Linear, Orange.
"""

import re
import unicodedata
from functools import cache, lru_cache

EMPLOYER = "employer"
VEHICLE = "vehicle"
_NAMES: dict[str, str] = {
    "database": "postgresql postgres mysql mariadb mongodb mongo sqlite cassandra couchdb dynamodb"
    " cockroachdb neo4j duckdb clickhouse sql_server mssql firestore firebase supabase db2"
    " timescaledb influxdb tidb Oracle Snowflake bigquery redshift",
    "cache": "redis valkey memcached keydb Dragonfly Varnish",
    "search": "elasticsearch opensearch solr meilisearch typesense algolia",
    "queue": "rabbitmq kafka sqs NATS activemq pulsar zeromq Celery",
    "ci": "jenkins github_actions gitlab_ci circleci travis_ci Travis teamcity Bamboo buildkite"
    " azure_pipelines woodpecker",
    "hosting": "aws azure gcp google_cloud hetzner heroku digitalocean ovh linode vercel netlify"
    " fly.io cloudflare ionos scaleway amazon_web_services",
    "repository": "github gitlab bitbucket gitea codeberg sourceforge forgejo",
    "language": "python java kotlin scala javascript typescript Ruby php perl c# c++ golang Go"
    " Rust Swift elixir haskell clojure cobol fortran",
    "frontend": "React vue angular svelte Ember jquery next.js nuxt htmx",
    "backend": "django flask fastapi Rails laravel spring_boot Spring Express.js symfony node.js",
    "editor": "vim neovim emacs vs_code vscode visual_studio_code sublime_text Sublime Atom Helix"
    " intellij pycharm webstorm Zed notepad++ Eclipse Cursor xcode android_studio",
    "chat": "slack microsoft_teams ms_teams Teams mattermost discord zulip rocket.chat telegram"
    " whatsapp Signal threema",
    "meeting": "zoom google_meet webex jitsi bigbluebutton skype",
    "tracker": "jira Linear trello asana github_issues youtrack redmine clickup monday.com basecamp"
    " bugzilla Planner todoist",
    "notes": "Confluence Notion obsidian evernote onenote logseq joplin sharepoint google_docs",
    "browser": "firefox Chrome Safari Edge Brave Vivaldi Opera chromium",
    "system": "Windows linux ubuntu debian fedora macos linux_mint red_hat centos alpine suse",
    "phone": "android iphone Pixel Galaxy fairphone oneplus xiaomi ",
    "computer": "thinkpad macbook xps Surface chromebook zenbook ideapad imac",
    "infrastructure": "ansible terraform Puppet Chef saltstack pulumi opentofu cloudformation",
    "containers": "kubernetes k8s docker_swarm Nomad openshift podman docker",
    "packages": "npm Yarn pnpm pip Poetry pipenv conda",
    "build": "maven gradle bazel cmake webpack Vite Parcel",
    "web server": "nginx apache caddy traefik haproxy",
    "monitoring": "prometheus datadog new_relic nagios zabbix",
    "tests": "pytest unittest jest vitest mocha cypress playwright selenium",
    "music": "spotify apple_music deezer Tidal youtube_music qobuz",
    "streaming": "netflix disney+ amazon_prime prime_video hulu hbo_max",
    "payment": "Stripe paypal adyen klarna braintree mollie",
    "mail": "gmail outlook protonmail proton_mail fastmail posteo gmx thunderbird",
    "assistant": "chatgpt gpt-4 gpt-4o gpt-5 copilot Gemini Mistral llama",
    "bank": "barclays hsbc monzo revolut n26 deutsche_bank sparkasse ING santander bbva unicredit"
    " lloyds natwest commerzbank dkb caixabank bnp_paribas credit_agricole societe_generale"
    " intesa_sanpaolo caixa_geral millennium_bcp volksbank starling comdirect boursorama",
    "provider": "vodafone telekom o2 Orange movistar TIM t-mobile verizon at&t MEO NOS iliad"
    " bouygues wind_tre sfr Free jazztel congstar",
    VEHICLE: "volkswagen vw audi bmw mercedes Opel Ford fiat renault peugeot citroen dacia skoda"
    " Seat toyota honda mazda nissan hyundai kia volvo tesla porsche subaru suzuki mitsubishi jeep"
    " Mini chevrolet alfa_romeo lancia Golf Polo Passat Corsa Astra Civic Clio Zoe megane twingo"
    " Panda Punto ibiza Leon fabia octavia Yaris corolla Prius Fiesta Focus polestar byd",
    EMPLOYER: "ericsson nokia siemens siemens_healthineers bosch sap ibm microsoft google amazon"
    " Apple Meta facebook netflix spotify tesla Intel nvidia amd cisco Dell HP oracle salesforce"
    " adobe Uber airbnb Stripe paypal ebay zalando volkswagen vw porsche bmw audi daimler mercedes"
    " volvo scania ikea h&m philips asml Shell BP Total totalenergies bayer basf Merck pfizer"
    " novartis roche sanofi astrazeneca nestle unilever danone airbus boeing lufthansa ryanair"
    " deutsche_bahn telekom vodafone Orange telefonica deloitte pwc kpmg EY accenture capgemini"
    " mckinsey bcg bain goldman_sachs jpmorgan hsbc barclays santander bbva ing allianz AXA"
    " Generali unicredit aldi lidl tesco rewe edeka carrefour auchan decathlon leroy_merlin"
    " mercadona zara inditex Mango el_corte_ingles Indra repsol iberdrola correos endesa renault"
    " peugeot stellantis michelin thales safran dassault edf la_poste Free fiat ferrari enel eni"
    " Leonardo barilla pirelli poste_italiane luxottica edp galp sonae worten meo nos ctt jeronimo"
    " samsung sony toyota honda panasonic huawei xiaomi alibaba tencent bytedance tiktok LG zoom"
    " slack github gitlab atlassian shopify dropbox mozilla openai anthropic deepmind palantir"
    " twitter linkedin booking.com adidas nike Puma miele Continental thyssenkrupp rheinmetall"
    " infineon Zeiss dhl UPS fedex walmart costco starbucks mcdonald's coca-cola pepsico disney"
    " general_electric GE general_motors GM Ford lockheed raytheon qualcomm Arm broadcom micron"
    " celonis personio n26 klarna revolut monzo Wise delivery_hero hellofresh trivago bbc cnn"
    " swisscom UBS credit_suisse ABB novo_nordisk maersk Lego carlsberg equinor telenor statoil"
    " electrolux sandvik Saab tietoevry Kone wartsila rolls-royce Vestas orsted bnp_paribas"
    " boeing mahle schaeffler sartorius fresenius tui Sixt",
}
_WORDS: dict[str, str] = {
    "database": "database databases db datenbank datenbanken base donnees base datos dati dados",
    "ci": "ci pipeline pipelines builds",
    "hosting": "cloud hosting host provider hoster",
    "repository": "repo repository repos repositories code depot repositorio",
    "language": "language sprache langage lenguaje linguaggio linguagem",
    "frontend": "framework",
    "backend": "framework",
    "editor": "editor ide",
    "chat": "chat messenger messaging",
    "meeting": "calls meetings video",
    "tracker": "issues tickets tasks board tracker",
    "notes": "notes wiki docs notizen",
    "browser": "browser navigateur navegador",
    "system": "os system betriebssystem",
    "phone": "phone user handy smartphone telefon telephone movil telefono cellulare telemovel",
    "computer": "laptop computer notebook portatil portatile rechner ordinateur ordenador",
    "bank": "bank account konto banque compte banco cuenta banca conto conta girokonto",
    "provider": "provider anbieter mobile mobilfunk contract vertrag operateur operador gestore",
    VEHICLE: "car auto wagen voiture coche carro macchina automovel",
    EMPLOYER: "employer job company team role position firma arbeitgeber stelle employeur boite"
    " entreprise empresa trabajo empleo azienda lavoro trabalho emprego",
}
_SUFFIX = r"[A-Z][\w&-]{1,20} (?:Inc|GmbH|AG|Ltd|LLC|Corp|Labs|Technologies|Consulting|Holdings?)"


def kinds_in(text: str) -> dict[str, frozenset[str]]:
    """By kind, the well-known names of a text in small letters. Never raises."""
    return dict(_kinds_in(text))


@lru_cache(maxsize=2048)
def _kinds_in(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    plain = bare(text)
    found: dict[str, set[str]] = {}
    for match in _all().finditer(plain):
        name = match[0]
        for kind in _kinds_of(name):
            found.setdefault(kind, set()).add(name.casefold())
    return tuple((kind, frozenset(names)) for kind, names in found.items())


def bare(text: str) -> str:
    """Without accents, in the letters it was written in."""
    parts = unicodedata.normalize("NFD", text.replace("’", "'"))
    return "".join(one for one in parts if not unicodedata.combining(one))


def words_of(kind: str) -> frozenset[str]:
    """Nouns for things of that kind, folded."""
    return frozenset(_WORDS.get(kind, "").split())


def of_other_kinds(known: str, new: str) -> bool:
    """Whether they name things of which none is of the other's kind: a database, a cache."""
    ours, theirs = (kinds_in(text).keys() - {EMPLOYER, "provider"} for text in (known, new))
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def names_of(kind: str) -> frozenset[str]:
    """Single words by which a thing of that kind is named, in small letters."""
    return frozenset(name.casefold() for name in _NAMES[kind].split() if "_" not in name)


def asked_for(question: str) -> frozenset[str]:
    """The kinds of which a question asks for a name: which database do we use? Not employers: they
    are asked for by work."""
    asked = _ASKED.search(bare(question).casefold())
    nouns = frozenset(asked["what"].split()) if asked else frozenset()
    return frozenset(kind for kind in _WORDS if kind != EMPLOYER and nouns & words_of(kind))


_ASKED = re.compile(
    r"\b(?:which|what|welche[rsnm]?|was fur (?:ein\w* )?|quel(?:le)?s?|que|cual(?: es)?|quale?|"
    r"qual|che)"
    r" (?P<what>\w+(?: \w+){0,2})"
)


@lru_cache(maxsize=512)
def _kinds_of(name: str) -> frozenset[str]:
    return frozenset(kind for kind, pattern in _each().items() if pattern.fullmatch(name))


@cache
def _each() -> dict[str, re.Pattern[str]]:
    return {kind: re.compile(_pattern(names)) for kind, names in _NAMES.items()}


@cache
def _all() -> re.Pattern[str]:
    return re.compile(_pattern(" ".join(_NAMES.values())))


def _pattern(names: str) -> str:
    either = sorted(set(names.split()), key=len, reverse=True)
    spelt = "|".join(f"(?{'-' * one[0].isupper()}i:{_spelt(one)})" for one in either)
    return rf"(?<![\w-])(?:{spelt})(?!\w|-\w)"


def _spelt(name: str) -> str:
    return re.escape(name).replace("_", "[ -]")


def _only_employers() -> str:
    """Those that are nothing else that one may move to: Slack is a chat as well."""
    others = {
        name.casefold()
        for kind, names in _NAMES.items()
        if kind not in (EMPLOYER, VEHICLE)
        for name in names.split()
    }
    short = "|".join(sorted(name for name in others if name.isalpha() and len(name) <= 5))
    alone = [name for name in _NAMES[EMPLOYER].split() if name.casefold() not in others]
    capitals = (
        rf"(?!(?:USA?|UK|UAE|NYC|LA|SF|DC|EU|DR|NZ|(?i:{short}))\b)[A-Z]{{2,5}}(?:&[A-Z])?(?![\w-])"
    )
    return rf"(?:{_pattern(' '.join(alone))}|(?-i:{_SUFFIX}\b)|(?-i:{capitals}))"


EMPLOYERS = _only_employers()
"""A pattern of names that are employers' for certain, where one is said to have moved to them."""
NAMED = _pattern(" ".join(_NAMES.values()))
"""A pattern of all names that have a kind: of none of them one says that somebody lives there."""
