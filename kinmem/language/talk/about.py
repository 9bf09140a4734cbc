"""Of whom or what a statement is, by its first words. Where they leave doubt, it is of nobody."""

from kinmem.language.pattern import Pattern
from kinmem.language.same.amounts import CAPITAL_MONTHS, DAY_NAMES
from kinmem.language.vocabulary import FUNCTION_WORDS
from kinmem.text import STOP_WORDS

KIN = (
    "husband|wife|partner|fianc[eé]e?|boyfriend|girlfriend|spouse|mother|mom|mum|father|dad"
    "|parents?|sister|brother"
    "|siblings?|son|daughter|kids?|child(?:ren)?|baby|twins|aunt|uncle|cousin|niece|nephew|grandma"
    "|grandmother"
    "|grandpa|grandfather|in-laws|boss|manager|colleague|coworker|roommate|neighbou?r|teacher|coach"
    "|(?:best )?friend|dog|cat|puppy|kitten|pet"
)
KIN_ABROAD = (
    "mann|frau|freund(?:in)?|mutter|vater|eltern|schwester|bruder|sohn|tochter|kinder|oma|opa"
    "|chef(?:in)?|hund|katze"
    "|mari|femme|m[eè]re|p[eè]re|s[oœ]e?ur|fr[eè]re|fils|fille|copine|copain|chien|chat"
    "|marido|esposa?|mujer|madre|padre|hermana|hermano|hij[oa]s?|novi[oa]|jef[ea]|perr[oa]|gat[oa]"
    "|moglie|marito|sorella|fratello|figli[oa]?|ragazz[oa]|cane|gatto"
    "|mulher|m[aã]e|pai|irm[aã]o?|filh[oa]s?|namorad[oa]|cachorr[oa]"
)


def _either(*rows: str) -> str:
    return "|".join(rows)


WORD = r"(?-i:[A-ZÀ-Þ][\w’-]*[^\W_])"
NAME = rf"{WORD}(?: (?:(?:van|von|de|da|del|di|der) )?{WORD}){{0,2}}"
MINE = (
    r"my|our|meine?|unsere?|ma|mon|notre|mi|nuestr[oa]|(?:il |la )?(?:mi[oa]|nostr[oa])"
    r"|(?:o |a )?(?:meu|minha|noss[oa])"
)
THE = r"the|our|my|der|die|das|le|la|l['’]|el|il|lo|o|a|los|las|les"
RELATIVE = rf"(?:{KIN}|{KIN_ABROAD}|cão|cadela|gato|landlord|vermieter(?:in)?|housemate|flatmate)"
THING = _either(
    r"deploy(?:s|ment|ments)?|server|releases?|builds?|pipelines?|ci|servers?|databases?|db"
    r"|clusters?"
    r"|backups?|cron ?jobs?|api|backend|frontend|website|web ?site|app|service|services|repo"
    r"|repository|codebase|main branch|branch|gateway|proxy|queue|cache|bucket|vpn|firewall|router"
    r"|printer|wifi|wi-fi|domain|licen[cs]e|contract|lease|rent|project|product|sprints?|stand-?up"
    r"|retro|roadmap|budget|team|office|company|department|code freeze|on-?call|helpdesk|support"
    r"|house|flat|apartment|car|boat|garden|garage|heating|boiler|bike|school|gym|shop|landlord",
    r"datenbank|pipeline|sicherung|drucker|projekt|büro|firma|abteilung|wohnung|haus|auto|garten"
    r"|heizung|miete|vertrag|dienst|zweig|warteschlange",
    r"serveur|base de données|sauvegarde|imprimante|projet|bureau|équipe|entreprise|maison|voiture"
    r"|appartement|jardin|loyer|contrat|déploiement|dépôt|site",
    r"servidor|base de datos|copia de seguridad|impresora|proyecto|oficina|equipo|empresa|casa"
    r"|coche|piso|jardín|alquiler|contrato|despliegue|repositorio|sitio",
    r"stampante|progetto|ufficio|squadra|azienda|macchina|appartamento|giardino|affitto|contratto"
    r"|rilascio|sito",
    r"base de dados|cópia de segurança|impressora|projeto|escritório|equipa|equipe|empresa|carro"
    r"|apartamento|jardim|aluguel|renda|implantação|repositório",
)
"""Things of one's work and home, of which it is told how they are."""
GOES = (
    r"will|must|should|can|got|(?:does|do|is|are|was|has|have)n['’]t|(?-i:[a-z]{2,})(?:s|ed)"
    r"|is|are|was|were|has|had|have|ist|sind|wird|hat|(?-i:[a-zäöüß]{3,})t|est|sont|a|tourne|commence"
    r"|se|si|es|está|son|necesita|usa|è|sono|gira|inizia|é|são|fica|precisa"
)
"""Behind a thing that something is said of; a noun there would make it another thing."""

VERB = r"(?-i:[a-zà-ÿ])"
"""How what is said of a name goes on."""
OF_TWO = Pattern(rf"{WORD} (?:and|und|et|y|e|ed) {WORD} {VERB}")
OF_ONE = Pattern(rf"(?:A (?={WORD} ))?(?P<who>{NAME})(?:['’]s?)? (?!(?:ich|wir|er|man|du)\b){VERB}")
OF_RELATIVE = Pattern(
    rf"(?:a |à |al )?(?:{MINE}) (?:\w+ )?(?P<what>{RELATIVE})(?:,? (?:is |named |called )?"
    rf"(?P<who>{WORD}),?)? (?=[a-zà-ÿ])"
)
OF_THING = Pattern(
    rf"(?:(?:{THE}|{MINE}) ?\b(?P<what>(?:(?!of\b|and\b|in\b)[\w-]+ ){{0,2}}?(?:{THING}))"
    rf"|(?:project|projekt|projet|proyecto|progetto|projeto) (?P<who>{WORD}(?: {WORD})?))"
    rf"(?= (?:{GOES})\b|['’]s )"
)
PLURAL = Pattern(r"\b(deploy|deployment|release|build|pipeline|server|backup|service|sprint)s$")
HE = Pattern(
    r"(?:(?:she|they|it|that|this|er|es|das|il|elle|ils|elles|él|ella|ellos|lui|ele|ela|eles)\b"
    r"|he(?! \w+(?:ado|ido|cho|sto|rto)\b)\b|(?:his|her|its|their|sein\w*|ihr\w*|su|leur) \w)"
)
"""Whoever was named before."""
NEVER = (FUNCTION_WORDS | frozenset().union(*STOP_WORDS.values()) | DAY_NAMES.keys()) - {"mia"}
MONTHS = frozenset(month.casefold() for month in CAPITAL_MONTHS)
HEAD = 200
"""Characters that are looked at."""


def subject(text: str, *, named: bool = True) -> str | None:
    """A name, or what somebody or something is to the speaker; None where it is of two, or nobody
    knows. `named`: it may begin with a name; an order begins with a verb."""
    text = text[:HEAD]
    if found := OF_RELATIVE.match(text):
        return found["who"] or found["what"]
    if found := OF_THING.match(text):
        return found["who"] or PLURAL.sub(r"\1", found["what"])
    found = OF_ONE.match(text)
    if not named or found is None or OF_TWO.match(text) or not _is_name(found["who"]):
        return None
    return found["who"]


def _is_name(text: str) -> bool:
    first = text.split()[0].casefold()
    return first not in NEVER and first not in MONTHS


def refers_back(text: str) -> bool:
    """Whether only what was said before it tells of whom it is: She likes dogs."""
    return HE.match(text) is not None
