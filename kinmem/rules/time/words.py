"""How six languages speak of time: words and templates, data only. `phrases` reads them.

Everything is written as `phrases.Plain` has it: lower case, without accents, one space
between words. In word lists a comma separates meanings and `|` two ways to say the same.
A template is a regular expression with {slots}. It holds no `*`, no `+` and no count, so that a
match is of bounded length and reading a text takes linear time.

Slots: {n} a number, {unit} day to year, {period} week to year, {month} a full name, {mon} also an
abbreviation, {weekday}, {on_a} an optional weekday before a date, {season}, {year}, {day} of a
month, {part} an optional part of the day. {of_day} is the part of the day alone.
"""

from dataclasses import dataclass

YEAR = "(?P<year>(?:19|20)[0-9][0-9])"
DAY = "(?P<day>[0-3]?[0-9])"
MONTH_NUMBER = "(?P<month>[01]?[0-9])"

THE = r"(?<![-/._])(?:(?:the|der|den|dem|le|el|il|o) )?"

NUMERIC_DATES = (
    f"{THE}{YEAR}-{MONTH_NUMBER}-{DAY}",
    f"{THE}{YEAR}/{MONTH_NUMBER}/{DAY}",
    rf"{THE}{DAY}\.{MONTH_NUMBER}\.{YEAR}",
)
DAY_FIRST = (f"{THE}{DAY}/{MONTH_NUMBER}/{YEAR}",)  # in English 5/8/2023 could be either day
NUMERIC_MONTHS = (f"{THE}{YEAR}-{MONTH_NUMBER}",)


@dataclass(frozen=True, eq=False)
class Language:
    """One language.

    `phrases` maps a meaning to templates; `links` maps what stands before a time to alternatives,
    where `never` takes the time out of use (a topic, a habit, a purpose, an estimate, a list).
    `pairs` are the words before and between two times. A time followed by one of `not_before` is
    no time of its own. `past` words show that a question looks back; they have accents where
    without them they would be others. Those `refused` speak of plans, dues, births and distances,
    for which no filter is right. `signals` are further words that tell the language.
    """

    name: str
    months: str
    short_months: str
    weekdays: str
    seasons: str  # winter, spring, summer, autumn
    numbers: str  # one to twelve
    units: str  # day, week, month, year
    parts: str  # morning, afternoon, evening, night
    phrases: dict[str, tuple[str, ...]]
    links: dict[str, str]
    pairs: tuple[tuple[str, str], ...]
    not_before: str
    past: str
    refused: str
    refused_phrases: str
    signals: str
    weekday_alone: bool = True
    past_phrases: tuple[str, ...] = ()


