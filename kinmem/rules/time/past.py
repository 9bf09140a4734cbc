"""Signs that a question asks how things stood, in six languages. Tables only.

Matched with texts as phrases.Plain has them: lower case, no accents, single spaces.
"""

import re

from kinmem.rules.pattern import late


def _any(*patterns: str) -> re.Pattern[str]:
    return late("|".join(rf"(?<!\w)(?:{pattern})(?!\w)" for pattern in patterns))


_DONE = (
    r"(?:ho|ha|abbiamo|hanno) \w{2,18}(?:at|ut|it)o|vivi|viviste|vivimos|trabaje|trabajaste|"
    r"estudie|estudiaste|estuve|estuviste|tuve|tuviste|usaste|fui|"
    r"morei|moraste|trabalhei|trabalhaste|estudei|estive|tive|usei"
)
"""What I did and you did, in Italian, Spanish and Portuguese."""

LOOKING_BACK = _any(
    _DONE,
    r"did|was(?! (?:muss|mussen|soll|sollen|kann|konnen|darf|will|ist|sind|hat|habe|haben|macht|"
    r"mache|"
    r"machen|brauch\w*|koste\w*|steht|gibt|wird|werde|mag|ich|wir|bedeutet|lauft|fur)\b)|were|had|"
    r"used to|could|have (?:i|we|you|they)|has (?:he|she|it)",
    r"war|waren|hatten?|hiess(?:en)?|lief(?:en)?|ging(?:en)?|fuhr(?:en)?|trank(?:en)?|"
    r"ass(?:en)?|gab"
    r"|stand(?:en)?|lag(?:en)?|sprach(?:en)?|trug(?:en)?|sass(?:en)?|schlief(?:en)?|wurde[n]?|"
    r"kam(?:en)?"
    r"|(?!heute|bitte|leute|seite|liste|karte|kette|konnte|mochte|sollte|hatte|weite|breite|tante)"
    r"(?!(?:be|ver)?(?:arbeite|leite|biete|miete|warte|halte|teste|rate|trete|koste|achte)"
    r"(?:n|st)?\b)\w{3,20}te(?:n|st)?",
    r"(?:habe?|haben|hat|hast|bin|ist|sind) [^?]{1,60} (?:ge\w{2,20}(?:t|en)|\w{3,20}(?:iert|"
    r"geben|nommen"
    r"|kauft|zahlt|sucht|standen)|\w{2,12}ge\w{2,16}(?:t|en)|(?:ver|be|er|ent|zer)\w{2,16}(?:t|"
    r"en))",
    r"(?!mais|jamais|lait|fait|parfait|francais|anglais|trait|souhait|portrait|relais|palais)"
    r"\w{1,18}(?:ais|ait|aient)(?:-\w{1,5})?|nous \w{2,18}ions|vous \w{2,18}iez|\w{2,18}ions-nous",
    r"(?:j'|n')?(?:ai|as|avons|avez|ont)(?:-\w{1,5})? [^?]{0,30}\w{2,18}(?:e|i|u|is|it|ees?)",
    r"\w{2,18}(?:aba|abas|abamos|aban|eia|ia|ias|iamos|ian|iam)(?<!\bdia)(?<!\bdias)(?<!familia)"
    r"(?<!todavia)(?<!noticia)(?<!historia)(?<!compania)(?<!hacia)(?<!tecnologia)(?<!noticias)",
    r"era|eras|eramos|eran|fue|fui|fueron|habia|tenia|tuve|estuve|estuvo|hice|hizo|dije|iba",
    r"ero|eri|eravamo|erano|stat[oaie]"
    r"|(?!(?:devo|devi|deva|bevo|bevi|beva|scriv[oia]|viv[oia]|ricev[oia]|lav[oia]|serv[oia]|"
    r"mov[oia]"
    r"|trov[oia]|prov[oia]|nuov[oia]|arriv[oia]|attiv[oia]|motiv[oia]|brav[oia]|estiv[oia])\b)"
    r"\w{1,18}(?:avo|avi|ava|avamo|avano|evo|evi|eva|evamo|evano"
    r"|ivo|ivi|iva|ivamo|ivano)",
    r"\w{1,18}(?:ava|avas|avamos|avam)|eram|eramos|tinha\w{0,4}|vinha\w{0,4}|foi|fui|foram|havia",
)
"""Verbs in a past tense. Some present ones end as they do: alone they mean nothing."""

