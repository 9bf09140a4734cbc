"""What kind of memory a sentence is, by its wording. English first, five languages beside it."""

from kinmem.models import Category
from kinmem.rules.pattern import Pattern
from kinmem.rules.talk.done import DONE, MOVED, is_over
from kinmem.rules.talk.standing import ORDERS

Cue = tuple[Category, float, Pattern]
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
MY_ABROAD = "meine?|unsere?|mon|ma|mes|mi|mis|mi[ao]|il mio|la mia|meu|minha|o meu|a minha"
VERY = "(?:so |really |very |a bit |a little |pretty |quite |feeling |just |too )*"


def _cue(category: Category, confidence: float, patterns: str) -> Cue:
    return category, confidence, Pattern(rf"\b(?:{patterns})")


STANDING = Pattern(
    r"\W*(?:please |bitte |hey,? |and |also,? "
    r"|(?:dear )?(?:assistant|claude|chatgpt|gemini|copilot)[,:] )*"
    r"(?:(?:can|could|would|will) you (?:please |also )*"
    r"(?:remember|note) that|always(?! (?:happy|glad|great|nice|a pleasure"
    r"|good|here|been|there|fun|love|look)\b)|never(?! (?:mind|been|thought|knew|heard|had|seen"
    r"|tried|give|gave|lose|stop|a dull|too|know)\b)|from now on|whenever|every time i"
    r"|remember(?! when\b| you\b| the time\b)|don['’]t forget"
    r"|do not forget|note that|keep in mind|for future reference|fyi|just so you know"
    r"|merke? dir|denke? daran|vergiss nicht|ab jetzt|von nun an|ab sofort|immer|niemals"
    r"|souviens-toi|rappelle-toi|n['’]oublie pas|retiens|d[eé]sormais|toujours"
    r"|[aà] partir de maintenant"
    r"|recuerda|no olvides|ten en cuenta|a partir de ahora|siempre|nunca"
    r"|ricorda(?:ti)?|non dimenticare|tieni presente|d['’]ora in poi|sempre|mai"
    r"|lembre?(?:-se|-te)?|n[aã]o (?:te )?esque[cç]as?|a partir de agora"
    rf"|{ORDERS})\b"
)
"""A wish or a fact that is told to be kept."""
ASKED_TO_KEEP = Pattern(
    r"\W*(?:please |bitte |hey,? |(?:can|could|would|will) you )*(?:remember(?: that)?"
    r"|don['’]t forget(?: that)?"
    r"|do not forget(?: that)?|note that|keep in mind(?: that)?"
    r"|for future reference|fyi|just so you know|merke? dir(?=[:,](?! dass))"
    r"|souviens-toi qu[e']|rappelle-toi qu[e']|n['’]oublie pas qu[e']|retiens qu[e']"
    r"|recuerda(?: que)?|no olvides que|ten en cuenta que"
    r"|ricorda(?:ti)?(?: che)?|non dimenticare che|tieni presente che|lembre?(?:-se"
    r"|-te)?(?: de)? que|n[aã]o (?:te )?esque[cç]as? (?:de )?que)[,:]?\s+(?!to\b|me\b)"
)
CORRECTS = Pattern(
    r"\W*(?:(?:no|nope|nein|non|n[aã]o|sorry|oops|wait)\b[,.!]* )*(?:actually|correction|i meant"
    r"|i mean|that['’]s (?:wrong|not right|incorrect)|scratch that"
    r"|eigentlich|ich meinte|korrektur|en fait|je voulais dire|en realidad|quise decir"
    r"|in realt[aà]|volevo dire|na verdade|quis dizer)\b"
    r"|.*\b(?:no longer|not? \w+ any ?more|anymore|nicht mehr|ne \w+ plus|ya no|non \w+ pi[uù]"
    r"|j[aá] n[aã]o|n[aã]o \w+ mais)\b"
)
TO_DO = Pattern(
    r"\W*(?:please )?(?:remember|don['’]t forget|do not forget) to\b(?! (?:always|never)\b)"
)
HEDGED = Pattern(
    r"\b(?:maybe|might|perhaps|i think|i guess|probably|not sure|vielleicht|vermutlich|peut-être"
    r"|quiz[aá]s?|forse|talvez)\b"
)

