"""Words of talk that tell nothing by themselves, in six languages. Tables only; see talk.

Each table of phrases is the inside of a regular expression, matched without regard to case.
"""


def _either(*rows: str) -> str:
    return "|".join(rows)


REQUESTS = _either(
    r"(?:can|could|would|will) (?:you|u|i|we)\b",
    r"what (?:do|would) you|what should (?:i|we)|do you (?:think|have|know|recommend)",
    r"how (?:can|do|should|would|could|does|will) (?:i|we|you|it|this|that|they|my)\b",
    r"should (?:i|we)\b|any (?:tips|ideas|advice|suggestions|thoughts|recommendations)\b",
    r"kannst du|k[oö]nntest du|k[oö]nnen sie|hilf mir|zeig mir|peux-tu|pouvez-vous|pourrais-tu",
    r"pourriez-vous|aide-moi|est-ce que tu|puedes|podr[ií]as|ay[uú]dame|puoi|potresti|aiutami",
    r"voc[eê] pode|pode(?:s|ria) (?:me|voc)|me ajud[ae]",
)
ORDERS = r"help me|give me|show me|tell me|let me know|walk me"
"""Requests only where a clause begins: "she offered to help me" is none."""
OFFERS = _either(
    r"(?:would|do) you (?:like|want|need|have any)|shall i|should i|is there anything"
    r"|are you ready",
    r"(?:m[oö]chtest|willst) du|voulez-vous|veux-tu|quieres|vuoi|gostaria",
)
QUESTIONS = _either(
    r"(?:do|did|does|have|has|are|is|was|were|should|shall|may|might|what|how|why|where|when|who)"
    r" (?:you|i|we|it|they|there|this|that|the|my|to|about|do|does|did|would|should|could|is|are)",
    r"what['’]s|how['’]s|which \w+ (?:do|did|should|would|is|are)",
)
WISHES = _either(
    r"please|bitte|s['’]il (?:te|vous) pla[iî]t|por favor|per favore|(?:can|could|would|will) you",
    r"let me know|let['’]s (?:see|start|try|do|go on|get|look|move|keep)",
    r"i(?: would|['’]d)? (?:want|need|like|love) you to",
    r"i(?:['’]d| would) (?:like|love) (?:some|your|to get|to see|to know|to hear|you|help)",
    r"i (?:need|want) (?:your|some|you|help)|i need (?:advice|guidance)",
    r"i (?:just )?want to (?:know|understand|make sure (?:i|it|that|everything|this))",
    r"i(?:['’]m| am) (?:looking for|hoping for) (?:some |your )?(?:help|advice|guidance|tips)",
    r"kannst|k[oö]nntest|k[oö]nnen sie|ich (?:m[oö]chte|will|brauche),? dass du|ich brauche hilfe",
    r"peux-tu|pouvez-vous|puedes|podr[ií]as|puoi|potresti|voc[eê] pode",
)
IMPERATIVES = frozenset(
    """fix write add create make show give explain tell help run check update change delete refactor
    implement generate summarize summarise translate list find open rewrite review look compare
    convert calculate draft suggest provide describe search install build deploy commit push rename
    move remove continue go stop do take keep try see enjoy wish have send read use stay be come
    hang catch talk imagine feel hold good
    mach schreib schreibe zeig zeige erklär erkläre hilf gib lösche füge ändere korrigiere fasse
    écris montre explique aide donne fais corrige ajoute supprime traduis résume
    escribe muestra explica dame haz corrige añade borra traduce resume
    scrivi mostra spiega dammi fai correggi aggiungi cancella traduci riassumi
    escreva mostre explique faça corrija adicione apague traduza""".split()
)
FIRST_PERSON = _either(
    r"i|i['’]\w+|im|ive|my|mine|me|myself|we|we['’]\w+|our|us|ours",
    r"ich|mein\w*|mich|mir|wir|uns|unser\w*|je|j['’]\w+|mon|ma|mes|moi|nous|notre|nos",
    r"yo|mi|mis|soy|estoy|tengo|vivo|trabajo|prefiero|quiero|voy|fui|compr[eé]|he|hemos|somos",
    r"vamos|nuestr[oa]s?|me (?:gusta|encanta|llamo|mud[eé])\w*|nac[ií]",
    r"io|mio|mia|miei|mie|sono|ho|lavoro|preferisco|voglio|vado|abito|abbiamo|siamo|nostr[oa]",
    r"mi (?:piace|chiamo)|eu|meu|minha|meus|minhas|sou|estou|tenho|moro|prefiro|quero|vou",
    r"trabalho|gosto|comprei|n[oó]s",
)
SECOND_PERSON = (
    r"you|your|yours|yourself|you['’]\w+|u|ur|du|dein\w*|dir|dich|ihnen|ihre?|tu|ton|ta|tes|toi"
    r"|vous|votre|vos|t[uú]|te|ti|tuoi?|tua|vives|tienes|prefieres|voc[eê]|seu|sua|hai|vivi"
)
ELIDED = (
    r"(?:just |also |finally |recently )?(?:been|had|got|went|took|met|saw|bought|made|found"
    r"|started|tried|\w{3,}ed|gonna|can['’]t wait|(?!(?:being|having|seeing|getting|sharing|talking"
    r"|taking|making|hearing|knowing|keeping|spending|finding|helping|wishing|looking|sending)\b)"
    r"\w{3,}ing(?! .*\b(?:is|are|can|was|were|makes?|made|must|gives?|brings?|helps?|really|looks?"
    r"|sounds?|seems?|feels?)\b|['’]s))\b"
    r"|(?:(?:anteayer|antes de ayer|ayer|anoche|hoy|ya|luego|después|también|hace \w+ \w+"
    r"|la semana pasada|el \w+ pasado)(?: por la \w+)?,? )?(?:(?:no|me|nos|lo|la|los|las|le"
    r"|les) ){0,2}"
    r"(?!(?:aquí|allí|ahí|así|también|bebé|qué|porqué|café)\b)\w{2,18}(?<!ar)(?<!er)(?<!ir)[éí]\b"
    r"|(?:(?:anteontem|ontem|hoje|já|depois|também|há \w+ \w+|na semana passada"
    r"|n[oa] \w+ passad[oa])"
    r"(?: de manhã| à \w+)?,? )?(?:(?:não|me|nos|lhe) ){0,2}"
    r"(?:(?!(?:b|dr|zw|fr|dab|poliz|vorb|s|h|l|r|taip|pomp|vorr|potr|dovr|avr|sapr)ei\b)\w{2,18}ei"
    r"|(?:vend|perd|part|com|beb|conhec|nasc|aprend|assist|decid|sub|escrev|ca|sa)i|\w{2,18}ámos)\b"
)
COURTESY = _either(
    r"we all|let['’]s(?! (?:go|stick) with)|we can|we could|you can|you never know|one another"
    r"|each other|it takes",
    r"let you know|glad (?:you|to)|see you|talk to you|hear from you|hear (?:all )?about|meet you"
    r"|join you",
    r"for you|to you|about you|with you|of you|you['’]re|you are|your|yourself|wish(?:ing)? you",
    r"i (?:\d+% |totally |completely )?agree|catch(?:ing)? up|take care|good luck|appreciate it",
)
SMALL_QUESTIONS = _either(
    r"how (?:are|have|['’]?re) you(?: been| doing)?.{0,20}|how(?:['’]s| is| has| was)? (?:it"
    r"|everything"
    r"|life|things|your (?:day|week|weekend))(?: going| been| with you)?",
    r"(?:what['’]s|whats) (?:up|new|going on|happening|been going on)(?: with you)?.{0,20}",
    r"(?:and )?(?:how about )?you|what about you|anything (?:new|else)(?: going on)?.{0,20}",
    r"what now|why|really|oh|guess what|you know|right|ready|did you|are you|have you|how|what",
    r"wie geht['’]?s.*|wie geht es.*|[cç]a va.*|comment (?:vas-tu|[cç]a va|allez-vous).*|et toi",
    r"(?:qu[eé] tal|c[oó]mo est[aá]s).*|come (?:stai|va).*|tudo bem.*|como (?:vai|est[aá]s?).*",
)
NUMBERS = (
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million"
    r"|once|twice|first|second|third|zwei|drei|vier|f[uü]nf|deux|trois|quatre|cinq|dos|tres|cuatro"
    r"|cinco|due|tre|quattro|cinque|dois|duas|tr[eê]s|quatro"
)
EMPTY = frozenset(
    """great awesome amazing cool nice good fun super really so lovely wonderful incredible
    fantastic perfect beautiful inspiring inspired inspire important special thing things stuff
    lot lots feel
    feels feeling felt make makes making made way thanks thank proud glad happy hope hoping always
    just like love loved totally definitely absolutely truly yeah keep going get got getting go know
    think time best better kind words mean means meaning much sounds sound looks look see seeing wow
    true real sure life world people everyone someone something anything everything day days bit
    pretty quite such big strong still even well back one ones let come coming take takes taking job
    work done doing give gives giving support supportive supporting help helps helping journey
    positive difference strength passion passionate amazed joy excited exciting thrilled grateful
    thankful appreciate appreciated blessed lucky wish luck moments moment together share sharing
    worth thought wonder talk talking talked chat soon check bye rewarding powerful impact believe
    dream dreams goals goal chance connect connection motivate motivated motivation experience
    experiences gonna wanna gotta kinda sorta can cant don didn isn ll ve re""".split()
)
"""Words of praise, comfort and filling: in most small talk, in few answers."""
VERBS = frozenset(
    """is are was were be am has have had do does did will would can could like love live work want
    ist sind war bin habe hat haben est sont suis ai a es son soy tengo sono ho è sou tenho são m
    ve""".split()
)
"""Without one of these a few words are no sentence."""