ENGLISH = Language(
    name="en",
    months="january, february, march, april, may, june, july, august, september, october, november,"
    " december",
    short_months="jan, feb, mar, apr, may, jun, jul, aug, sep|sept, oct, nov, dec",
    weekdays="monday, tuesday, wednesday, thursday, friday, saturday, sunday",
    seasons="winter, spring, summer, autumn|fall",
    numbers="one|a|an, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve",
    units="day|days, week|weeks, month|months, year|years",
    parts="morning|in the morning, afternoon|in the afternoon, evening|in the evening"
    "|tonight, night|at night",
    phrases={
        "today": ("today",),
        "yesterday": ("yesterday{part}",),
        "day before yesterday": ("(?:the )?day before yesterday",),
        "last night": ("last night",),
        "part of today": ("this {of_day}", "(?P<part>tonight)"),
        "this unit": ("this {period}",),
        "last unit": ("(?:last|previous) {period}",),
        "rolling": (
            "(?:(?:in|over|during|within|for) )?(?:the |these )?(?:last|past) {n} {unit}",
            "(?:(?:in|over|during|within|for) )?the last {period}",
            "(?:(?:in|over|during|within|for) )?(?:the |this )?past {period}",
        ),
        "ago": ("{n} {unit} ago",),
        "this weekend": ("this weekend",),
        "last weekend": ("(?:the )?(?:last|previous|past|this past) weekend",),
        "weekend": ("(?:on|at|over|during) the weekend",),
        "last weekday": ("(?:on )?(?:last|this past|past) {weekday}{part}",),
        "weekday": ("(?:this )?{weekday}{part}",),
        "last month name": ("last {month}",),
        "month": ("{month}",),
        "this month name": ("this {month}",),
        "month and year": ("{mon},? {year}", "{month} of {year}", *NUMERIC_MONTHS),
        "date": (
            "{on_a}(?:the )?{day}(?:st|nd|rd|th)?(?: of)? {mon}(?:,? ?{year})?{part}",
            "{on_a}{mon} (?:the )?{day}(?:st|nd|rd|th)?(?:,? ?{year})?{part}",
            *NUMERIC_DATES,
        ),
        "year": ("(?:the year )?{year}",),
        "last season": ("last {season}",),
        "season": (
            "(?:the )?{season}(?<!the fall)",  # which may be an accident
            "(?:in|during) the (?P<season>fall)",
        ),
        "this season": ("this {season}",),
        "season and year": ("(?:the )?{season}(?: of|,)? {year}",),
    },
    links={
        "in": "in|on|during|throughout|from|back in|in early|in late|in mid|in mid-|early in"
        "|late in|early|late|mid|mid-|at the end of|toward the end of|towards the end of"
        "|at the beginning of|at the start of|on the morning of|on the afternoon of"
        "|on the evening of|on the night of",
        "since": "since|ever since",
        "before": "before|prior to",
        "after": "after",
        "until": "until|till|up to|by the end of",
        "by": "by",
        "never": "every|each|any|all|most|for|about|around|regarding|concerning|of|and|or|to|than"
        "|like|not|except|vs|as of|between|starting|my|your|his|her|its|our|their|'s|half|almost"
        "|nearly|over|under|roughly|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred"
        "|shortly before|shortly after|just before|just after|right before|right after"
        "|soon after|long before|long after|night before|night after|weekend before"
        "|weekend after|morning after|not until|if|the|black|good|easter",
    },
    pairs=(("between", "and"), ("from", "to|until|till|through")),
    not_before="'s|of|or|words|characters|tokens|lines|steps|people|boot|data|framework|onward"
    "|onwards|on(?= ?(?:[?.!,]|$))",
    past="did didn was wasn were weren had hadn said told mentioned talked spoke spoken discussed"
    " wrote written asked answered happened went gone met made got bought sold saw seen heard"
    " learned learnt decided changed agreed noted been done started began begun stopped"
    " finished visited called sent came gave given took taken felt thought ate eaten drank"
    " watched played moved lived worked used wanted liked tried remembered saved stored"
    " explained suggested recommended complained promised since",
    refused="will shall ll won would gonna going tomorrow next upcoming coming future plan plans"
    " planned planning schedule scheduled scheduling deadline deadlines due intend intends"
    " born birthday",
    refused_phrases="how many {units}|how long",
    signals="what who whom whose when where which how why the i you we he she it they me us my your"
    " our a an the is are am do does have has that this with about tell show there not and",
    weekday_alone=False,  # "the Friday meeting" is a topic
)

