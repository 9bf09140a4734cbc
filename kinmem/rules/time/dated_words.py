"""Times that statements name and questions do not: to come, counted in weekends, before last.

Templates as in words.py, in which the words behind are described: lower case, no accents, no
repetition. Data only; `dated` reads them, beside each language's own.
"""

NUMBERS = {
    "en": ("two", "two|a couple of|a couple", "thirteen, fourteen, fifteen"),
    "de": ("zwei", "zwei", "dreizehn, vierzehn, funfzehn"),
    "fr": ("deux", "deux", "treize, quatorze, quinze"),
    "es": ("dos", "dos|un par de", "trece, catorce, quince"),
    "it": ("due", "due|un paio di", "tredici, quattordici, quindici"),
    "pt": ("dois", "dois|um par de", "treze, catorze|quatorze, quinze"),
}
"""A number, the ways to say it, and what comes after twelve."""

WILL = {
    "en": "will|ll|shall|won|would|gonna|going to",
    "de": "werde|werden|wird|wirst|werdet|wurde|wurden",
    "fr": "vais|vas|va|allons|allez|vont|sera|serai|serons|seront|aura|aurai|aurons|partirai|ira"
    "|irai|irons",
    "es": "voy|vas|va|vamos|van|sera|sere|seremos|seran|tendre|tendra|ire|ira|iremos",
    "it": "saro|sara|saremo|avro|avra|avremo|andro|andra|andremo|faro|fara|faremo",
    "pt": "vou|vais|vai|vamos|vao|sera|serei|seremos|terei|tera|irei|iremos",
}
"""Whatever else looks back in a sentence, something in it is to come."""

WAS = {
    "en": r"(?:^|(?<=[,;.] )|(?<= and )|(?<= but ))(?:(?:i|we|he|she|they|it|you"
    r"|(?:my|our|his|her|their|the) \w+(?: \w+)?|\w+) )?(?:also |just |finally |then |both |all )?"
    r"(?!need|indeed|feed|seed|speed|bleed|breed|exceed|proceed|succeed|wicked|hundred|sacred)"
    r"(?:\w{3,}ed|left|lost|found|won|broke|fell|drove|flew|rode|ran|swam|slept|spent|paid|taught"
    r"|caught|brought|built|sent|kept|held|became|woke|chose)(?! to be\b)",
    "de": r"(?:habe?|hat|haben|hast)\b[^.?!]{1,80}\b(?:\w{0,12}ge\w{2,20}(?:t|en)|\w{3,20}iert"
    r"|(?:ver|be|er|ent|zer|unter|über)(?:\w{2,16}t|\w{0,8}(?:schrieben|nommen|standen|loren|lassen"
    r"|gessen|gonnen|kommen"
    r"|schieden)))"
    r"|(?:bin|ist|sind|bist)\b[^.?!]{1,80}\b(?!eingeladen|geladen|offen"
    r"|verlassen)(?:\w{0,6}ge\w{2,16}en"
    r"|\w{0,4}gereist|\w{0,4}gewandert|passiert|verreist)",
    "fr": r"(?:ai|as|a|avons|avez|ont)(?: pas| déjà| enfin| aussi| bien| tout| beaucoup){0,2} "
    r"(?:\w{1,18}(?:é|i|u|is|it|ert)(?:e?s?))|(?:suis|es|est|sommes|sont)(?: pas| déjà"
    r"| enfin){0,1} "
    r"(?:allé|parti|venu|arrivé|entré|sorti|tombé|monté|resté|rentré|revenu|devenu|retourné|passé)"
    r"e?s?",
    "es": r"(?!(?:café|aquí|allí|ahí|así|también|bebé|comité|puré|esté|josé|andré|habré|sabré"
    r"|sólo)\b)"
    r"\w{1,18}(?<!ar)(?<!er)(?<!ir)(?<!dr)(?<!rr)(?:é|í|ó)|fue|fui|tuve|tuvo|estuve|hice|hizo|dije"
    r"|dijo|vi|vio|puse|traje|vine|vino|\w{2,18}(?:aron|ieron|aste)",
    "it": r"(?:ho|ha|hai|abbiamo|hanno)(?: già| anche| finalmente| appena| non){0,1} \w{2,18}"
    r"(?:ato|uto|ito|sto|tto|so|rto|nto)|(?:sono|è|siamo)(?: già| appena){0,1} "
    r"(?:andat|partit|arrivat|venut|tornat|uscit|stat|rimast|cadut|salit|diventat)[oaie]",
    "pt": r"(?!(?:lei|rei|sei|hei)\b)\w{2,18}(?<!ar)(?<!er)(?<!ir)ei|(?!(?:sou|vou|estou"
    r"|dou)\b)\w{2,18}ou"
    r"|(?!(?:meu|seu|teu|museu|europeu)\b)\w{2,18}eu|\w{2,18}iu|fui|foi|tive|estive|fiz|vi|viu|vim"
    r"|trouxe|pus|\w{2,18}(?:aram|eram|iram)|(?:vend|com|beb|part|dorm|perd|conhec|nasc|aprend"
    r"|assist|decid|sub|escrev)i",
}
"""Verbs in a past tense by their endings, in lower case and with accents; what is to come, or only
said to be agreed upon ("ich bin verabredet"), is none."""

