"""The closed classes of words by which one statement differs from another, in seven languages.

Tables only. The languages stand side by side: a word taken for one of another language makes texts
differ that need not, never the other way round. Only PASSED may be missing from one of two texts
that are called the same, so that table is kept by language.
"""


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


def by_word(rows: str) -> dict[str, str]:
    """Lines of `name: word word` as word -> name; the first line that has a word wins."""
    table: dict[str, str] = {}
    for row in rows.strip().splitlines():
        name, words = row.split(":")
        for word in words.split():
            table.setdefault(word, name.strip())
    return table


def _sides(rows: str) -> dict[str, frozenset[tuple[int, bool]]]:
    """Lines of `word word | word word` as word -> the lines it stands in, each with its side."""
    table: dict[str, frozenset[tuple[int, bool]]] = {}
    for line, row in enumerate(rows.strip().splitlines()):
        for right, words in enumerate(row.split("|")):
            for word in words.split():
                table[word] = table.get(word, frozenset()) | {(line, bool(right))}
    return table


PASSED = {
    "en": _words("a an the really very please actually basically"),
    "de": _words("sehr wirklich"),
    "fr": _words("ne n très vraiment"),  # what negates is the second word: pas, jamais
    "es": _words("muy realmente"),
    "it": _words("molto davvero"),
    "pt": _words("muito realmente"),
}
"""Words without which a statement stays the same, per language: `a` is a verb in French.

Only English articles: le, la, lo, die are pronouns as well, and nobody leaves them out.
"""

JOINING = {
    "en": _words("and"),
    "de": _words("und"),
    "fr": _words("et"),
    "es": _words("y e"),
    "it": _words("e ed"),
    "pt": _words("e"),
}
"""A comma in other words, per language."""

MARKERS = {
    "en": _words("the be was i my to of and in has have with she he they at not"),
    "de": _words("der das ich und ist nicht mein meine hat mit sie er auf zu wir im dem bin ein"),
    "fr": _words("le les je j est et ne pas mon ma des du une dans elle il nous au c qu suis chez"),
    "es": _words("el los y es mi en una no con ella del yo su está las por para vive tengo"),
    "it": _words("il è e di non mio mia che una gli sono per con lei lui ho nel della ha"),
    "pt": _words("o os é e não meu minha em uma um com ela ele eu no na do da tenho moro"),
}
"""Frequent words by which a text's language is guessed."""

CONTRACTIONS = dict(
    line.split(" = ")
    for line in """
can't = can not
cannot = can not
cant = can not
won't = will not
shan't = shall not
ain't = is not
let's = let us
gonna = going to
wanna = want to
dont = do not
doesnt = does not
didnt = did not
isnt = is not
arent = are not
wasnt = was not
werent = were not
havent = have not
hasnt = has not
hadnt = had not
couldnt = could not
wouldnt = would not
shouldnt = should not
im = i am
ive = i have
""".strip().splitlines()
)
ENDINGS = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
"""What stands behind an apostrophe."""
IS_BEFORE = _words("it he she that there what who where here how")
"""Behind these 's is read as `is`; behind any other word it is a genitive."""
ELISIONS = _words("l j d n s c m t qu jusqu lorsqu puisqu dell all nell dall sull un quest")

SAME = by_word(
    """
    be: am is are
    child: kid
    children: kids
    woman: lady
    women: ladies
    mother: mum mom mommy mummy
    father: dad daddy
    grandmother: grandma granny
    grandfather: grandpa
    someone: somebody
    everyone: everybody
    anyone: anybody
    movie: film
    movies: films
    television: tv telly
    telephone: phone
    photo: photograph
    photos: photographs
    airplane: aeroplane
    refrigerator: fridge
    ok: okay
    gray: grey
    outdoors: outside
    toward: towards
    until: till
    program: programme
    license: licence
    traveling: travelling
    canceled: cancelled
    favorite: favourite
    color: colour
    colors: colours
    neighbor: neighbour
    neighbors: neighbours
    center: centre
    theater: theatre
    """
)
"""Words that stand for each other in any statement."""