GERMAN = Language(
    name="de",
    months="januar|janner, februar|feber, marz|maerz, april, mai, juni, juli, august, september,"
    " oktober, november, dezember",
    short_months="jan, feb, mar, apr, mai, jun, jul, aug, sep|sept, okt, nov, dez",
    weekdays="montag, dienstag, mittwoch, donnerstag, freitag, samstag|sonnabend, sonntag",
    seasons="winter, fruhling|fruhjahr|fruehling|fruehjahr, sommer, herbst",
    numbers="ein|eine|einem|einen|einer, zwei, drei, vier, funf|fuenf, sechs, sieben, acht, neun,"
    " zehn, elf, zwolf|zwoelf",
    units="tag|tage|tagen, woche|wochen, monat|monate|monaten, jahr|jahre|jahren",
    parts="morgen|fruh|frueh|vormittag|am morgen|am vormittag, mittag|nachmittag|am nachmittag,"
    " abend|am abend, nacht|in der nacht",
    phrases={
        "today": ("heute",),
        "yesterday": ("gestern{part}",),
        "day before yesterday": ("vorgestern{part}",),
        "last night": ("(?:in der )?(?:letzte|letzten|vergangene|vergangenen) nacht",),
        "part of today": ("heute {of_day}",),
        "this unit": ("(?:in )?diese[nrsm]? {period}", "heuer"),
        "last unit": ("(?:in der |im )?(?:letzte|vergangene|vorige)[nrsm]? {period}",),
        "rolling": (
            "(?:(?:in|wahrend|innerhalb|seit) )?(?:den |der |die )?(?:letzten|vergangenen) {n}"
            " {unit}",
            "seit {n} {unit}",
        ),
        "ago": ("vor {n} {unit}",),
        "this weekend": ("(?:an )?diese[sm] wochenende",),
        "last weekend": ("(?:am )?(?:letzte|vergangene|vorige)[ns] wochenende",),
        "weekend": ("(?:am|ubers) wochenende",),
        "last weekday": ("(?:am )?(?:letzte|vergangene|vorige)[nm] {weekday}{part}",),
        "weekday": ("(?:diesen )?{weekday}{part}",),
        "last month name": ("(?:im )?(?:letzte|vergangene|vorige)[nm] {month}",),
        "month": ("{month}",),
        "this month name": ("(?:in )?diese[nm] {month}",),
        "month and year": (r"{mon}\.? {year}", "{month} des jahres {year}", *NUMERIC_MONTHS),
        "date": (
            r"{on_a}(?:der |den |dem )?{day}\. ?{mon}(?:\.? {year})?{part}",
            r"{on_a}(?:der |den |dem )?{day} {mon}(?:\.? {year})?{part}",
            *NUMERIC_DATES,
            *DAY_FIRST,
        ),
        "year": ("(?:jahr |jahre |dem jahr |dem jahre )?{year}",),
        "last season": ("(?:im )?(?:letzte|vergangene|vorige)[nms] {season}",),
        "season": ("(?:dem )?{season}",),
        "this season": ("(?:in )?diese[nms] {season}",),
        "season and year": ("(?:dem )?{season}(?: des jahres)? {year}",),
    },
    links={
        "in": "in|im|am|an|wahrend|im laufe des|anfang|mitte|ende|im fruhen|im spaten",
        "since": "seit",
        "before": "vor",
        "after": "nach",
        "until": "bis|bis zum|bis ende|bis einschliesslich",
        "never": "jede|jeden|jedem|jeder|jedes|fur|fuer|uber|ueber|von|vom|zum|zur|des|der|und|oder"
        "|als|etwa|ungefahr|um|gegen|ab|pro|alle|zwischen|mein|meine|meinem|meinen|meiner|kurz vor"
        "|kurz nach|lange vor|lange nach|abend vor|wochenende vor|wochenende nach",
    },
    pairs=(("zwischen", "und"), ("von|vom|ab", "bis|bis zum")),
    not_before="des|worten|wortern|zeichen|euro|nacht|oder|(?:an|ab)(?= ?(?:[?.!,]|$))",
    past="war waren warst hatte hatten hattest wurde wurden gab sagte sagten erzahlte ging kam"
    " machte machten meinte schrieb gesagt erzahlt erzaehlt erwahnt erwaehnt besprochen"
    " gesprochen gemacht getan geschrieben gefragt geantwortet passiert geschehen gegangen"
    " gewesen gehabt gekauft verkauft gesehen getroffen gehort gehoert gelernt beschlossen"
    " entschieden geandert geaendert verandert gegessen getrunken gelesen gespielt besucht"
    " gearbeitet notiert gekommen gefahren geredet diskutiert bekommen berichtet begonnen"
    " angefangen aufgehort gewollt gewohnt gemerkt gespeichert erklart vorgeschlagen empfohlen"
    " versprochen seit",
    refused="werde wirst wird werden werdet morgen ubermorgen uebermorgen nachste nachsten nachster"
    " nachstes nachstem naechste naechsten naechster naechstes kommende kommenden kommender"
    " kommendes zukunftig plan plane planen plant geplant vorhaben frist fallig termine"
    " bevorstehende bevorstehenden geboren geburtstag",
    refused_phrases="wie viele {units}|wie lange",
    signals="was wer wen wem wann wo wohin warum wie welche welcher welches welchen der die das dem"
    " den des ein eine einen ich du er sie es wir ihr mich mir dir mein meine ist sind hat"
    " habe haben hast und mit uber von fur nicht bei zu auf uns unser hier",
)