SPOKEN: dict[str, dict[str, tuple[str, ...]]] = {
    "en": {
        "tomorrow": ("tomorrow{part}",),
        "overmorrow": ("(?:the )?day after tomorrow",),
        "next unit": ("next {period}",),
        "unit before last": ("(?:the )?{period} before last",),
        "unit after next": ("(?:the )?{period} after next",),
        "next weekend": ("next weekend",),
        "weekend before last": ("(?:the )?weekend before last",),
        "weekends ago": ("{n} weekends? ago",),
        "fortnight ago": ("a fortnight ago",),
        "in a fortnight": ("in a fortnight(?:'s time)?", "a fortnight from (?:now|today)"),
        "half years ago": ("(?:half a year|a half year) ago",),
        "in half a year": ("in (?:half a year|a half year)(?:'s time)?",),
        "year and a half ago": ("(?:a|one) year and a half ago", "one and a half years ago"),
        "in a year and a half": ("in (?:a|one) year and a half", "in one and a half years"),
        "in units": ("in {n} {unit}(?:'s?)?(?: time)?", "{n} {unit} from now"),
        "units from today": ("{n} {unit} from today",),
        "units from tomorrow": ("{n} {unit} from tomorrow",),
        "next weekday": ("(?:on )?next {weekday}{part}",),
        "coming weekday": ("(?:on )?(?:this |the )?coming {weekday}{part}",),
        "this weekday": ("this {weekday}{part}",),
        "weekday last week": (
            "(?:on )?{weekday}{part},? (?:of )?last week",
            "last week,? (?:on )?{weekday}{part}",
        ),
        "weekday this week": ("(?:on )?{weekday}{part},? (?:of )?this week",),
        "weekday next week": (
            "(?:on )?{weekday}{part},? (?:of )?next week",
            "next week,? (?:on )?{weekday}{part}",
        ),
        "next season": ("(?:next|this coming) {season}",),
        "this season": ("this {season}",),
        "next month name": ("next {month}",),
        "day of month": ("on the {day}(?:st|nd|rd|th)",),
        "end of next unit": ("(?:the )?end of next {month_or_year}",),
        "end of this unit": ("(?:the )?end of this {month_or_year}",),
    },
    "de": {
        "tomorrow": (
            "(?<!heute )(?<!gestern )(?<!am )(?<!guten )(?<!jeden )(?<!diesen )morgen{part}",
        ),
        "overmorrow": ("ubermorgen",),
        "next unit": ("(?:in der |im )?nachste[nrs]? {period}", "kommende[nrs]? {period}"),
        "unit before last": ("(?:in der |im )?vorletzte[nrs]? {period}",),
        "unit after next": ("(?:in der |im )?ubernachste[nrs]? {period}",),
        "next weekend": ("(?:am )?nachste[ns] wochenende",),
        "coming weekend": ("(?:am )?kommende[ns] wochenende",),
        "weekend before last": ("(?:am )?vorletzte[ns] wochenende",),
        "weekends ago": ("vor {n} wochenenden?",),
        "half years ago": ("vor einem halben jahr",),
        "in half a year": ("in einem halben jahr",),
        "year and a half ago": ("vor (?:anderthalb|eineinhalb) jahren",),
        "in a year and a half": ("in (?:anderthalb|eineinhalb) jahren",),
        "in units": ("in {n} {unit}",),
        "coming weekday": ("(?:am )?(?:nachste[nmr]?|kommende[nmr]?) {weekday}{part}",),
        "this weekday": ("(?:an )?diese[nm] {weekday}{part}",),
        "weekday last week": (
            "(?:am )?{weekday}{part} (?:letzter|vergangener|voriger|der letzten) woche",
            "(?:letzte|vergangene|vorige) woche(?: am)? {weekday}{part}",
        ),
        "weekday next week": (
            "(?:am )?{weekday}{part} (?:nachster|kommender|der nachsten) woche",
            "(?:nachste|kommende) woche(?: am)? {weekday}{part}",
        ),
        "next season": ("(?:im )?(?:nachste|kommende)[nsmr] {season}",),
        "this season": ("(?:in )?diese[nmsr] {season}",),
        "next month name": ("(?:im )?(?:nachste|kommende)[nm] {month}",),
        "day of month": (r"am {day}\.(?= ?[.!?,;]| ?\Z| um )",),
        "end of next unit": ("ende (?:des )?nachsten {month_or_year}",),
        "end of this unit": ("ende dieses {month_or_year}",),
    },
    "fr": {
        "tomorrow": ("(?<!apres-)demain{part}",),
        "overmorrow": ("apres-demain",),
        "a week from today": ("(?:d')?aujourd'hui en huit(?: jours)?",),
        "next unit": ("(?:la |le |l')?{period} prochaine?",),
        "next weekend": ("(?:le )?week-?end prochain",),
        "weekends ago": ("il y a {n} week-?ends?",),
        "fortnight ago": ("il y a (?:quinze|15) jours",),
        "in a fortnight": ("dans (?:quinze|15) jours",),
        "year and a half ago": ("il y a un an et demi",),
        "in a year and a half": ("dans un an et demi",),
        "in units": ("dans {n} {unit}",),
        "coming weekday": ("{weekday} prochain{part}",),
        "this weekday": ("ce {weekday}{part}",),
        "weekday last week": ("(?:le )?{weekday} de la semaine (?:derniere|passee)",),
        "weekday next week": ("(?:le )?{weekday} de la semaine prochaine",),
        "next season": ("(?:l'|le |au )?{season} prochain",),
        "this season": ("cet? {season}",),
        "next month name": ("(?:en )?{month} prochain",),
        "day of month": (r"le {day}(?= ?[.!?,;]| ?\Z| a )",),
        "end of next unit": ("(?:la )?fin (?:du |de l'){month_or_year} prochaine?",),
        "end of this unit": ("(?:la )?fin de (?:ce |cette ){month_or_year}",),
    },
    "es": {
        "tomorrow": (
            "(?<!la )(?<!esta )(?<!pasado )(?<!cada )(?<!una )(?<!toda )(?<!de )(?<!otra )"
            "(?<!tarde a )"
            "(?<!aquella )(?<!esa )(?<!misma )(?<!cualquier )(?<!alguna )(?<!buena )(?<!noche y )"
            "(?<!noche a )(?<!tarde y )(?<!media )manana"
            "(?! (?:y|e|o) (?:tarde|noche))(?!, (?:tarde|noche)){part}",
            "(?<=reunion de )manana",
        ),
        "overmorrow": ("pasado manana{part}",),
        "a week from today": ("(?:de )?hoy en ocho(?: dias)?",),
        "next unit": ("(?:la |el )?proxim[oa] {period}", "(?:la |el )?{period} que viene"),
        "next weekend": (
            "(?:el )?(?:proximo fin de semana|fin de semana que viene|fin de semana proximo)",
        ),
        "weekends ago": ("hace {n} fin(?:es)? de semana",),
        "fortnight ago": ("hace (?:quince|15) dias",),
        "in a fortnight": ("(?:dentro de|en) (?:quince|15) dias",),
        "half years ago": ("hace medio ano",),
        "in half a year": ("(?:dentro de|en) medio ano",),
        "year and a half ago": ("hace (?:un )?ano y medio",),
        "in a year and a half": ("(?:dentro de|en) (?:un )?ano y medio",),
        "in units": ("(?:dentro de|en) {n} {unit}",),
        "coming weekday": (
            "(?:el )?proximo {weekday}{part}",
            "(?:el )?{weekday} (?:que viene|proximo)",
        ),
        "this weekday": ("este {weekday}{part}",),
        "weekday last week": ("(?:el )?{weekday} de la (?:semana pasada|pasada semana)",),
        "weekday next week": (
            "(?:el )?{weekday} de la (?:proxima semana|semana (?:que viene|proxima))",
        ),
        "next season": ("(?:el |la )?proxim[oa] {season}", "(?:el |la )?{season} que viene"),
        "this season": ("est[ae] {season}",),
        "next month name": ("(?:el )?proximo {month}",),
        "day of month": (r"el (?:dia )?{day}(?= ?[.!?,;]| ?\Z| a las? )",),
        "end of next unit": ("(?:a )?fin(?:ales)? del? (?:proximo ){month_or_year}",),
        "end of this unit": ("(?:a )?fin(?:ales)? de este {month_or_year}",),
    },
    "it": {
        "tomorrow": ("domani{part}",),
        "overmorrow": ("dopodomani",),
        "next unit": ("(?:la |il |l')?prossim[oa] {period}", "(?:la |il |l')?{period} prossim[oa]"),
        "in units": ("(?:tra|fra) {n} {unit}",),
        "coming weekday": ("(?:il |la )?prossim[oa] {weekday}", "{weekday} prossim[oa]"),
        "next season": ("(?:la |il |l')?prossim[oa] {season}", "(?:la |l')?{season} prossim[oa]"),
    },
    "pt": {
        "tomorrow": ("(?<!depois de )amanha{part}",),
        "overmorrow": ("depois de amanha",),
        "next unit": ("(?:n?[ao] )?proxim[oa] {period}", "(?:n?[ao] )?{period} que vem"),
        "in units": ("(?:daqui a|em) {n} {unit}",),
        "coming weekday": ("(?:n?[ao] )?proxim[oa] {weekday}", "(?:n?[ao] )?{weekday} que vem"),
        "next season": ("(?:n?[ao] )?proxim[oa] {season}", "(?:n?[ao] )?{season} que vem"),
    },
}