FORMERLY = _any(
    r"previously|formerly|used to|(?:did|didn't) (?:\w+ ){1,3}use to|prior to|until \w+ came|"
    r"originally|back then|in the past|(?:my|our|his|her|"
    r"their) (?:former|old"
    r"|previous|last)",
    r"fruher|damals|ehemals|ursprunglich|bis vor kurzem|ehemalige[rnms]?|"
    r"(?:mein|unser|sein|ihr|dein|euer)\w{0,2} (?:alte|frühere|fruhere|vorige|ex-)[rnms]?",
    r"auparavant|autrefois|jadis|a l'epoque|ancien(?:ne)?s?",
    r"anteriormente|antiguamente|en el pasado|antigu[oa]s?",
    r"in precedenza|precedentemente|in passato|un tempo",
    r"anteriormente|antigamente|no passado|antig[oa]s?",
)
BEFORE = _any(
    r"before|earlier|former|previous|at first|until recently|old",
    r"vorher|zuvor|bisher|vormals|davor|(?:be)?vor (?!allem|\w+tag\b|mittwoch|ort|kurzem|"
    r"(?:\w+ ){0,2}(?:tag|woche|"
    r"monat|jahr|stunde|minute)\w*)(?:de[rnm] |meine[rnm] |unsere[rnm] )?\w{2,30}",
    r"avant|precedent(?:e|es|s)?",
    r"antes|anterior|previ[oa]",
    r"prima|precedent[ei]|vecchi[oa]",
    r"antes|anterior",
)
"""Where a verb looks back as well; else they may speak of a plan."""

FOLLOWED = late(
    r"\b(?i:before|prior to|vor|bevor|avant|antes d[aeo]l?|prima d(?:i|el|ella|ello|ell['’]))\b ?"
    r"(?:(?i:the|my|our|der|dem|den|le|la|l['’]|el|il|lo|o|a) ?)?"
    r"(?P<name>[^\W\d_a-zß-ÿ][\w-]*(?: [^\W\d_a-zß-ÿ][\w-]*){0,2})"
)
"""What came next, by name: before Ericsson."""
OF_NOW = _any(
    r"now|currently|at the moment|these days|nowadays|still|today|right now|at present",
    r"jetzt|derzeit|aktuell|momentan|gerade|zurzeit|noch|heute|heutzutage|inzwischen",
    r"maintenant|actuellement|en ce moment|aujourd'hui|encore|a present|desormais",
    r"ahora|actualmente|hoy|todavia|aun|en este momento|hoy en dia",
    r"adesso|(?<!che )ora|attualmente|oggi|ancora|al momento|in questo momento",
    r"agora|atualmente|hoje|ainda|neste momento|de momento",
)
"""It asks how things are."""

PAST_FORM = _any(
    r"(?<!am )(?<!is )(?<!are )(?<!i'm )(?<!we're )(?!need|indeed|bed|red|speed|feed)\w{2,}ed",
    _DONE,
    r"went|came|took|got|kept|ran|held|spent|taught|led|sat|stood|rode|drove|wrote|\w+'d",
)
"""Told of the past, besides those: in English -ed, in Spanish and Portuguese what I did."""
UNTIL = _any(r"until|till|up to|through|bis|jusqu\w*|jusqu'\w+|hasta|fino|sino|ate")
NOT_A_STATE = _any(
    r"not|\w{2,6}n't|never|no|nicht|kein\w*|pas|nao|non|valid|expires?|expiry|deadline|due|"
    r"warranty|guarantee|open|closed?|offer|sale"
    r"|was|were|had|lived|worked|stayed|would|might|may be|maybe|if",
    r"gultig|gilt|garantie|frist|abgabe|geoffnet|geschlossen|nicht bis|war|waren|hatte|wohnte|wenn"
    r"|vielleicht",
    r"valable|expire|delai|ouverte?s?|fermee?s?|etai\w+|avai\w+|habitai\w+|peut-etre",
    r"valid[oa]s?|vence|plazo|abiert[oa]s?|cerrad[oa]s?|era|estaba|vivia|quizas?|tal vez",
    r"scad\w+|apert[oa]|chius[oa]|abitav\w+|forse|prazo|abert[oa]s?|fechad[oa]s?|morava|talvez",
)
"""Told of an offer, a deadline or the past, a time is what it is about, and not its end."""