FRENCH = Language(
    name="fr",
    months="janvier, fevrier, mars, avril, mai, juin, juillet, aout, septembre, octobre, novembre,"
    " decembre",
    short_months="janv, fevr|fev, mars, avr, mai, juin, juil, aout, sept, oct, nov, dec",
    weekdays="lundi, mardi, mercredi, jeudi, vendredi, samedi, dimanche",
    seasons="hiver, printemps, ete, automne",
    numbers="un|une, deux, trois, quatre, cinq, six, sept, huit, neuf, dix, onze, douze",
    units="jour|jours, semaine|semaines, mois, an|ans|annee|annees",
    parts="matin|au matin, apres-midi|apres midi, soir|au soir, nuit",
    phrases={
        "today": ("aujourd'hui",),
        "yesterday": ("hier{part}",),
        "day before yesterday": ("avant[- ]hier{part}",),
        "last night": ("la nuit (?:derniere|passee)",),
        "part of today": ("cet? {of_day}",),
        "this unit": ("cet?(?:te)? {period}(?:-ci)?",),
        "last unit": ("(?:la |le |l')?{period} (?:derniere?|passee?)",),
        "rolling": (
            "(?:(?:dans|pendant|durant|au cours) )?(?:ces|les|des) {n} derni(?:er|ere)s {unit}",
            "(?:(?:dans|pendant|durant|au cours de) )?(?:la|le|cette) derni(?:er|ere) {period}",
            "depuis {n} {unit}",
        ),
        "ago": ("il y a {n} {unit}",),
        "this weekend": ("ce week-?end",),
        "last weekend": ("(?:le )?week-?end (?:dernier|passe)",),
        "weekend": (),
        "last weekday": ("{weekday} (?:dernier|passe){part}",),
        "weekday": ("(?:ce )?{weekday}{part}",),
        "last month name": ("(?:en )?{month} dernier",),
        "month": ("{month}",),
        "this month name": (),
        "month and year": (r"{mon}\.? {year}", "{month} de l'annee {year}", *NUMERIC_MONTHS),
        "date": (
            r"(?:le )?{on_a}(?:le )?{day}(?:er)? {mon}(?:\.? {year})?{part}",
            *NUMERIC_DATES,
            *DAY_FIRST,
        ),
        "year": ("(?:l'annee |l'an )?{year}",),
        "last season": ("(?:l'|le |au )?{season} (?:dernier|passe)",),
        "season": ("(?:l'|le )?{season}",),
        "this season": ("cet? {season}",),
        "season and year": ("(?:l'|le )?{season}(?: de)? {year}",),
    },
    links={
        "in": "en|au|a|pendant|durant|dans|au mois de|au mois d'|courant|debut|fin|mi-|a la fin de"
        "|au debut de|au cours de",
        "since": "depuis",
        "before": "avant",
        "after": "apres",
        "until": "jusqu'a|jusqu'au|jusqu'en",
        "never": "chaque|tous les|toutes les|pour|sur|de|du|des|d'|et|ou|a partir de|a partir du"
        "|d'ici|environ|vers|le|les|un|une|entre|mon|ma|mes|juste avant|juste apres|peu avant"
        "|peu apres|soir avant|week-end avant|presque",
    },
    pairs=(("entre", "et"), ("de|du|d'|depuis", "a|au|jusqu'a|jusqu'au|jusqu'en")),
    not_before="de|du|des|d'|que|ou|mots|euros|saint|prochain|prochaine|suivant|suivante",
    past="etait etaient etais etions avait avaient avais avions raconte raconté mentionne"
    " mentionné parlé discuté écrit demandé répondu passé allé allée allés rencontré acheté"
    " vendu vu entendu appris décidé changé convenu noté commencé arrêté fini visité appelé"
    " envoyé venu venue reçu pris mangé bu lu joué travaillé aimé essayé expliqué proposé"
    " promis disait disais disions depuis",
    past_phrases=(  # "il dit" and "il fait" are the present
        "(?:ai|as|a|avons|avez|ont)(?:[- ](?:je|tu|on|t-il|t-elle|t-on|nous|vous|ils|elles))?"
        " (?:dit|fait|ecrit|ete)",
    ),
    refused="demain apres-demain prochain prochaine prochains prochaines vais vas va allons allez"
    " vont sera serai seras seront aura aurai auras auront ferai fera feront prevu prevue"
    " prevus prevues prevois prevoit planifie planifiee echeance venir projet projets nee"
    " naissance anniversaire",
    refused_phrases="combien d[e'] ?(?:{units}|temps)|(?:suis|es|est)(?:[- ](?:je|tu|il|elle))? ne",
    signals="que qu quoi qui quand ou comment pourquoi quel quelle quels quelles le la les l un une"
    " des du de d je j tu il elle on nous vous ils elles me m te t mon ma mes ai as avons avez"
    " ont est sont dit fait avec dans sur pas et c ce cette au aux",
)

