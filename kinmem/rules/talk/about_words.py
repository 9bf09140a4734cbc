"""How six languages say who somebody is, what he likes, and how a thing is set up. Tables only.

Each is the inside of a regular expression, matched without regard to case; see about.
"""


def _either(*rows: str) -> str:
    return "|".join(rows)


BEFORE_VERB = _either(
    r"also|still|now|really|always|never|no longer|just|both|recently|finally|currently|often"
    r"|usually|does|doesn['’]t|did|didn['’]t|do|don['’]t|not|cannot|can|can['’]t|has|have|had|got",
    r"jetzt|immer|nicht|mehr|gern|gerne|auch|noch",
    r"ne|n['’]|toujours|maintenant|aussi|se|s['’]",
    r"ya|no|siempre|también|ahora|le|les|me",
    r"non|ora|sempre|anche|gli|si|ancora",
    r"já|não|sempre|também|agora",
)
"""Between whom it is said of and the verb."""
DOES = _either(
    r"likes?|liked|loves?|loved|hates?|prefers?|enjoys?|dislikes?|adores?|stand|eats?|drinks?"
    r"|smokes?|smoked|lives?|lived|works?|worked|moved|moves|study|studies|studied|teach(?:es)?"
    r"|plays?|speaks?|drives?|owns?|manages?|leads?|reports to|joined|left|quit|retires?|retired"
    r"|graduated|married|divorced|turned \d+|was born|were born|grew up|died|passed away|adopted"
    r"|bought|sold|broke|collects?|wears?|gave birth|started (?:at|as|a)|swims?|cooks?|rides?"
    r"|dances?|walks?"
    r"|(?:is|are) (?:getting married|expecting|moving|leaving|having a baby)|goes by|is called"
    r"|snores?|sings?|supports",
    r"mag|liebt|hasst|bevorzugt|isst|trinkt|raucht|wohnt|wohnen|lebt|leben|arbeitet|arbeiten"
    r"|studiert|unterrichtet|spielt|spricht|fährt|besitzt|leitet|heiratete?|zieht|zog|kündigte"
    r"|heißt|sammelt|trägt|verträgt",
    r"(?:ne |n['’])?(?:aime|aiment|adore|adorent|déteste|préfère|mange|boit|fume|habite|habitent"
    r"|vit|vivent|travaille|travaillent|étudie|enseigne|joue|parle|conduit|possède|dirige|porte"
    r"|s['’]appelle|collectionne)",
    r"gustan?|encantan?|ama|aman|adora|odia|odian|prefiere|detesta|come|bebe|fuma|vive|viven"
    r"|trabaja|trabajan|estudia|enseña|juega|toca|habla|conduce|dirige|lleva|se llama|colecciona",
    r"piace|piacciono|amano|preferisce|mangia|beve|vivono|abita|abitano|lavora|lavorano|studia"
    r"|insegna|gioca|suona|parla|guida|porta|si chiama|colleziona",
    r"gosta|gostam|adoram|odeia|prefere|mora|moram|trabalha|trabalham|estuda|ensina|joga|fala"
    r"|conduz|dirige|usa|chama-se|coleciona",
)
"""What only people and animals do, and keep doing or did once."""
IS = _either(
    r"(?:is|are|was|were|isn['’]t|aren['’]t|ist|sind|est|sont|n['’]est|es|son|está|están|è|sono|é"
    r"|são|estão|war)(?: (?:not|no longer|now|still|also|both|nicht|mehr|kein\w?|jetzt|seit \w+|pas"
    r"|plus|maintenant|toujours|più|ancora|ora|ya|no|mais|agora|severely|highly|very|sehr|muy|très"
    r"|molto|muito|an?|eine?|un|une|una|um|uma|newly|recently))*"
)
STATE = _either(
    r"allerg\w+|al[eé]rgic[oa]s?|vegan\w*|vegetarian\w*|veget\w+|végan\w*|c(?:o?)eliac|diabet\w+"
    r"|pregnant|married|engaged|divorced|widowed|retired|unemployed|ill|sick|deaf|blind|intolerant"
    r"|lactose|gluten|left-handed|right-handed|colou?r-?blind|dyslexic|autistic|asthmatic|afraid of"
    r"|scared of|from (?-i:[A-Z])|\d+ years|\d+(?=\W*$)|in (?:hospital|rehab|therapy|prison)"
    r"|on (?:maternity|paternity|parental|sick) leave|on a diet|my|our|fond of|good at|bad at"
    r"|(?:a |an |the )?(?:\w+ )?(?:manager|lead|owner|boss|nurse|teacher|doctor|vet|chef|student"
    r"|pilot|lawyer|baker|painter|writer|dentist|engineer|designer|developer|programmer|analyst"
    r"|accountant|architect|plumber|carpenter|gardener|photographer|musician|singer|actor|actress"
    r"|waiter|waitress|electrician|journalist|scientist|biologist|librarian|veterinarian|pianist"
    r"|therapist|psychologist|pharmacist|optician|landlord|landlady|neighbou?r|ceo|cto|cfo)\b",
    r"krank|schwanger|verheiratet|geschieden|verlobt|ledig|pensioniert|in Rente|Linkshänder\w*"
    r"|mein\w*|unser\w*|arbeitslos|blind|taub|Lehrer\w*|Ärztin|Arzt|Bäcker\w*|Anwalt|Anwältin"
    r"|Koch|Köchin|Ingenieur\w*|Krankenschwester|Tierärzt\w+",
    r"malade|enceinte|marié\w*|divorcé\w*|fiancé\w*|célibataire|retraité\w*|à la retraite|gauchère?"
    r"|mon|ma|notre|professeure?|infirmi\w+|médecin|avocate?|boulang\w+|ingénieure?|diabétique",
    r"enferm[oa]|embarazada|casad[oa]s?|divorciad[oa]|prometid[oa]|solter[oa]|jubilad[oa]|zurd[oa]"
    r"|mi|nuestr[oa]|profesora?|enfermer[oa]|médic[oa]|abogad[oa]|panader[oa]|ingenier[oa]"
    r"|diabétic[oa]|celíac[oa]",
    r"malat[oa]|incinta|sposat[oaie]|divorziat[oa]|fidanzat[oa]|single|pensionat[oa]|in pensione"
    r"|mancin[oa]|mi[oa]|nostr[oa]|insegnante|infermier[oa]|medico|avvocat[oa]|ingegnere"
    r"|diabetic[oa]|celiac[oa]|il mio|la mia",
    r"doente|grávida|casad[oa]s?|divorciad[oa]|noiv[oa]|solteir[oa]|reformad[oa]|aposentad[oa]"
    r"|canhot[oa]|me[ua]|minha|professora?|enfermeir[oa]|médic[oa]|advogad[oa]|engenheir[oa]"
    r"|diabétic[oa]|celíac[oa]",
)
HAS = (
    r"(?:has|have|had|hat|haben|a|ont|tiene|tienen|ha|hanno|tem|têm)(?: \w+){0,2}? (?:kids|child"
    r"|children|sons?|daughters?|dogs?|cats?|brothers?|sisters?|siblings|husband|wife|girlfriend"
    r"|boyfriend|twins|baby|horse|asthma|diabetes|cancer|\w*allerg\w+|adhd|autism|migraines?"
    r"|epilepsy|insomnia|Kind|Kinder|Sohn|Tochter|Hund|Hunde|Katzen?|Bruder|Schwester|Krebs"
    r"|enfants?|fils|filles?|chiens?|chats?|asthme|diabète|hij[oa]s?|perros?|gatos?|asma|cáncer"
    r"|figl[ioae]+|can[ei]|gatt[oi]|diabete|filh[oa]s?|cão|cães|cancro)"
)
POSSESSED = (
    r"(?:(?:favou?rite |phone |e-?mail |new |middle |last |first )*(?:colou?r|food|dish|drink|band"
    r"|song|book|film|movie|sport|birthday|name|number|phone|address|e-?mail|wife|husband|mother"
    r"|father|brother|sister|son|daughter|kids|children|parents|dog|cat|car|job|boss|office|team"
    r"|desk|allergy|diet|nickname|age|hobby|hometown|shoe size|salary|pronouns|partner|girlfriend"
    r"|boyfriend|flat|house|apartment))"
)
"""What is somebody's, in English: Ana's birthday."""

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
SET_UP = _either(
    r"(?:does(?:n['’]t| not) |do(?:n['’]t| not) |no longer |always |never |now |only |also )*"
    r"(?:needs?|requires?|uses?|runs?|listens?|supports?|depends? on|starts?|ends?|begins?|costs?"
    r"|takes|stores?|opens?|closes?|belongs?|keeps?|have|has)\b",
    r"(?:is|are|isn['’]t|aren['’]t)(?: not| no longer| now| always)? (?:on|at|in|under|behind"
    r"|called"
    r"|named|hosted|written|deployed|managed|owned|maintained|due|based|read-only|public|private"
    r"|run by|rented|insured|(?-i:[A-Z])\w+|version)\b",
    r"(?:braucht|brauchen|läuft|laufen|nutzt|benötigt|hört|kostet|beginnt|endet|steht|liegt|hat)\b",
    r"(?:n['’]a |a |tourne|utilise|nécessite|demande|coûte|commence|finit|se trouve|écoute)\b",
    r"(?:necesita|requiere|usa|corre|cuesta|empieza|termina|está en|escucha|funciona)\b",
    r"(?:ha bisogno|richiede|usa|gira|costa|inizia|finisce|si trova|ascolta)\b",
    r"(?:precisa|requer|usa|corre|roda|custa|começa|termina|fica|escuta)\b",
)
"""How a thing is set up, which lasts; that it fails does not."""
TROUBLE = (
    r"(?:needs?|has|have|takes) (?:an? |some |many |to be |too )?(?:bugs?|errors?|issues?|typos?"
    r"|problems?|leaks?|restart\w*|fix\w*|debug\w*|refactor\w*|help|work|cleanup|long|crashed|failed"
    r"|stopped|gone|changed)\b"
)
"""What passes."""

