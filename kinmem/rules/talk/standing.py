"""How people tell their assistant what to do from now on, by the beginning of a sentence.

What makes it last may stand in the middle: antworte immer auf Deutsch, use tabs from now on. In a
row `|` separates words, and a word may go on where it ends in *.
"""

REST = r"[^.!?:\n]{0,60}?\b"
"""Up to what makes an order last, in the same statement."""

DO = {
    "en": """answer|reply|respond|speak|talk|write|explain|use|call|address|keep|give|format|add
        |show|start|end|greet|ask|run|prefer|cite|quote|translate|begin|include|check|avoid|name|put|sign
        |treat|test""",
    "de": """antworte*|schreib*|sprich|rede*|nutz*|verwende*|benutz*|nenn*|duz*|siez*|gib|halt*
        |erklär*|formatier*|frag*|sag|zeig*|füg*|vermeid*|beginn*|beend*""",
    "fr": """réponds*|répondez*|écris*|écrivez*|parle*|parlez*|utilise*|emploie*|appelle*|donne*
        |garde*|évite*|tutoie*|vouvoie*|explique*|commence*|termine*|ajoute*|cite*""",
    "es": """responde*|respónde*|contesta*|contésta*|escribe*|escríbe*|habla*|hábla*|usa|utiliza
        |llámame|dame|explícame|evita|añade|trata|tutéame""",
    "it": """rispondi*|scrivi*|parla*|usa|utilizza|chiamami|dammi|spiegami|evita|aggiungi""",
    "pt": """responda*|responde*|escreva*|escreve*|fale*|fala|use|usa|utilize|utiliza|chame-me
        |me chame|dê-me|explique|evite|adicione""",
}
"""What an assistant is told to do, as an order is worded."""
LASTING = {
    "en": """(?<!as )always|from now on|in (?:the )?future(?! [a-z])|every time|each time
        |by default|at all times|in (?:all|every|any) (?:of your |future )?{YOURS}""",
    "de": """immer|stets|nur noch|ab jetzt|künftig|in zukunft|grundsätzlich|nie|niemals
        |jedes mal""",
    "fr": """toujours|désormais|dorénavant|uniquement|à l['’]avenir|systématiquement|jamais""",
    "es": """siempre|de ahora en adelante|a partir de ahora|solo|sólo|únicamente|nunca""",
    "it": """sempre|d['’]ora in poi|solo|soltanto|mai""",
    "pt": """sempre|a partir de agora|de agora em diante|só|somente|apenas|nunca""",
}
"""What makes it an order for every time."""
WISH = {
    "en": """i(?:['’]d| would| really)? (?:want|like|love|prefer|need|expect) you to
        |(?:can|could|would|will) you|you (?:should|must|have to)|make sure (?:to|you|that you)
        |be sure to|please""",
    "de": """ich (?:möchte|will|hätte gern)[^.!?\\n]{0,10},? dass (?:du|sie)""",
    "fr": """(?:je (?:veux|voudrais|souhaite|préfère)|j['’]aimerais) que (?:tu|vous)""",
    "es": """(?:quiero|quisiera|prefiero) que""",
    "it": """(?:voglio|vorrei|preferisco) che""",
    "pt": """(?:quero|gostaria|prefiro) que""",
}
WISHED = {
    "de": """immer|stets|nie|niemals|nur|antwort*|schreib*|sprich*|verwend*|nutz*""",
    "fr": """toujours|jamais|répond*|écriv*|utilis*|parl*""",
    "es": """siempre|nunca|respond*|contest*|habl*|escrib*|us*|llam*""",
    "it": """sempre|rispond*|scriv*|us*|parl*""",
    "pt": """sempre|nunca|respond*|escrev*|us*|fal*""",
}
"""What is wished of it behind `dass du`, which may stand later in German."""
YOURS = (
    "(?:answers?|repl(?:y|ies)|responses?|messages?|output|summaries|code|commits?"
    "|sessions?|chats?)"
)
LANGUAGES = """(?:english|german|french|spanish|italian|portuguese|dutch|polish|japanese|chinese
    |korean|russian|turkish|arabic|hindi|swedish|danish|greek|czech)"""
MORE = (
    r"{WISH} (?:please )?(?:always|never|only ever)",
    r"{WISH} (?:answer|reply|respond|speak|talk|write)(?: to)?(?: me)? (?:only )?"
    r"(?:in|with|using|briefly|concisely)(?! (?:this|that|the following|an?)\b)"
    r"(?={REST}(?:in \w+|{YOURS}|words|sentences|points|briefly|concisely))",
    r"(?:answer|reply|respond|speak|talk|write)(?: to)? me (?:only |back )?in {LANGUAGES}",
    r"(?:do not|don['’]t|stop|avoid|no more) (?:ever )?"
    r"(?:us|writ|add|giv|put|includ|end|start|repeat|say|call|apologi)\w*\b"
    r"{REST}(?:in your {YOURS}|again|any ?more|ever)",
    r"keep (?:all |your )?(?:answers|replies|responses|explanations)"
    r" (?:short|brief|concise|under|below|to|simple|long)",
    r"(?:bitte )?antworte (?:mir )?(?:bitte )?(?:nur )?(?:auf \w+|in \w+|kurz|knapp)",
    r"ne (?:réponds|répondez|utilise[zs]?|écris|mets|dis|fais)\b[^.!?\n]{0,20}\bjamais",
    r"répond(?:s|ez)-moi (?:\w+ )?en \w+|respóndeme en \w+|rispondimi in \w+",
    r"(?:non (?:usare|rispondere|scrivere)|no (?:uses|respondas|escribas)"
    r"|n[aã]o (?:use|responda|escreva))\b[^.!?\n]{0,20}\b(?:mai|nunca)",
)


def _any(told: str) -> str:
    parts = (part.strip() for part in told.split("|"))
    return "|".join(part[:-1] + r"[\w-]*" if part.endswith("*") else part for part in parts)


def _orders() -> list[str]:
    wish = f"(?:{_joined(WISH['en'])})"
    found = [rf"(?:{wish} )?(?:{_any(DO['en'])})\b{REST}(?:{_joined(LASTING['en'])})"]
    for language, words in WISHED.items():
        polite = "(?:bitte )?" if language == "de" else ""
        verbs, lasting = _any(DO[language]), _joined(LASTING[language])
        found.append(rf"{polite}(?:{verbs})\b{REST}(?:{lasting})")
        found.append(rf"{_joined(WISH[language])}\b{REST}(?:{_any(words)})")
    found += [one.replace("{WISH}", wish) for one in MORE]
    values = {"{REST}": REST, "{YOURS}": YOURS, "{LANGUAGES}": _joined(LANGUAGES)}
    for name, value in values.items():
        found = [one.replace(name, value) for one in found]
    return found


def _joined(told: str) -> str:
    """On one line."""
    return "".join(line.strip() for line in told.splitlines())


ORDERS = "|".join(_orders())
"""For an expression without regard to case, behind what may begin a sentence."""