SPANISH = Language(
    name="es",
    months="enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre|setiembre,"
    " octubre, noviembre, diciembre",
    short_months="ene, feb, mar, abr, may, jun, jul, ago, sep|sept, oct, nov, dic",
    weekdays="lunes, martes, miercoles, jueves, viernes, sabado, domingo",
    seasons="invierno, primavera, verano, otono",
    numbers="un|una|uno, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez, once, doce",
    units="dia|dias, semana|semanas, mes|meses, ano|anos",
    parts="por la manana|en la manana|manana, por la tarde|en la tarde|tarde,"
    " al anochecer, por la noche|en la noche|noche",
    phrases={
        "today": ("hoy",),
        "yesterday": ("ayer{part}",),
        "day before yesterday": ("anteayer|antier|antes de ayer",),
        "last night": ("anoche",),
        "part of today": ("esta {of_day}", "hoy {of_day}"),
        "this unit": ("est[ae] {period}",),
        "last unit": ("(?:la |el )?{period} pasad[oa]", "(?:la |el )?pasad[oa] {period}"),
        "rolling": (
            "(?:(?:en|durante) )?(?:los |las |estos |estas )?ultim[oa]s {n} {unit}",
            "(?:(?:en|durante) )?(?:los|las|estos|estas) {n} ultim[oa]s {unit}",
            "(?:(?:en|durante) )?(?:el|la) ultim[oa] {period}",
            "desde hace {n} {unit}",
        ),
        "ago": ("hace {n} {unit}",),
        "this weekend": ("este fin de semana",),
        "last weekend": (
            "(?:el )?fin de semana pasado",
            "(?:el )?(?:pasado|ultimo) fin de semana",
        ),
        "weekend": ("(?:en )?el fin de semana",),
        "last weekday": (
            "(?:el )?{weekday} pasado{part}",
            "(?:el )?(?:pasado|ultimo) {weekday}{part}",
        ),
        "weekday": ("(?:el |este )?{weekday}{part}",),
        "last month name": ("(?:en |el )?{month} pasado", "(?:el )?pasado {month}"),
        "month": ("{month}",),
        "this month name": ("este {month}",),
        "month and year": ("{mon}(?: del?)? {year}", *NUMERIC_MONTHS),
        "date": (
            "(?:el )?{on_a}(?:el )?{day} de {month}(?: del?)? {year}{part}",
            "(?:el )?{on_a}(?:el )?{day} de {month}{part}",
            *NUMERIC_DATES,
            *DAY_FIRST,
        ),
        "year": ("(?:el )?(?:ano )?{year}",),
        "last season": ("(?:el |la )?{season} pasad[oa]", "(?:el |la )?pasad[oa] {season}"),
        "season": ("(?:el |la )?{season}",),
        "this season": ("est[ae] {season}",),
        "season and year": ("(?:el |la )?{season}(?: del?)? {year}",),
    },
    links={
        "in": "en|durante|a principios de|a comienzos de|a mediados de|a finales de|a fines de"
        "|en el mes de",
        "since": "desde",
        "before": "antes de|antes del",
        "after": "despues de|despues del|tras",
        "until": "hasta",
        "never": "cada|todos los|todas las|los|las|para|por|sobre|de|del|y|e|o|u|unos|unas|casi|a"
        "|al|a partir de|a partir del|entre|mi|mis|su|poco antes de|poco despues de|justo antes de"
        "|justo despues de|noche antes de|noche antes del",
    },
    pairs=(("entre", "y|e"), ("de|del|desde", "a|al|hasta")),
    not_before="de|del|que|o|palabras|euros|santo|proximo|siguiente",
    past="dije dijo dijiste dijimos dijeron hice hizo hiciste hicimos hicieron fue fui fuiste"
    " fuimos fueron era eran estaba estaban estuve estuvo estuvimos tuve tuvo tuvimos habia"
    " había hablé habló hablaron hablaste contaste conté contó mencioné mencionó mencionaste"
    " pasó paso ocurrió ocurrio compré compró vi vio vimos comí comió comimos decidí decidió"
    " decidimos escribí escribió conocí conoció visité visitó visitamos pregunté preguntó"
    " aprendí empecé empezó terminé terminó compraste visitaste dicho hecho hablado contado"
    " mencionado sido visto escrito comprado visitado decidido comido leí leyó jugué jugó"
    " trabajé trabajó quise prometí desde",
    refused="manana proximo proxima proximos proximas viene vienen voy vas va vamos van sera seran"
    " sere tendre tendra tendremos hare hara haremos ire iremos plan planes planeado planeada"
    " previsto prevista previstos programado programada plazo nacio naci cumpleanos",
    refused_phrases="cuant[oa]s {units}|cuanto tiempo",
    signals="que quien quienes cuando donde como cual cuales cuanto el la los las un una unos yo tu"
    " nosotros me te se nos mi mis su de del en con he has ha hemos han es son esta y o por"
    " para sobre no le",
)

