"""The classes of words by which one statement differs from another. Tables only; see grammar."""

from kinmem.language.grammar import FUNCTION_WORDS, PRONOUNS, by_word, words


def _sides(rows: str) -> dict[str, frozenset[tuple[int, bool]]]:
    """Lines of `word word | word word` as word -> the lines it stands in, each with its side."""
    table: dict[str, frozenset[tuple[int, bool]]] = {}
    for line, row in enumerate(rows.strip().splitlines()):
        for right, group in enumerate(row.split("|")):
            for word in group.split():
                table[word] = table.get(word, frozenset()) | {(line, bool(right))}
    return table


NEGATORS = words(
    "not no never none nobody noone nothing nowhere neither nor without stopped quit ceased lacks",
    "lack refuses refused fails failed avoids nicht kein keine keinen keinem keiner keines nie",
    "niemals ohne niemand nichts pas jamais sans rien aucun aucune non não sin senza sem tampoco",
    "niet geen nooit zonder inte ikke aldrig nigdy bez не нет никогда без değil لا ليس",
    "不 没 沒 无 無",
)
CONCORD = words(
    "nunca jamás mai niente nulla nessuno nessuna nada nadie ningún ninguno ninguna ninguém nenhum",
    "nenhuma nem ni né",
)
"""These negate only where no `no`, `non` or `não` stands: with one, both are a single negation."""

PERSONS = PRONOUNS | words(
    "man woman men women boy girl boys girls gentleman male female guy husband wife sister sisters",
    "brother brothers mother father son sons daughter daughters aunt uncle cousin nephew niece",
    "grandmother grandfather grandson granddaughter boyfriend girlfriend partner friend friends",
    "colleague boss manager neighbor roommate teacher fiancé fiancée stepmother stepfather mann",
    "frau junge mädchen schwester bruder mutter vater sohn tochter tante onkel cousine oma opa",
    "ehemann ehefrau freund freundin kollege kollegin chef chefin nachbar nachbarin sœur soeur",
    "frère mère père fils fille oncle femme mari homme ami amie hermana hermano madre padre hijo",
    "hija esposa esposo marido mujer hombre tía tío amigo amiga sorella fratello figlio figlia",
    "moglie marito donna uomo zia zio amico amica nonna nonno irmã irmão mãe pai filho filha",
    "mulher homem tia tio avó avô",
)

MODALS = words(
    "may might can could should would must ought shall want wants wanted wish wishes hope hopes",
    "hoped hoping plan plans planned planning intend intends intended try tries tried trying going",
    "think thinks thought believe believes guess suppose maybe perhaps probably possibly likely",
    "almost nearly hardly barely if unless whether or considering consider considers dream dreams",
    "dreamed claim claims claimed says said heard told allegedly supposedly seems seem apparently",
    "pretend pretends pretended ex former formerly potential need needs doubt doubts asked kann",
    "können könnte möchte will wollen wollte soll sollte muss müssen darf dürfen vielleicht",
    "wahrscheinlich wenn falls hofft hoffe plant plane würde wäre hätte oder fast peut pourrait",
    "voudrais voudrait veux veut ou espère presque devrait doit aimerait aimerais puede podría",
    "quiere quiero quisiera quizás quizá espero espera casi debería debe gustaría può potrebbe",
    "vuole voglio vorrei vorrebbe forse spero spera quasi dovrebbe deve pode poderia quer quero",
    "queria gostaria talvez quase deveria 想 要 会 可 能 许 如",
)
"""Wishes, plans, conditions, hearsay: what is said is not said to be so."""

TENSES = words(
    "was were had did used will been ago previously still already yet soon war waren hatte hatten",
    "wurde wurden wird werden früher damals ehemals noch bereits schon bald était étaient étais",
    "avait avaient avais fut sera seront déjà bientôt era eran fue fueron estaba tenía vivía será",
    "ya erano fu aveva sarà già abitava viveva foi foram estava tinha já morava 曾 了 过 將 将",
)
PAST = words(
    "was were had did used ago yesterday previously went came took gave got made said told met saw",
    "bought sold ate drank ran wrote left lost won paid spent sent built found heard brought",
    "caught forgot broke began chose drove flew fell felt kept knew grew wore spoke slept stood",
    "sat taught thought understood became rode sang swam held led war waren hatte hatten wurde",
    "habe était avait fut fue fueron fu aveva foi tinha gestern hier ayer ieri ontem",
)
"""Signs of an event: events on other days or in other numbers do not contradict each other."""

QUANTITIES = words(
    "all every each some any most many much few several both half only except enough either more",
    "less fewer twice once double always often sometimes usually rarely seldom least lots lot too",
    "alle jeder jede jedes jeden einige manche viele wenige meist meistens nur immer oft manchmal",
    "selten mehr weniger tous toutes tout toute chaque quelques plusieurs beaucoup peu seulement",
    "toujours souvent parfois rarement plus moins todo todos toda todas cada algunos algunas",
    "muchos muchas pocos pocas solo sólo siempre más menos tutti tutte tutto ogni alcuni alcune",
    "molti molte pochi poche sempre spesso talvolta più meno alguns algumas muitos muitas poucos",
    "poucas só mais 都 只 最",
)

