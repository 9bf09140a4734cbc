"""Signs that something changed, and of what kind things are: en, de, fr, es, it, pt. Tables only.

Matched with texts as text.folded gives them: lower case, no accents, single spaces. Each gap is
bounded, so that time grows with the length alone.
"""

from kinmem.rules.pattern import Pattern, any_of

ASPECTS: dict[str, Pattern] = {
    "home": any_of(
        r"liv(?:e|es|ing) (?:in|at|on|with|near|close)|moved (?:in|into|to|out|house|home)|"
        r"moving to|relocated",
        r"settled in|installee?s? (?:a|en|au)|(?:my|our) own place|my (?:flat|apartment|house|home|"
        r"place)|(?:a|the) (?:flat|"
        r"apartment|house|cottage|"
        r"place|studio|"
        r"room) in",
        r"wohn(?:e|t|en|st)|leb(?:e|t|en) (?:\w+ )?(?:in|bei|am|auf)|(?:um)?gezogen|zieh(?:e|"
        r"t) (?:um|"
        r"nach)",
        r"j'habite|habit(?:e|es|ent|ons)|vi(?:s|t|vent|vons) (?:\w+ )?(?:a|en|au|chez)|demenage\w*|"
        r"emmenage\w*",
        r"viv(?:o|e|en|imos) (?:en|con)|(?:me|se|nos) (?:hemos |he |ha |han )?(?:mud\w+|"
        r"traslad\w+)",
        r"abit(?:o|a|iamo|ano)|viv(?:o|e|iamo|ono) (?:a|in|con)|trasferit[oaie]|traslocat[oaie]",
        r"mor(?:o|a|amos|am) (?:em|no|na|nos|nas|com)|viv(?:o|e|emos|em) (?:em|no|na|com)",
        r"mud(?:ei|ou|amos?|aram)(?:-me|-se|-nos)?(?: para)?",
    ),
    "work": any_of(
        r"work(?:s|ing)? (?:as|at|for|in|from)|"
        r"job|"
        r"employer|start(?:s|ed|ing)? at|employed|i'm an? \w+|teach(?:es)?|"
        r"joined|(?:started|began) (?:as|at|working)|hired",
        r"arbeit(?:e|et|en) (?:\w+ )?(?:als|bei|in|fur|im|am)|"
        r"jobb(?:e|t)|stelle|angestellt|fange? als|"
        r"angefangen",
        r"travaill(?:e|es|ons|ent)|boss(?:e|es|ent|ons)|emploi|"
        r"embauche\w*|cabinet",
        r"trabaj(?:o|a|amos|an)|empleo|empezado (?:en|como|"
        r"a trabajar)|empece (?:en|como)",
        r"lavor(?:o|a|iamo|ano)|facci(?:o|amo) (?:il|la|l'|lo)|"
        r"fa (?:il|la|l'|lo)|assunt[oa]",
        r"trabalh(?:o|a|amos|am)|emprego|"
        r"comecei (?:a trabalhar|como|em|na|no)",
    ),
    "studies": any_of(
        r"stud(?:y|ies|ying)|major(?:s|ing)? in|studier(?:e|t|en)|etudi(?:e|es|ent)|"
        r"estudi(?:o|a|an)|studi(?:o|a|ano)|estud(?:o|a|am)|lernt|apprend|aprende|impara",
    ),
    "vehicle": any_of(
        r"driv(?:e|es|ing)|fahr(?:e|t|en)|condui(?:s|t|sent)|roule en|conduc(?:e|en)|conduzco|"
        r"guid(?:o|a|ano)|conduz(?:o|em)?|manej(?:o|a)",
    ),
    "school": any_of(
        r"go(?:es)? to|attends?|at school|schools?|geht (?:auf|in)|va a (?:l'ecole|la escuela)"
    ),
    "bank": any_of(
        r"bank(?:s|ing)? with|bei der \w*bank|konto bei|compte (?:a|chez)|cuenta en|"
        r"conto (?:in|alla)|conta n[oa]"
    ),
    "reading": any_of(
        r"(?:am|is|are|currently|still) reading|les(?:e|en)"
        " gerade|lese|lis|leyendo|leggendo|a ler|lendo"
    ),
    "speech": any_of(
        r"(?:answer|reply|respond|write|speak|talk)(?: to)? (?:me )?in|antwort\w*|repond\w*|"
        r"contest\w+|respond\w+|rispond\w+|schreib mir"
    ),
}
"""What somebody has one of at a time; another is clear where a sign says that it changed."""
CUE = any_of(
    r"ya (?!no)|ja (?!nao)|deja|gia",
    r"(?:from|as of|as from|starting) (?:now|today|this week|next week|tomorrow|monday)(?: on)?",
    r"(?:after|following) the (?:move|migration|upgrade|update|outage|change|switch|merger|raise|"
    r"promotion)",
    r"from (?:this|next) \w+(?: on)?|for now|by now",
    r"since (?:they|we|he|she|it|the)|at the moment|for the time being|momentan|derzeit|"
    r"en ce moment|"
    r"de momento|al momento|neste momento",
    r"now|these days|nowadays|currently|any ?more|any longer|no longer|instead|meanwhile|again",
    r"(?:since|as of|starting|effective) (?:\w+ ){0,2}(?:january|february|march|april|may|june|"
    r"july|"
    r"august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|week|"
    r"month|year|release|version(?: [\d.]+)?|migration|update|upgrade|season|yesterday|today|"
    r"sprint)",
    r"(?:this|last) (?:season|term|semester|week|month|year|sprint)|recently|just",
    r"(?:i've |i )?changed my mind|turns out|after all|was wrong|correction|actually|update",
    r"ab (?:jetzt|sofort|heute|morgen|nun)|von nun an|kunftig|jetzt|nun|inzwischen|mittlerweile",
    r"neuerdings|nicht mehr|kein\w* mehr|nur noch|wieder|stattdessen|seit (?:dieser |diesem |"
    r"letzter |letztem |letzten |anfang |ende |der |dem )?[a-z]+|nunmehr",
    r"a partir de (?:maintenant|ahora|agora|aujourd'hui|hoy|hoje)|desormais|dorenavant|"
    r"maintenant",
    r"de nouveau|depuis (?:cette |ce |le |la |l')?[a-z]+|plus (?:a|en|de|du)|n'\w+ plus|"
    r"ne \w+ plus|a present",
    r"de ahora en adelante|en adelante|ahora|ya no|de nuevo|otra vez|vuel(?:v|t)\w*|"
    r"desde (?:esta |este |el |la |o |a )?[a-z]+",
    r"d'ora in poi|da ora in poi|adesso|ora|non \w+ piu|di nuovo|d'ora in avanti",
    r"da (?:maggio|aprile|giugno|gennaio|febbraio|marzo|questa settimana|questo mese|lunedi|"
    r"ieri|oggi|quest'anno)",
    r"de agora em diante|agora|ja nao|nao \w+ mais|de novo|doravante|atualmente|voltei|voltou",
    r"passa(?:m)? a",
)
"""Signs that it was otherwise before."""
NEW = Pattern(
    r"\b(?:my|our|his|her|their|its|mein|meine|unser|unsere|sein|seine|ihr|ihre|mon|ma|notre|"
    r"son|sa|"
    r"mi|nuestr[oa]|su|il mio|la mia|il nostro|la nostra|il suo|la sua|o meu|a minha|o nosso|"
    r"a nossa|\w+'s) (?:new|neuer|neue|neues|nouveau|nouvel|nouvelle|nuevo|nueva|nuov[oa]|novo|"
    r"nova)\b"
    r"|\b(?:got|have|has|started|found|took|began|habe|hat|ai|tengo|tiene|ho|ha|tenho|"
    r"tem) (?:an? |eine[n]? |une? |una? |um |uma )"
    r"(?:new|neuen?|nouve\w+|nuev\w+|nuov\w+|nov[oa])\b"
)
"""Another one of what one has one of: my new number."""
STANDING = any_of(
    r"from now on|ab (?:jetzt|sofort|heute)|von nun an|kunftig|a partir de (?:maintenant|ahora|"
    r"agora)",
    r"desormais|dorenavant|de ahora en adelante|d'ora in (?:poi|avanti)|da ora in poi",
    r"de agora em diante|doravante|these days|anymore|any more|passam? a",
)
LATELY = any_of(
    r"(?:last|this|past) (?:week|weekend|month|year|night|morning|summer|winter|spring|autumn)|"
    r"yesterday|the other day|(?:a )?(?:few|couple of|two|three) (?:days|weeks|months) ago|lately",
    r"gestern|vorgestern|(?:letzte|vorige|diese)[nrsm]? (?:woche|monat|jahr|wochenende|sommer|"
    r"winter)|"
    r"vor kurzem|kurzlich|vor (?:\w+ )?(?:tagen|wochen|monaten)",
    r"hier|avant-hier|(?:la |cette )?(?:semaine|annee)(?: derniere| passee)?|(?:le |ce )?"
    r"(?:mois|week-end|ete)(?: dernier| passe)|recemment|depuis peu|il y a peu",
    r"ayer|anteayer|(?:la semana|el mes|el ano|el fin de semana|el verano) pasad[oa]|hace poco|"
    r"recientemente|ultimamente",
    r"ieri|l'altro ieri|(?:la settimana|il mese|l'anno|l'estate) scors[oa]|(?:da|di) poco|"
    r"recentemente|di recente",
    r"ontem|anteontem|(?:n?a semana|n?o mes|n?o ano|n?o verao) passad[oa]|ha pouco|recentemente",
)
"""When news happened: it is no part of what is so now."""
MEMBERS = {
    word: frozenset(members.split())
    for words, members in {
        "pet pets animal animals": "dog cat kitten puppy rabbit hamster parrot goldfish budgie"
        " greyhound labrador terrier poodle guinea tortoise horse",
        "haustier haustiere": "hund katze kater welpe kaninchen hamster papagei wellensittich",
        "animaux animal": "chien chat chaton chiot lapin perroquet",
        "mascota mascotas": "perro gato gatito cachorro conejo loro",
        "animali animale": "cane gatto gattino cucciolo coniglio pappagallo",
        "animais": "cao gato gatinho cachorro coelho papagaio",
        "alcohol alkohol alcool": "wine beer whisky gin wein bier vin biere vino cerveza birra"
        " vinho cerveja",
        "meat fleisch viande carne": "chicken beef pork steak sausage huhn rind schwein wurst"
        " poulet boeuf pollo ternera manzo frango",
    }.items()
    for word in words.split()
}
"""What something that is named as a whole may be."""
OCCUPATION = any_of(
    r"(?:i'm|i am|we are|is|am|work as|works as|as) (?:an? |the |our )?(?:\w+ ){0,3}(?:\w{2,}(?:er|"
    r"or|"
    r"ist|ian|ant|yst|man|woman)|nurse|chef|clerk|cook|lead|head|chief|intern|trainee|apprentice|"
    r"member|associate|vp|c[etofi]o|hr|dev|rep)",
    r"(?:bin|ist|arbeite(?:t)? als) (?:die |der |eine?n? )?(?:\w+ ){0,2}\w{2,}(?:er|erin|or|orin|"
    r"ist|istin|ent|entin|ant|antin|eur|eurin|kraft|frau|mann|leitung|hilfe|azubi|lehrling)",
    r"(?:suis|est) (?:une? |la |le )?(?:\w+ ){0,2}\w{2,}(?:eur|euse|rice|ien|ienne|iste|aire|ant|"
    r"ante|ier|iere|e?e|oyee?|chef|cadre)(?: \w+){0,4}",
    r"(?:soy|es) (?:una? |el |la )?(?:\w+ ){0,2}\w{2,}(?:ista|or|ora|ero|era|ente|enta|ante|ario|"
    r"aria|"
    r"ado|ada|ivo|iva|ico|ica|jefe|jefa)",
    r"(?:sono|e|faccio) (?:un |uno |una |il |la |l')?(?:\w+ ){0,2}\w{2,}(?:ista|ore|rice|iere|iera|"
    r"aio|"
    r"ente|ante|ato|ata|ario|aria|ivo|iva|ico|ica|eta|capo)",
    r"(?:sou|e) (?:um |uma |o |a )?(?:\w+ ){0,2}\w{2,}(?:ista|or|ora|eiro|eira|ente|ante|ario|aria|"
    r"ado|ada|ivo|iva|ico|ica|chefe)",
)
"""What somebody is by occupation, as far as a word's ending tells."""
METRICS = any_of(
    r"raise|weighs?|earns?|makes?|wiege?t?|verdien\w+|pese|gagne|peso|pesa|gano|guadagno|ganho|"
    r"prices?|costs?|rent|fees?|rates?|size|limits?|numbers?|dose|dosage|value|levels?|amount|"
    r"budget|"
    r"preis|kosten|miete|gebuhr|hohe|grosse|zahl|anzahl|wert|dosis|prix|cout|loyer|tarif|"
    r"taille|limite|"
    r"nombre|precio|coste?|alquiler|cuota|tarifa|tamano|numero|valor|prezzo|costo|affitto|canone|"
    r"dimensione|preco|custo|renda|aluguel|aluguer|tamanho|altura|version|versione|versao|date|"
    r"datum|"
    r"fecha|data|deadline|doctors?|people|they|plan|old|age|aged|alt|alter|ans|anos|anni|"
    r"years?|jahre?"
)
"""Words that tell what a number is of where another text tells it by its verb: it costs 5."""
SINGULAR = any_of(
    r"size|level|max|min|maximum|minimum|duration|status|state|stage|policy|endpoint|url|path|"
    r"contact|role|title|goal|client|supplier|"
    r"provider|"
    r"colou?r|language|theme|plan|location|stufe|stand|etat|estado|stato|sprache|langue|idioma|"
    r"lingua|"
    r"port|version|price|cost|rent|fee|budget|deadline|due|launch|release|number|phone|age|"
    r"limit(?:ed)?|"
    r"timeout|salary|address|email|mail|password|host|hostname|server|date|capacity|quota|"
    r"interval|"
    r"expir\w+|rate|temperature|username|nickname|branch|room|desk|seat|gate|floor|extension|"
    r"firmware|engineer|owner|lead|manager|boss|doctor|dentist|landlord|favou?rite|frist|"
    r"termin|miete|"
    r"preis|nummer|telefonnummer|passwort|adresse|abgabe|lieblings\w*|chef|chefin|hausarzt|"
    r"zahnarzt|"
    r"loyer|prix|numero|adresse|mot de passe|echeance|limite|budget|prefere\w*|medecin|dentiste|"
    r"puerto|precio|alquiler|numero|plazo|entrega|contrasena|direccion|favorit[oa]|"
    r"preferid[oa]|medico|"
    r"weighs?|wieg(?:e|t)|pese|peso|pesa|ans|anos|anni|jahre|years|"
    r"dentista|jef[ea]|porta|prezzo|affitto|scadenza|indirizzo|preferit[oa]|capo|medico|"
    r"preco|renda|prazo|senha|palavra-passe|endereco|morada|chefe|medico|cor"
)
"""Things of which there is one: another value takes the place of the first."""
UNSURE = any_of(
    r"if|would|might|(?:i|we|he|she|it|they) may|maybe|perhaps|could|should|thinking (?:of|"
    r"about)|think|wants? to|wish(?:es)?|hop(?:e|es|ing)|"
    r"(?:i|we|he|she|they) plan(?:s|ning)? (?:to|on)|planning (?:to|on)|intend\w*|dream\w*|"
    r"consider\w*|someone said|says|said|heard|"
    r"will|going to|gonna|i'd|next (?:week|month|year|summer|winter|spring|autumn)|tomorrow|"
    r"someday|one day|"
    r"used to want|almost|nearly|probably|supposedly|allegedly|rumou?r\w*",
    r"wenn|falls|wurde gerne?|wurde \w+ (?:ziehen|leben|wohnen|arbeiten)|konnte|vielleicht|"
    r"mochte|"
    r"hoff(?:e|t|en)|uberleg\w+|sagt|angeblich|nachste[nsrm]? (?:woche|monat|jahr)|"
    r"wahrscheinlich|will|werde|wird|morgen",
    r"peut-etre|aimerais|aimerait|voudrai\w+|pourrai\w+|espere|pense|un jour|"
    r"prochaine?s?|demain|parait|dit que|ira|irai|veux|veut|envisage",
    r"quizas?|tal vez|gustaria|quisiera|podria|espero|piens[oa]|algun dia|proxim[oa]|manana|"
    r"dice que|quier[oe]|voy a|va a|vamos a|queria",
    r"forse|vorrei|vorrebbe|potrei|potrebbe|spero|penso|un giorno|prossim[oa]|domani|dice che|"
    r"voglio|vuole",
    r"talvez|gostaria|poderia|espero|penso|um dia|proxim[oa]|amanha|diz que|quero|quer|vou|vai",
)
"""Wishes, plans, hearsay: nothing is so because of them."""
PAST = any_of(
    r"as a (?:child|kid|student|teenager|boy|girl)|(?:back )?in (?:19|20)\d\d|used to|years ago|"
    r"was|were|lived|worked|formerly|ago|grew up",
    r"als (?:kind|junge|madchen|student(?:in)?)|fruher|damals|war|waren|hatte|wohnte|arbeitete|"
    r"lebte|"
    r"ehemals|(?:im jahr|im jahre) \d{4}|vor (?:\w+ )?jahren",
    r"(?:quand j'etais )?enfant|autrefois|jadis|avant|etai\w+|avai\w+|habitai\w+|vivai\w+|"
    r"travaillai\w+|"
    r"il y a \w+ ans",
    r"de (?:nino|nina|joven|pequen[oa])|antes|era|vivia|trabajaba|tenia|hace \w+ anos|antano",
    r"da (?:bambin[oa]|piccol[oa]|giovane)|prima|ero|era|abitav[oa]|vivev[oa]|lavorav[oa]|"
    r"anni fa",
    r"em (?:crianca|pequen[oa])|antes|era|morava|vivia|trabalhava|tinha|ha \w+ anos",
)
"""It is told of what was."""
EVENT = any_of(
    r"met|meet|appointment|flight|invoice|build|birthday|meeting on|match|game|"
    r"treffe|getroffen|rechnung|flug|geburtstag|vois|facture|vol|quedo|factura|vuelo|vedo|"
    r"bolletta|"
    r"volo|encontro|fatura|voo|visit(?:ed)?|trip|been to|race|marathon"
)
"""Of these there are many, each with a time of its own."""
ALSO = any_of(
    r"also|too|as well|besides|another|second|auch|ebenfalls|ausserdem|zusatzlich|aussi|"
    r"egalement|"
    r"tambien|ademas|anche|pure|inoltre|tambem|alem disso|both|in addition|either"
)
QUALIFIERS = [
    frozenset(line.split())
    for line in """
    small large big medium
    klein kleine kleinen gross grosse grossen mittlere
    petit petite grand grande moyen
    pequeno pequena grande
    piccolo piccola grande
    left right
    links rechts linke rechte linkes rechtes
    gauche droite gauche droit
    izquierdo izquierda derecho derecha
    sinistro sinistra destro destra
    esquerdo esquerda direito direita
    summer winter spring autumn
    sommer winter fruhling herbst
    ete hiver printemps automne
    verano invierno primavera otono
    estate inverno primavera autunno
    verao inverno primavera outono
    morning evening afternoon night
    morgens abends mittags nachts
    matin soir nuit midi
    manana tarde noche
    mattina sera notte
    manha tarde noite
    weekdays weekday weekends weekend wochentags werktags wochenende semaine
    private personal work business
    privat private dienstlich dienstliche
    perso professionnel prive
    personal laboral
    personale lavoro
    read reads reading write writes writing
    staging production prod test testing dev development live
    older younger eldest youngest
    altere jungere alteste jungste
    aine ainee cadet cadette
    mayor menor
    maggiore minore
    mais velho novo
    first second third
    erste zweite dritte
    premier premiere deuxieme
    primero primera segundo segunda
    primo prima secondo seconda
    primeiro primeira segundo segunda
    ios android web mobile desktop backend frontend windows linux mac
    old new alte neue ancien nouveau
    upper lower top bottom north south east west inbound outbound back
    husband wife
    """.strip().split("\n    ")
]
"""Words of one line tell things apart: the small box, the large box."""
ATTITUDE = any_of(
    r"lik(?:e|es)|lov(?:e|es)|hat(?:e|es)|enjoys?|prefers?|favou?rite|recommends?|think|thought|"
    r"mag|liebe|liebt|hasse|aime|adore|prefere|gusta|encanta|prefier\w+|piace|adoro|preferisc\w+|"
    r"gosto|gosta|prefir\w+"
)
"""What one thinks of a thing does not end with it."""
FAVOURITE = any_of(
    r"favou?rite|lieblings\w+|preferee?s?|favorit[oae]s?|favorie?s?|preferid[oa]s?|preferit[oaie]"
)
SOUGHT: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "bond": "single married engaged divorced separated widowed girlfriend boyfriend dating"
        " together"
        " ledig verheiratet verlobt geschieden getrennt zusammen freundin freund celibataire"
        " marie"
        " mariee fiance fiancee divorce divorcee copain copine couple soltero soltera casado"
        " casada"
        " novio novia prometido divorciado divorciada single nubile celibe sposato sposata"
        " fidanzato"
        " fidanzata divorziato divorziata solteiro solteira namorado namorada noivo noiva",
        "diet": "vegan vegetarian pescatarian vegetarier vegetarierin veganer veganerin"
        " vegetarien"
        " vegetarienne vegano vegana vegetariano vegetariana meat fleisch viande carne",
        "child": "pregnant expecting schwanger enceinte embarazada incinta gravida baby",
        "absence": "leave holiday vacation sabbatical urlaub elternzeit conge vacances"
        " vacaciones baja"
        " congedo ferie licenca ferias",
        "home": "live lives living flat apartment house wohne wohnt wohnen lebe lebt habite"
        " habitons vis"
        " vit vivo vive vivimos abito abita abitiamo moro mora moramos vivemos moved",
        "work": "work works job working arbeite arbeitet arbeiten stelle travaille travaillons"
        " emploi"
        " trabajo trabaja trabajamos empleo lavoro lavora lavoriamo trabalho trabalha emprego",
        "studies": "study studies studying studiere studiert studium etudie estudio estudia"
        " studio studia"
        " estudo estuda",
        "vehicle": "drive drives fahre fahrt conduis conduit conduzco conduce guido guida"
        " conduzo conduz",
        "bank": "bank account konto compte cuenta conto conta",
    }.items()
}
"""Words by which what tells the same of somebody is looked for, accents aside."""
PEOPLE = frozenset(
    "parents family flatmate flatmates roommate roommates neighbour neighbours neighbors"
    " colleague"
    " eltern familie kinder nachbarn enfants voisin voisine voisins famille padres hijos vecino"
    " vecina vecinos familia genitori figli vicino vicina vicini famiglia pais filhos vizinho"
    " vizinha vizinhos".split()
)
"""Others than whoever speaks, besides those that vocabulary names."""
NOT_ONE = any_of(
    r"notes?|todo|to do|ideas?|remember|reminder|facts?|decisions?|questions?|examples?|tips?|"
    r"links?|"
    r"quotes?|fyi|ps|user|assistant|said|update|notiz|idee|frage|note|idea|pregunta|domanda|"
    r"pergunta"
)
"""Labels of which there are many: a note, an idea."""