ITALIAN = Language(
    name="it",
    months="gennaio, febbraio, marzo, aprile, maggio, giugno, luglio, agosto, settembre, ottobre,"
    " novembre, dicembre",
    short_months="gen, feb, mar, apr, mag, giu, lug, ago, set|sett, ott, nov, dic",
    weekdays="lunedi, martedi, mercoledi, giovedi, venerdi, sabato, domenica",
    seasons="inverno, primavera, estate, autunno",
    numbers="un|una|uno|un', due, tre, quattro, cinque, sei, sette, otto, nove, dieci, undici,"
    " dodici",
    units="giorno|giorni, settimana|settimane, mese|mesi, anno|anni",
    parts="mattina|mattino|di mattina|stamattina|stamani, pomeriggio|di pomeriggio,"
    " sera|di sera|stasera, notte|di notte",
    phrases={
        "today": ("oggi",),
        "yesterday": ("ieri{part}",),
        "day before yesterday": ("l'altro ieri|ieri l'altro|avantieri|altroieri",),
        "last night": ("(?:la )?(?:notte scorsa|scorsa notte)",),
        "part of today": (
            "quest[ao] {of_day}",
            "oggi {of_day}",
            "(?P<part>stamattina|stamani|stasera)",
        ),
        "this unit": ("quest(?:[ao] |'){period}",),
        "last unit": (
            "(?:la |il |lo |l'|nella |nel |nello |nell')?{period} (?:scors[oa]|passat[oa])",
            "(?:la |lo |nella |nello )?scors[oa] {period}",
        ),
        "rolling": (
            "(?:(?:negli|nelle|gli|le) )?ultim[ie] {n} {unit}",
            "(?:nell'|l')ultim[oa] {period}",
            "da {n} {unit}",
        ),
        "ago": ("{n} {unit} fa",),
        "this weekend": ("questo (?:week-?end|fine settimana)",),
        "last weekend": (
            "(?:lo |nello )?scorso (?:week-?end|fine settimana)",
            "(?:il |nel )?(?:week-?end|fine settimana) scorso",
        ),
        "weekend": ("nel (?:week-?end|fine settimana)",),
        "last weekday": ("{weekday} scors[oa]{part}", "(?:lo |la )?scors[oa] {weekday}{part}"),
        "weekday": ("(?:questo |questa )?{weekday}{part}",),
        "last month name": ("(?:a |ad |nel |il )?{month} scorso", "(?:lo |nello )?scorso {month}"),
        "month": ("{month}",),
        "this month name": ("questo {month}",),
        "month and year": ("{mon}(?: del)? {year}", *NUMERIC_MONTHS),
        "date": (
            "(?:il |l')?{on_a}(?:il )?{day} {mon}(?: del)? {year}{part}",
            "(?:il |l')?{on_a}(?:il )?{day} {mon}{part}",
            *NUMERIC_DATES,
            *DAY_FIRST,
        ),
        "year": ("(?:il |l'anno )?{year}",),
        "last season": (
            "(?:la |l'|lo )?{season} scors[oa]",
            "(?:la |lo |nella |nello )?scors[oa] {season}",
        ),
        "season": ("(?:l'|la )?{season}",),
        "this season": ("quest(?:[ao] |'){season}",),
        "season and year": ("(?:l'|la )?{season}(?: del)? {year}",),
    },
    links={
        "in": "a|ad|in|nel|nell'|nella|durante|nel mese di|a inizio|a fine|a meta|all'inizio di"
        "|alla fine di|verso la fine di",
        "since": "da|dal|dall'|dalla",
        "before": "prima di|prima del|prima dell'|prima della",
        "after": "dopo",
        "until": "fino a|fino al|fino all'|sino a|sino al",
        "never": "ogni|tutti i|tutte le|il|i|le|per|su|sul|sulla|di|del|dell'|della|e|ed|o|circa"
        "|quasi|a partire da|a partire dal|verso|entro|tra|fra|mio|mia|poco prima di|poco prima del"
        "|poco dopo|subito dopo|subito prima di|sera prima di|sera prima del|la|lo",
    },
    pairs=(
        ("tra|fra", "e|ed"),
        ("da|dal|dall'|dalla", "a|al|all'|alla|fino a|fino al|fino all'"),
    ),
    not_before="di|del|dell'|della|che|o|parole|euro|santo|prossimo|prossima|seguente|in poi",
    past="detto fatto raccontato parlato menzionato discusso scritto chiesto risposto visto"
    " comprato venduto incontrato deciso cambiato imparato mangiato bevuto letto giocato"
    " visitato lavorato successo accaduto stato stata stati state andato andata andati venuto"
    " venuta ricevuto preso iniziato cominciato finito sentito spiegato proposto promesso era"
    " erano ero eravamo aveva avevo avevano disse dissi fece feci",
    refused="domani dopodomani prossimo prossima prossimi prossime sara saranno saro avro avra"
    " avranno faro fara faranno andro andra piani piano previsto prevista previsti programmato"
    " programmata scadenza futuro nato nata compleanno",
    refused_phrases="quant[ie] {units}|quanto tempo|da quanto",
    signals="che cosa chi quando dove come perche quale quali quanto il lo la i gli le l un uno una"
    " io tu lui lei noi voi mi ti si ci di del della con ho hai ha abbiamo avete hanno e sono"
    " non mio mia c era sul",
)