NEGATORS = _words(
    "not no never none nobody noone nothing nowhere neither nor without stopped quit ceased lacks",
    "lack refuses refused fails failed avoids nicht kein keine keinen keinem keiner keines nie",
    "niemals ohne niemand nichts pas jamais sans rien aucun aucune non não sin senza sem tampoco",
    "niet geen nooit zonder inte ikke aldrig nigdy bez не нет никогда без değil لا ليس 不 没 沒 无 無",
)
CONCORD = _words(
    "nunca jamás mai niente nulla nessuno nessuna nada nadie ningún ninguno ninguna ninguém nenhum",
    "nenhuma nem ni né",
)
"""These negate only where no `no`, `non` or `não` stands: with one, both are a single negation."""

SUBJECTS = _words(
    "i you he she it we they ich du er sie es wir ihr je j tu il elle nous vous ils elles yo tú",
    "él ella nosotros ellos ellas io lui lei noi voi loro eu ele ela nós eles elas 我 你 您 他 她",
)
PRONOUNS = SUBJECTS | _words(
    "me my mine myself your yours yourself him his himself her hers herself its itself us our ours",
    "ourselves them their theirs themselves",
    "mich mir mein meine meinen meinem meiner meines dich dir dein deine ihn ihm sein seine seinen",
    "seinem seiner ihre ihren ihrem ihrer uns unser unsere euch euer eure moi mon ma mes toi ton ta",
    "tes son sa ses notre nos votre vos leur leurs mi mis tus su sus nuestro nuestra mio mia miei mie",
    "tuo tua suo sua suoi sue nostro nostra meu minha meus minhas seu nosso nossa 们",
)
PERSONS = PRONOUNS | _words(
    "man woman men women boy girl boys girls gentleman male female guy husband wife sister sisters",
    "brother brothers mother father son sons daughter daughters aunt uncle cousin nephew niece",
    "grandmother grandfather grandson granddaughter boyfriend girlfriend partner friend friends",
    "colleague boss manager neighbor roommate teacher fiancé fiancée stepmother stepfather",
    "mann frau junge mädchen schwester bruder mutter vater sohn tochter tante onkel cousine oma opa",
    "ehemann ehefrau freund freundin kollege kollegin chef chefin nachbar nachbarin",
    "sœur soeur frère mère père fils fille oncle femme mari homme ami amie",
    "hermana hermano madre padre hijo hija esposa esposo marido mujer hombre tía tío amigo amiga",
    "sorella fratello figlio figlia moglie marito donna uomo zia zio amico amica nonna nonno",
    "irmã irmão mãe pai filho filha mulher homem tia tio avó avô",
)

MODALS = _words(
    "may might can could should would must ought shall want wants wanted wish wishes hope hopes",
    "hoped hoping plan plans planned planning intend intends intended try tries tried trying going",
    "think thinks thought believe believes guess suppose maybe perhaps probably possibly likely",
    "almost nearly hardly barely if unless whether or considering consider considers dream dreams",
    "dreamed claim claims claimed says said heard told allegedly supposedly seems seem apparently",
    "pretend pretends pretended ex former formerly potential need needs doubt doubts asked",
    "kann können könnte möchte will wollen wollte soll sollte muss müssen darf dürfen vielleicht",
    "wahrscheinlich wenn falls hofft hoffe plant plane würde wäre hätte oder fast",
    "peut pourrait voudrais voudrait veux veut ou espère presque devrait doit aimerait aimerais",
    "puede podría quiere quiero quisiera quizás quizá espero espera casi debería debe gustaría",
    "può potrebbe vuole voglio vorrei vorrebbe forse spero spera quasi dovrebbe deve",
    "pode poderia quer quero queria gostaria talvez quase deveria 想 要 会 可 能 许 如",
)
"""Wishes, plans, conditions, hearsay: what is said is not said to be so."""

TENSES = _words(
    "was were had did used will been ago previously still already yet soon",
    "war waren hatte hatten wurde wurden wird werden früher damals ehemals noch bereits schon bald",
    "était étaient étais avait avaient avais fut sera seront déjà bientôt era eran fue fueron",
    "estaba tenía vivía será ya erano fu aveva sarà già abitava viveva foi foram estava tinha já",
    "morava 曾 了 过 將 将",
)
PAST = _words(
    "was were had did used ago yesterday previously went came took gave got made said told met saw",
    "bought sold ate drank ran wrote left lost won paid spent sent built found heard brought caught",
    "forgot broke began chose drove flew fell felt kept knew grew wore spoke slept stood sat taught",
    "thought understood became rode sang swam held led war waren hatte hatten wurde habe",
    "était avait fut fue fueron fu aveva foi tinha gestern hier ayer ieri ontem",
)
"""Signs of an event: events on other days or in other numbers do not contradict each other."""