GOES = (
    r"is|are|was|were|isn['’]t|aren['’]t|has|had|will|must|should|can|happens?|goes|comes|got|gets"
    r"|\w{3,}ed|ist|sind|war|wird|est|sont|sera|es|está|son|è|sono|é|são|fica|foi|fue"
)
"""Behind a thing that something is said of; a noun there would make it another thing."""

UNREAL = _either(
    r"(?:if|whether|in case|unless) (?-i:[A-ZÀ-Þ])|(?:if|unless) (?:he|she|they|my|our|the)\b"
    r"(?=.*\b(?:would|could|might|were)\b)|(?:suppose|supposing|imagine|assume|assuming|what if"
    r"|let['’]s (?:say|assume|pretend|imagine)|maybe|perhaps|hypothetically)\b|say (?-i:[A-Z])",
    r"(?:wenn|falls) (?-i:[A-Z])|angenommen|stell dir vor|vielleicht|nehmen wir an",
    r"(?:si|se) (?-i:[A-ZÀ-Þ])|s['’]il|supposons|imagine que|imaginons|peut-être",
    r"supongamos|imagina|imagínate|quizás?|tal vez|a lo mejor|puede que",
    r"supponiamo|immagina|forse|magari|metti che",
    r"talvez|suponha\w*|imagine|se calhar|digamos",
)
"""At the beginning of what is only thought of."""
FICTION = (
    r"in (?:the|my|a|this|that|his|her|our) (?:\w+ )?(?:novel|story|film|movie|book|game|dream|play"
    r"|series|show|example|scenario|joke|test data)"
    r"|(?:im|in (?:meinem|dem|einem)) (?:roman|film|buch|traum|witz|spiel)"
    r"|in (?:der|meiner|einer) (?:geschichte|serie)"
    r"|dans (?:le|la|mon|ma|un|une) (?:roman|film|livre|histoire|série|blague|jeu|rêve)"
    r"|en (?:la|el|mi|una?) (?:novela|película|libro|historia|serie|chiste|juego|sueño)"
    r"|n(?:el|ella|ello) (?:mi[oa] )?(?:romanzo|film|libro|storia|serie|barzelletta|gioco|sogno)"
    r"|n[oa] (?:meu |minha )?(?:romance|filme|livro|história|série|piada|jogo|sonho)"
)
JOKING = (
    r"(?:ha){2,}h?|lol|lmao|rofl|(?:just |only )?kidding|(?:just |only )?joking|jk|as a joke"
    r"|(?:nur |kleiner )?(?:ein )?scherz|je (?:plaisante|rigole|blague)|mdr|ptdr"
    r"|(?:es |era )?broma|(?:ja){3,}|scherzo|sto scherzando|(?:é|estou a) brinca(?:deira|r)|k{3,}"
    r"|rsrs"
)
ANYBODY = (
    r"(?:people|everyone|everybody|nobody|no one|children|humans|mankind|dogs|cats|birds"
    r"|(?:most|many|all|some) (?:people|children|dogs|cats))(?! (?:on|in|at|from|here|of)\b)"
    r"|(?:die )?(?:menschen|leute)|jeder|niemand|kinder|katzen|hunde"
    r"|les (?:gens|enfants|chiens|chats|hommes|femmes)|tout le monde|personne"
    r"|la gente|todo el mundo|nadie|los (?:niños|perros|gatos|hombres)"
    r"|nessuno|le persone|i (?:bambini|cani|gatti)|as pessoas|toda a gente|ninguém"
    r"|os (?:cães|gatos|homens)"
)
ANY_OF_KIND = (
    r"(?-i:[A-Z])\w+(?<!s)s (?:(?:often|usually|always|never|can|don['’]t|also) )?(?:eat|live|love"
    r"|like|hate|prefer|drink|speak|play|wear|drive|enjoy|smoke|fly|swim|sleep|die|lay)\b"
    r"|(?-i:[A-ZÄÖÜ])\w+[en] (?:fressen|essen|leben|lieben|mögen|hassen|trinken|schlafen"
    r"|sind) (?!wir)"
    r"|(?:les|los|las|gli|i|le|os|as) \w+ (?:mangent|vivent|aiment|boivent|comen|viven|beben|aman"
    r"|mangiano|vivono|bevono|amano|comem|vivem|bebem|amam)\b"
)
"""A plural without an article, or with the one of its kind: cows eat grass."""
KIND_OF = (
    r"(?:is|are|ist|sind|est|sont|es|son|è|sono|é|são) (?:(?:an?|the|eine?|die|der|une?|des|la|le"
    r"|el|una?|un|il|um|uma|a|o) )?(?:\w+ ){0,1}?(?:languages?|databases?|star|planet|city|country"
    r"|capital|animals?|mammals?|birds?|fish|fruits?|vegetables?|metals?|river|mountain|continent"
    r"|ocean|programming language|protocol|operating system|library|framework|tool"
    r"|sprache|datenbank|stadt|land|hauptstadt|planet|stern|säugetiere?|tiere?|vögel"
    r"|programmiersprache"
    r"|langue|langage|ville|pays|capitale|planète|étoile|mammifères?|animaux|animal|oiseaux"
    r"|lengua|lenguaje|ciudad|país|planeta|estrella|mamíferos?|animales|aves"
    r"|lingua|linguaggio|città|paese|pianeta|stella|mammifer[oi]|animali|uccelli"
    r"|língua|linguagem|cidade|estrela|animais)(?: (?:of|von|de|du|di|da|do|d['’]).*)?\W*$"
)
"""What is so of everything of a kind, and known to everybody."""
TASK = (
    r"(?:the|this|that|your|each|every|a) (?:\w+ )?(?:test|function|method|class|script|code|story"
    r"|text|page|button|component|answer|reply|output|response|summary|table|query|file|form|poem"
    r"|essay|paragraph|image|heading) (?:should|must|needs?|has to|may not)\b"
)
"""What an assistant is to make, not what is so."""