PORTUGUESE = Language(
    name="pt",
    months="janeiro, fevereiro, marco, abril, maio, junho, julho, agosto, setembro, outubro,"
    " novembro, dezembro",
    short_months="jan, fev, mar, abr, mai, jun, jul, ago, set, out, nov, dez",
    weekdays="segunda-feira, terca-feira, quarta-feira, quinta-feira, sexta-feira, sabado, domingo",
    seasons="inverno, primavera, verao, outono",
    numbers="um|uma, dois|duas, tres, quatro, cinco, seis, sete, oito, nove, dez, onze, doze",
    units="dia|dias, semana|semanas, mes|meses, ano|anos",
    parts="de manha|pela manha|manha, a tarde|de tarde|tarde, ao anoitecer, a noite|de noite|noite",
    phrases={
        "today": ("hoje",),
        "yesterday": ("ontem{part}",),
        "day before yesterday": ("anteontem|antes de ontem",),
        "last night": ("(?:a |na )?(?:noite passada|ultima noite)",),
        "part of today": ("(?:esta|hoje) {of_day}",),
        "this unit": ("n?est[ae] {period}", "n?ess[ae] {period}"),
        "last unit": ("(?:a |o |na |no )?{period} passad[oa]",),
        "rolling": (
            "(?:(?:durante )?(?:os|as|nos|nas) )?ultim[oa]s {n} {unit}",
            "(?:a|o|na|no) ultim[oa] {period}",
        ),
        "ago": ("ha {n} {unit} atras", "ha {n} {unit}", "{n} {unit} atras"),
        "this weekend": ("n?est[ae] fi[mn][- ]de[- ]semana",),
        "last weekend": (
            "(?:o |no )?fim[- ]de[- ]semana passado",
            "(?:o |no )?ultimo fim[- ]de[- ]semana",
        ),
        "weekend": ("no fim[- ]de[- ]semana",),
        "last weekday": (
            "(?:na |no )?{weekday} passad[oa]{part}",
            "(?:na |no )?ultim[oa] {weekday}{part}",
        ),
        "weekday": ("(?:na |no |nesta |neste )?{weekday}{part}",),
        "last month name": ("(?:em )?{month} passado",),
        "month": ("{month}",),
        "this month name": ("n?este {month}",),
        "month and year": ("{mon}(?: de)? {year}", *NUMERIC_MONTHS),
        "date": (
            "(?:no |o )?{on_a}(?:o |no )?(?:dia )?{day} de {month}(?: de)? {year}{part}",
            "(?:no |o )?{on_a}(?:o |no )?(?:dia )?{day} de {month}{part}",
            *NUMERIC_DATES,
            *DAY_FIRST,
        ),
        "year": ("(?:o ano de |o ano )?{year}",),
        "last season": ("(?:no |na |o |a )?{season} passad[oa]",),
        "season": ("(?:o |a )?{season}",),
        "this season": ("n?est[ae] {season}",),
        "season and year": ("(?:o |a )?{season}(?: de)? {year}",),
    },
    links={
        "in": "em|no|na|durante|no ano de|no mes de|no inicio de|no comeco de|no final de|no fim de"
        "|em meados de",
        "since": "desde",
        "before": "antes de|antes do|antes da",
        "after": "depois de|depois do|depois da|apos",
        "until": "ate|ate ao",
        "never": "cada|todo|toda|todos os|todas as|os|as|aos|para|por|sobre|de|do|da|e|ou|quase|a"
        "|a partir de|a partir do|entre|meu|minha|pouco antes de|pouco depois de|logo depois de"
        "|logo antes de|noite antes de|cerca de",
    },
    pairs=(("entre", "e"), ("de|do|da|desde", "a|ao|ate|ate ao")),
    not_before="de|do|da|que|ou|palavras|euros|santa|proximo|proxima|seguinte",
    past="disse disseste dissemos disseram falei falou falaste falamos falaram fiz fez fizeste"
    " fizemos fizeram foi fui fomos foram era eram estava estavam estive esteve tinha tinham"
    " tive teve tivemos contei contou mencionei mencionou aconteceu comprei comprou vi viu"
    " vimos comi comeu decidi decidiu decidimos escrevi escreveu conheci conheceu visitei"
    " visitou visitamos perguntei perguntou aprendi comecei começou terminei terminou li leu"
    " joguei jogou trabalhei trabalhou quis prometi houve dito feito falado visto desde",
    refused="amanha proximo proxima proximos proximas vem vou vais vai vamos vao sera serao terei"
    " tera teremos farei fara faremos irei iremos plano planos planejado planejada planeado"
    " planeada previsto prevista prazo nasceu nasci aniversario",
    refused_phrases="quant[oa]s {units}|quanto tempo",
    signals="que quem quando onde como qual quais quanto o a os as um uma eu tu voce ele ela nos me"
    " te se meu minha de do da em no na nos nas com e sao esta ha por para sobre nao lhe eles",
)

LANGUAGES = (ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE)