ATTRIBUTES = by_word(
    """
    colour: red blue green yellow black white brown gray orange purple pink golden silver
    colour: beige violet rot blau grün gelb schwarz weiß weiss braun grau rosa lila rouge bleu
    colour: vert jaune noir blanc marron gris rojo azul verde amarillo negro blanco rosso blu
    colour: giallo nero bianco grigio roja vermelho vermelha amarelo preto branco bleue verte
    colour: noire blanche negra blanca rossa nera rote roter rotes blaue blauer blaues grüne
    colour: grüner schwarze schwarzer weiße weißer
    size: big large small little tiny huge giant enormous tall short long medium groß klein
    size: grand petit grande pequeño piccolo pequeno große kleine petite
    age: young old new elderly neu alt jung jeune vieux nuevo viejo joven nuovo vecchio
    weather: hot cold warm cool freezing sunny rainy cloudy snowy windy dry wet heiß kalt
    weather: chaud froid
    side: left right top bottom front back middle center links rechts gauche droite izquierda
    side: derecha sinistra destra esquerda direita oben unten
    compass: north south east west northern southern eastern western nord süd norte
    season: spring summer autumn winter frühling sommer herbst été automne hiver primavera
    season: verano otoño invierno autunno inverno verão outono
    daypart: morning noon afternoon evening night midnight abend morgen nacht matin soir nuit
    daypart: tarde noche mattina sera notte manhã noite
    meal: breakfast lunch dinner supper brunch frühstück mittagessen abendessen
    material: wood wooden metal metallic steel plastic glass leather paper stone brick cotton
    material: wool
    diet: vegetarian vegan pescatarian
    marital: married single divorced widowed engaged separated verheiratet ledig geschieden
    marital: marié mariée divorcé divorcée casado casada soltero soltera divorciado sposato
    marital: sposata
    rhythm: daily weekly monthly yearly annual annually hourly quarterly täglich wöchentlich
    rhythm: monatlich
    drink: tea coffee beer wine water milk juice tee kaffee bier wein thé café bière vin
    pet: dog cat dogs cats bird birds horse horses rabbit hund katze chien chat perro gato
    pet: cane gatto
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
    ouvert ouverte abierto abierta aberto aberta aperto | fermé fermée cerrado fechado chiuso
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

SINGLE_VALUED = words(
    "live lives living reside resides work works working favorite birthday born named name called",
    "address password pin code number married boss manager age weigh weighs height cost costs",
    "price deadline version port timezone zone default capital owner salary email based wohnt",
    "wohne lebt lebe heißt heiße geboren arbeitet arbeite habite vit appelle préféré préférée né",
    "née travaille vive vivo llama favorito favorita trabaja nació abita abito chiama preferito",
    "preferita lavora nato nata mora moro chama trabalha nasceu",
)
"""Words of one value at a time: another value contradicts the first instead of adding to it."""

PLAIN_VERBS = words(
    "live reside work start begin end finish open close cost run listen use drink eat take leave",
    "arrive depart meet like love enjoy hate prefer want need know speak weigh sleep go walk drive",
    "ride sit stand stay lie lay study learn teach play support require expire last rotate happen",
    "contain hold keep lead manage report belong sell buy deploy build connect point bind store",
    "send read watch wear cook earn pay owe get come make do look feel remain allow include accept",
    "smoke commit ship serve host rent",
)
"""English verbs that tell how a thing is, as they are without -s; many are nouns as well."""
STATE_VERBS = words(
    "be have called named based planned scheduled located bound set stored born due written rented",
    "ist sind bin hat habe haben kostet kosten beginnt endet öffnet schließt läuft laufen wohnt",
    "wohne lebt lebe arbeitet arbeite heißt heiße trinkt trinke isst esse mag liebt fährt geht",
    "gehe steht liegt sitzt findet trifft treffen nutzt nutze nutzen spricht braucht",
    "est sont suis a ai ont habite vit travaille coûte commence finit ouvre ferme aime mange boit",
    "appelle parle utilise es son soy está están estoy tiene tengo vive vivo trabaja trabajo",
    "cuesta empieza termina abre cierra gusta come bebe llama habla usa è sono ha ho abita abito",
    "lavora lavoro costa inizia finisce apre chiude piace mangia beve chiama parla é são sou tem",
    "tenho mora moro trabalha começa fecha gosta chama fala",
)
"""Forms that tell how a thing is, whatever stands before them."""

ADDING_VERBS = words(
    "have own like love enjoy hate speak know play eat drink learn study teach watch read buy sell",
    "make support cook wear send contain include need want keep accept belong store",
    "habe haben hat mag liebt spricht isst esse trinkt trinke braucht ai ont aime parle mange boit",
    "tiene tengo gusta habla bebe ho piace parla mangia beve tem tenho gosta fala",
)
"""Verbs whose objects add up: who speaks French may speak German as well."""
ONLY_ONES = words(
    "mother father wife husband boss manager partner boyfriend girlfriend fiancé fiancée ehemann",
    "ehefrau mutter vater chef chefin mère père mari madre padre marido esposa esposo moglie",
    "marito mãe pai",
)
"""Persons of whom one has one at a time."""

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
) | words(
    "people kids children dogs cats remember today user users team project meeting note todo use",
    "run add set make get keep call send please yes hi hello thanks ok code test tests data file",
    "files new playing working using running making getting moving",
)
"""Words that are no names where a sentence begins with them."""