LIKES = Pattern(
    r"\b(?:likes|loves|hates|prefers|enjoys|dislikes|adores|can['’]t stand|mag|liebt|hasst"
    r"|bevorzugt"
    r"|aime|aiment|adore|déteste|préfère|gustan?|encantan?|odian?|prefiere|piace|piacciono|amano?"
    r"|preferisce|gosta|adora|odeia|prefere)\b"
)
CUES: tuple[Cue, ...] = (
    _cue(
        "decision",
        0.8,
        r"(?:i|we)(?:['’]ve| have)?(?: just| finally| also)? (?:decided|chose|chosen|picked"
        r"|settled on|agreed|opted|went with|committed to)\b"
        r"|(?:i|we)(?:['’]ll| will) (?:go|stick) with|let['’]s (?:go|stick) with"
        r"|(?:my|our|the) decision (?:is|was)|made up my mind|made the decision"
        r"|(?:habe|haben|hab) .{0,60}(?:entschieden|beschlossen|vereinbart)"
        r"|wir (?:nehmen|bleiben bei)|ich entscheide mich|(?:uns|mich) .{0,60}entschieden"
        r"|(?:j['’]ai|on a|nous avons) (?:d[eé]cid[eé]|choisi|convenu|opt[eé])"
        r"|je me suis d[eé]cid[eé]"
        r"|(?:he|hemos) (?:decidido|elegido|acordado)|decid[ií](?:mos)?\b|eleg[ií](?:mos)?\b"
        r"|nos quedamos con"
        r"|(?:ho|abbiamo) (?:deciso|scelto|concordato|optato)"
        r"|escolh(?:i|emos)\b|optei\b|ficou decidido",
    ),
    _cue(
        "identity",
        0.85,
        r"my name(?:['’]s| is)|(?:i['’]m|i am) called|call me [A-Z]"
        r"|(?:i['’]m|i am) (?:originally )?from\b|i was born|(?:i['’]m|i am) \d\d\b|years old"
        r"|(?:i|we) live (?:in|at|near|on)\b|i work (?:as|at|for|in)\b"
        r"|my (?:birthday|age|nationality|pronouns|profession|job title|e-?mail|phone|address"
        r"|native language|mother tongue|hometown)\b"
        r"|(?:i['’]m|i am) (?:an? )(?!bit\b|little\b|lot\b|huge\b|big\b|fan\b|few\b|total\b"
        r"|firm\b)(?:\w+ ){0,3}?(?:\w+(?:er|or|ist|ian|ant|ect)|nurse|chef|student|pilot"
        r"|single (?:mom|dad|parent)|mother|father|vegan|vegetarian|native)\b"
        r"|(?:i['’]m|i am) (?:vegan|vegetarian|allergic|diabetic|transgender|gay|lesbian|retired"
        r"|left-handed|colou?r-?blind)"
        r"|ich hei(?:ß|ss)e|mein name"
        r"|ich bin (?:eine?|\d+|in \w+ geboren|aus|allergisch|vegetarier|veganer)\b|ich komme aus"
        r"|(?:ich|wir) (?:wohnen?|leben?) (?:in|bei|auf)|ich arbeite (?:als|bei|f[uü]r)"
        r"|mein geburtstag|ich bin \w+ jahre alt"
        r"|je m['’]appelle|mon (?:nom|pr[eé]nom|anniversaire)|j['’]ai \d+ ans"
        r"|je suis (?:n[eé]e?|une?|allergique|v[eé]g[eé]tari\w+)\b|j['’]habite|je vis [aà]\b"
        r"|je viens de|je travaille (?:comme|chez|[aà])"
        r"|me llamo|mi (?:nombre|cumplea[nñ]os)|tengo \d+ a[nñ]os|soy (?!feliz)\w+|nac[ií] en"
        r"|vivo (?:en|a|em)\b|trabajo (?:como|en|para)"
        r"|mi chiamo|il mio (?:nome|compleanno)|ho \d+ anni"
        r"|sono (?:di|una?|nat[oa]|allergic[oa]|vegetarian[oa])\b|abito (?:a|in)\b"
        r"|lavoro (?:come|in|per)"
        r"|(?:o )?meu nome|me chamo|chamo-me|tenho \d+ anos|sou (?:de|uma?|al[eé]rgic[oa]|\w+)\b"
        r"|nasci em|moro (?:em|n[oa])|trabalho (?:como|em|n[oa])",
    ),
    _cue(
        "preference",
        0.8,
        r"i(?:['’]d| would)? (?:\w+ )?(?:prefer|rather|enjoy|adore|hate|dislike|love"
        r"|like)(?! (?:you|your|that (?:you|idea)|to (?:go|see|try|know|get|hear|visit))\b)"
        r"|(?:my|our|his|her) (?:all-time )?(?:favou?rite|preference)|favou?rites?\b"
        r"|(?:can['’]t|cannot) stand|don['’]t (?:really )?(?:like|enjoy|eat|drink|want)"
        r"|(?:big|huge) fan of"
        r"|(?:i['’]m|i am) (?:really |totally |so )?(?:into|fond of|hooked|keen on)"
        r"|ich (?:mag|liebe|hasse|bevorzuge)|lieblings\w+|am liebsten"
        r"|(?:esse|trinke|lese|h[oö]re|spiele|nutze|benutze|mache) \w* ?(?:lieber|gerne?)"
        r"|ziehe .{1,60} vor\b"
        r"|j['’](?:aime|adore)|je (?:pr[eé]f[eè]re|d[eé]teste|n['’]aime)|pr[eé]f[eé]r[eé]e?s?\b"
        r"|me (?:gusta|encanta)n?|prefiero|odio\b|favorit[oa]s?"
        r"|mi piac(?:e|ciono)|preferisco|adoro|preferit[oa]"
        r"|(?:eu )?gosto de|prefiro|odeio",
    ),
    _cue(
        "plan",
        0.7,
        r"(?:i['’]m|we['’]re|i am|we are)(?: also| still| now)? (?:going to|gonna|planning"
        r"|thinking (?:of|about)|considering|hoping to|looking forward|about to|aiming|headed"
        r"|heading|off to|moving to)|(?:i|we) (?:plan|intend|hope|want|need|wanna|have) to\b"
        r"|(?:i|we)(?:['’]d| would) (?:love|like) to|(?:i['’]ll|we['’]ll|(?:i|we) will)\b|gonna\b"
        r"|next (?:week|weekend|month|year|summer|winter|spring|fall)|tomorrow\b"
        r"|can['’]t wait (?:to|for)|deadline|(?:my|our) (?:goal|plan|next)\b"
        r"|planning (?:to|on|a)\b|due (?:on|by)\b"
        r"|ich (?:werde|plane|m[oö]chte|will)|wir (?:werden|planen|m[oö]chten|wollen)"
        r"|habe(?:n)? vor(?:,| (?:zu \w|\w+zu\w+))|n[aä]chste[nrs]? (?:woche|monat|jahr|sommer)"
        r"|[uü]bermorgen"
        r"|je (?:vais|compte|pr[eé]vois|voudrais)\b|(?:on va|nous allons) \w+|j['’]aimerais"
        r"|prochaine?\b|demain"
        r"|(?:voy|vamos) a\b|(?:pienso|planeo|quiero|quisiera|pretendo)\b"
        r"|ma[nñ]ana (?:voy|vamos|\w+[eé]\b)|pr[oó]xim[oa]\b"
        r"|ho intenzione|(?:vorrei|voglio|progetto di)\b|domani|prossim[oa]"
        r"|(?:eu )?(?:vou|vamos) \w+r\b|quero\b|gostaria|amanh[aã]",
    ),
    _cue(
        "relationship",
        0.8,
        rf"my (?:\w+ )?(?:{KIN})(?:['’]s name)?,? (?:is |are )?(?:named |called )?(?:is\b|are\b"
        rf"|works?\b|lives?\b|has\b|loves?\b|likes?\b|(?-i:[A-Z]\w+))"
        rf"|(?:i['’]m|i am|we['’]re|we are|got|getting) (?:married|engaged|dating|divorced|single"
        rf"|separated)|(?:been|have been) (?:married|together|friends|dating)"
        rf"|(?:{MY_ABROAD}) (?:{KIN_ABROAD})\b",
    ),
    _cue(
        "ephemeral",
        0.5,
        rf"(?:get|getting|got|see|seeing) (?:an? |the |this )?(?:\w+ ){{0,3}}\w*(?:error|exception"
        rf"|traceback)s?\b"
        rf"|(?:the|my|all|some) tests? .{{0,30}}(?:fail|pass)\w*"
        rf"|(?:i['’]m|i am|i feel|feeling) {VERY}(?:tired|exhausted|sleepy|hungry|thirsty|bored"
        rf"|busy|swamped|sick|stressed|sad|nervous|upset|in a hurry|running late)\b"
        rf"|ich (?:bin|f[uü]hle mich) (?:\w+ )?(?:m[uü]de|krank|hungrig|gestresst|besch[aä]ftigt"
        rf"|traurig)"
        rf"|je suis (?:\w+ )?(?:fatigu[eé]e?|malade|press[eé]e?|stress[eé]e?|triste)"
        rf"|estoy (?:\w+ )?(?:cansad[oa]|enferm[oa]|ocupad[oa]|triste)"
        rf"|sono (?:\w+ )?(?:stanc[oa]|malat[oa]|occupat[oa]|triste)"
        rf"|estou (?:\w+ )?(?:cansad[oa]|doente|ocupad[oa]|triste)|ho (?:fame|sonno|sete)\b",
    ),
    _cue(
        "activity",
        0.65,
        r"(?:i['’]ve|we['’]ve|(?:i|we) have) been \w+ing"
        r"|(?:i['’]m|we['’]re|i am|we are)(?: currently| also| still| now| trying to)? \w+ing\b"
        r"|every (?:day|week|weekend|morning|evening|night|month|year|monday|tuesday|wednesday"
        r"|thursday|friday|saturday|sunday)\b"
        r"|(?:i|we) (?:usually|often|regularly|always|sometimes|still|volunteer|practice|train"
        r"|play)\b|been \w+ing|lately\b|these days"
        r"|jede[nrs]? (?:tag|woche|morgen|abend|\w+tag)|regelm[aä](?:ß|ss)ig"
        r"|(?:ich|wir) (?:lerne|baue|arbeite|trainiere|spiele|schreibe)n?\b|(?:zurzeit|momentan) "
        r"|tous les (?:jours|matins|soirs|\w+s)\b|je suis en train de|en ce moment"
        r"|todos los \w+|cada (?:d[ií]a|semana|ma[nñ]ana)|estoy \w+ndo"
        r"|ogni (?:giorno|settimana|mattina)|sto \w+ndo"
        r"|todos os \w+|toda semana|estou \w+ndo",
    ),
    _cue(
        "event",
        0.7,
        r"yesterday\b|last (?:week|weekend|month|year|night|summer|winter|spring|fall|\w+day)\b"
        r"|\bago\b|this (?:morning|past)\b"
        r"|(?:i|we|he|she|they|it|my \w+|and i|just|i just|i also|i finally|i recently"
        r"|we just)(?:['’]ve| have|['’]s| has)? (?:went|had|met|visited|got|took|sold|built|wrote"
        r"|flew|drove|bought|saw|made"
        r"|found|started|joined|began|won|lost|gave|moved|finished|completed|attended|went|ran"
        r"|came|broke|signed|been to|did|celebrated|lived|\w{3,}ed)\b"
        r"|^(?:went|had|met|took|bought|saw|got|started|joined|\w{3,}ed)\b"
        r"|gestern|letzte[nrs]? \w+|vor (?:\w+ )?(?:tagen|wochen|monaten|jahren|einem|einer)"
        r"|(?:ich|wir) (?:habe|haben|bin|sind|war|waren|hatte|hatten|ging)\b"
        r"|hier(?: soir)?,? (?:j|on|nous|il|elle)|(?:semaine|mois|ann[eé]e) derni[eè]re?"
        r"|il y a \w+|j['’]ai \w+(?:é|u|is|it)\b|je suis (?:all[eé]e?|parti|venu|arriv[eé])"
        r"|(?:nous avons|on a) \w+(?:[eé]|u|is|it)\b"
        r"|ayer|anoche|pasad[oa]\b|hace (?:un|una|dos|tres|\d+)"
        r"|(?:fui|fuimos|tuve|compr[eé]|conoc[ií]|empec[eé]|visit[eé]|me mud[eé]|hice|vi)\b"
        r"|ieri|scors[oa]|(?:ho|abbiamo) \w+(?:ato|uto|ito|sto|tto)\b"
        r"|(?:sono|siamo) (?:andat|partit|stat)\w"
        rf"|ontem|passad[oa]\b|(?:comprei|visitei|comecei|conheci|estive|fiz|viajei)\b|{DONE}",
    ),
    _cue(
        "context",
        0.6,
        r"(?:right now|currently|at the moment|for now|so far)\b",
    ),
)
STATES = Pattern(
    r"\b(?:is|are|means|requires|needs|runs|listens|works|uses|supports|lives|costs|starts|ends"
    r"|ist|sind|hei(?:ß|ss)t|kostet|est|sont|co[uû]te|es|son|cuesta|[eè]|sono|costa|s[aã]o"
    r"|custa)\b"
)