QUANTITIES = _words(
    "all every each some any most many much few several both half only except enough either more",
    "less fewer twice once double always often sometimes usually rarely seldom least lots lot too",
    "alle jeder jede jedes jeden einige manche viele wenige meist meistens nur immer oft manchmal",
    "selten mehr weniger tous toutes tout toute chaque quelques plusieurs beaucoup peu seulement",
    "toujours souvent parfois rarement plus moins todo todos toda todas cada algunos algunas muchos",
    "muchas pocos pocas solo sólo siempre más menos tutti tutte tutto ogni alcuni alcune molti",
    "molte pochi poche sempre spesso talvolta più meno alguns algumas muitos muitas poucos poucas só",
    "mais menos 都 只 最",
)

PLACES = _words(
    "in on at to from into onto out off up down over under above below behind before after beside",
    "near inside outdoors indoors through across between among with without against for by toward",
    "around along past since until during via of than",
    "im an am auf aus bei beim mit ohne nach von vom vor zu zum zur über unter hinter neben zwischen",
    "durch für gegen um seit bis dans sur sous devant derrière avec sans pour contre vers chez depuis",
    "jusque avant après de à du au aux par en sobre bajo desde hasta con sin para por hacia antes",
    "después su sotto da di senza tra fra dopo prima verso dal dalla nel nella al alla",
    "em no na sob do com sem depois até 在 从 到 去 来",
)
"""Prepositions: one in place of another is a difference, and each begins a phrase."""
CLAUSAL = _words(
    "before after since until than for without by of vor nach seit bis ohne avant après depuis pour",
    "sans antes después desde hasta para sin prima dopo senza depois até sem",
)
"""Prepositions behind which a whole statement may stand."""
LINKS = _words("because when while if that who which so as where although though but than or")
"""Words that begin a phrase besides prepositions and pronouns."""

ATTRIBUTES = by_word(
    """
    colour: red blue green yellow black white brown gray orange purple pink golden silver beige violet
    colour: rot blau grün gelb schwarz weiß weiss braun grau rosa lila rouge bleu vert jaune noir blanc
    colour: marron gris rojo azul verde amarillo negro blanco rosso blu giallo nero bianco grigio roja
    colour: vermelho vermelha amarelo preto branco bleue verte noire blanche negra blanca rossa nera
    colour: rote roter rotes blaue blauer blaues grüne grüner schwarze schwarzer weiße weißer
    size: big large small little tiny huge giant enormous tall short long medium groß klein grand petit
    size: grande pequeño piccolo pequeno große kleine petite
    age: young old new elderly neu alt jung jeune vieux nuevo viejo joven nuovo vecchio
    weather: hot cold warm cool freezing sunny rainy cloudy snowy windy dry wet heiß kalt chaud froid
    side: left right top bottom front back middle center links rechts gauche droite izquierda derecha
    side: sinistra destra esquerda direita oben unten
    compass: north south east west northern southern eastern western nord süd norte
    season: spring summer autumn winter frühling sommer herbst été automne hiver primavera verano otoño
    season: invierno autunno inverno verão outono
    daypart: morning noon afternoon evening night midnight abend morgen nacht matin soir nuit tarde
    daypart: noche mattina sera notte manhã noite
    meal: breakfast lunch dinner supper brunch frühstück mittagessen abendessen
    material: wood wooden metal metallic steel plastic glass leather paper stone brick cotton wool
    diet: vegetarian vegan pescatarian
    marital: married single divorced widowed engaged separated verheiratet ledig geschieden marié
    marital: mariée divorcé divorcée casado casada soltero soltera divorciado sposato sposata
    rhythm: daily weekly monthly yearly annual annually hourly quarterly täglich wöchentlich monatlich
    drink: tea coffee beer wine water milk juice tee kaffee bier wein thé café bière vin
    pet: dog cat dogs cats bird birds horse horses rabbit hund katze chien chat perro gato cane gatto
    level: low high average minimum maximum beginner intermediate advanced junior senior
    """
)
"""Words of a class of which one in place of another is a difference, however long the texts."""