def category_of(text: str, own: bool) -> tuple[Category, float]:
    """The first kind whose cue the text has, and how sure that is: 0.4 to 0.9.

    `own`: it speaks of the speaker; without that a plain statement is knowledge.
    """
    if TO_DO.match(text):
        return "plan", 0.9
    if STANDING.match(text) and not ASKED_TO_KEEP.match(text):
        return "preference", 0.9
    doubt = 0.1 * bool(HEDGED.search(text))
    told = 0.9 if ASKED_TO_KEEP.match(text) else 0.0
    over = is_over(text)
    for category, confidence, pattern in CUES:
        if over and category in ("identity", "plan"):
            continue
        if pattern.search(text):
            return category, max(confidence, told) - doubt
    if not own and LIKES.search(text):
        return "preference", max(0.7, told) - doubt
    if not own and MOVED.search(text):
        return "event", max(0.65, told) - doubt
    if not own and STATES.search(text):
        return "knowledge", max(0.55, told) - doubt
    return "fact", max(0.6, told) - doubt


def without_asking(text: str) -> str:
    """What is to be kept, without the words that ask to keep it: "Remember that ..."."""
    asking = ASKED_TO_KEEP.match(text)
    if asking is None:
        return text
    rest = text[asking.end() :]
    rest = rest[:-1] + "." if rest.endswith("?") else rest
    return rest[:1].upper() + rest[1:]