OPPOSITES = _sides(
    """
    like love adore enjoy | dislike hate detest loathe
    enable | disable
    open | close shut
    on onto | off
    always | never
    before | after
    more | less fewer
    most | least fewest
    increase rise raise grow grew rose | decrease fall lower shrink drop reduce fell
    allow permit | forbid prohibit ban deny disallow
    accept approve | reject decline refuse disapprove
    left | right
    buy bought purchase | sell sold
    start begin began begun | stop quit end finish
    married | divorced single unmarried
    win won | lose lost
    arrive | leave depart left
    up | down
    in into inside | out outdoors
    over above | under below beneath
    to into onto | from
    with | without
    for | against
    front | behind back
    top | bottom
    first | last
    last | next
    early earlier | late later
    true | false
    yes | no
    good great | bad terrible
    better best | worse worst
    hot warm | cold cool freezing
    big large huge giant | small little tiny
    tall long | short
    young new | old
    high | low
    fast quick quickly | slow slowly
    easy simple easily | hard difficult
    rich | poor
    alive | dead died
    same | different
    public | private shared
    success succeed pass | failure fail
    remember | forget forgot
    push | pull
    add put | remove delete take
    lend lent | borrow
    employer | employee
    trainer teacher | trainee student
    hire | fire
    north northern | south southern
    east eastern | west western
    morning | evening
    day | night
    import | export
    upload | download
    lock | unlock
    include | exclude
    safe | dangerous unsafe
    healthy well | sick ill unwell
    happy | sad
    full | empty
    cheap | expensive
    strong | weak
    near close | far
    light | dark
    wet | dry
    clean | dirty
    sitting sit sits sat | standing stand stands stood
    loud speak talk | quiet silent
    asleep sleeping | awake
    present | absent
    gain | lose lost
    minimum | maximum
    many lots | few
    everyone someone | nobody none
    everything something | nothing
    everywhere | nowhere
    fat | thin
    beginner | expert
    liebt mag liebe | hasst hasse
    aime adore | déteste hait
    ama gusta encanta adora piace gosta | odia detesta odeia
    aktiviert | deaktiviert
    an | aus
    offen geöffnet | geschlossen zu
    ouvert ouverte abierto abierta aberto aberta aperto aperta | fermé fermée cerrado cerrada fechado
    vor avant antes prima | nach après después depois dopo
    mehr plus más mais più | weniger moins menos meno
    links gauche izquierda esquerda sinistra | rechts droite derecha direita destra
    immer toujours siempre sempre | nie niemals jamais nunca jamás mai
    verheiratet marié mariée casado casada | geschieden ledig divorcé divorcée divorciado soltero
    mit avec con com | ohne sans sin senza sem
    kauft kaufte achète acheté compra compró comprou | verkauft verkaufte vend vendu vende vendió
    """
)
"""Each word's lines of antonyms. English verbs are looked up by their stem as well."""
REVERSING = ("un", "in", "im", "il", "ir", "dis", "non", "mis", "anti", "de", "ab")
"""Beginnings that turn a word round: necessary and unnecessary, legal and illegal."""

SINGLE_VALUED = _words(
    "live lives living reside resides work works working favorite birthday born named name called",
    "address password pin code number married boss manager age weigh weighs height cost costs price",
    "deadline version port timezone zone default capital owner salary email based",
    "wohnt wohne lebt lebe heißt heiße geboren arbeitet arbeite habite vit appelle préféré préférée né",
    "née travaille vive vivo llama favorito favorita trabaja nació abita abito chiama preferito",
    "preferita lavora nato nata mora moro chama trabalha nasceu",
)
"""Words that have one value at a time: another value contradicts the first instead of adding to it."""

FUNCTION_WORDS = frozenset().union(PRONOUNS, PLACES, LINKS, *PASSED.values()) | _words(
    "be been being have has do does not no this these those there here then what how why"
)
"""Words that carry a sentence and not its matter; never names."""
COMMON = FUNCTION_WORDS.union(
    PERSONS,
    NEGATORS,
    CONCORD,
    MODALS,
    TENSES,
    PAST,
    QUANTITIES,
    ATTRIBUTES,
    OPPOSITES,
    SINGLE_VALUED,
) | _words(
    "people kids children dogs cats remember today user users team project meeting note todo use run",
    "add set make get keep call send please yes hi hello thanks ok code test tests data file files new",
    "playing working using running making getting moving",
)
"""Words that are no names where a sentence begins with them."""
