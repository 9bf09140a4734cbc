"""States of which one holds at a time, in en, de, fr, es, it and pt. Tables only.

Matched with texts as text.folded gives them: lower case, no accents, single spaces. Each gap is
bounded, so that time grows with the length alone.
"""

from kinmem.rules.pattern import Pattern, any_of

STATES: dict[str, dict[str, Pattern]] = {
    "bond": {
        "alone": any_of(
            r"(?:is|am|are|i'm|he's|she's) single|(?:again|newly) single|single again",
            r"single|ledig|celibataire|solter[oa]|celibe|nubile|solteir[oa]",
        ),
        "together": any_of(
            r"(?:girl|boy)friend|dating|seeing (?:someone|somebody)|(?:is|am|are) seeing (?!the|"
            r"a|an|my)\w+|going out with|"
            r"in a relationship",
            r"zusammen mit|mit \w+ zusammen|zusammen|(?:feste[rn]?|neue[rn]?) freund(?:in)?|"
            r"(?:habe|hat) (?:jetzt )?eine?n? freund(?:in)?",
            r"sor(?:t|s) avec|en couple|(?:une? )?petite? amie?|copine?|copain",
            r"sal(?:e|go) con|novi[oa]|pareja|(?:sta|sto|stanno) con|fidanzat[oa]|ragazz[oa]",
            r"namor(?:o|a) com|namorad[oa]",
        ),
        "engaged": any_of(
            r"(?:is|are|am|got|i'm|we're) engaged|verlobt|fiancee?s?|prometid[oa]s?|noiv[oa]s?"
        ),
        "married": any_of(
            r"(?:got |is |are |am |be |been |i'm |we're |newly )married|is \w+'s (?:wife|"
            r"husband)|"
            r"tied the knot|remarried|remariee?|wedding was",
            r"verheiratet|geheiratet|marie(?:e|s|es)?|epous(?:e|ee)|casad[oa]s?|se caso|me case",
            r"se casaron|sposat[oaie]|casei(?:-me)?|casou(?:-se)?|casaram(?:-se)?",
        ),
        "apart": any_of(
            r"divorced|separated|split up|c'est fini|c'est termine|lo dejamos|ci siamo lasciati|"
            r"acabamos|terminamos|schluss gemacht|nicht mehr zusammen|"
            r"broke up|broken up|geschieden|getrennt|scheiden lassen",
            r"divorce(?:e|s|es)?|separe(?:e|s|es)?|rompu|quitte(?:e|s)?|divorci\w+|separad[oa]s?",
            r"rompieron|rompio|han roto|lo dejaron|lasciat[oaie]|separat[oaie]|divorziat[oaie]",
            r"acabaram|terminaram|separaram(?:-se)?",
        ),
        "widowed": any_of(r"widow(?:ed|er)?|verwitwet|veuf|veuve|viud[oa]|vedov[oa]|viuv[oa]"),
    },
    "diet": {
        "vegan": any_of(r"vegan\w*|vegetalien(?:ne)?"),
        "vegetarian": any_of(r"vegetari(?:ans?|er|erin|erinnen|en|ens|ennes?|an[oa]s?|ani|ane)"),
        "fish": any_of(r"pescatarian|pescetarier(?:in)?"),
        "all": any_of(
            r"eat(?:s|ing)? (?:some )?(?:meat|fish|everything)|esse (?:wieder |"
            r"auch )?(?:fleisch|fisch)",
            r"isst (?:wieder |auch )?(?:fleisch|fisch)|"
            r"mange\w* (?:de nouveau )?(?:de la viande|du poisson)",
            r"com(?:er|o|e|emos) (?:carne|pescado|queso|peixe)|mangi(?:o|a) (?:anche )?(?:la |"
            r"il )?"
            r"(?:carne|pesce)|omnivor\w*",
        ),
    },
    "child": {
        "expected": any_of(
            r"pregnant|expecting|schwanger|enceinte|embarazada|incinta|gravida|"
            r"espera (?:un )?(?:bebe|um bebe)"
        ),
        "born": any_of(
            r"(?:had|has had) (?:her|a|the) (?:baby|boy|girl|son|daughter|twins)|gave birth|"
            r"(?:was|were) born",
            r"(?:hat|haben) (?:ein|ihr) (?:kind|baby) bekommen|(?:baby|kind) ist da|entbunden",
            r"a accouche|(?:bebe|enfant) est nee?|dio a luz|tuvo (?:un|una|su) \w+|ha partorito",
            r"e nat[oa]|deu a luz|teve (?:o|um|uma) (?:bebe|filh[oa])",
        ),
    },
    "order": {
        "broken": any_of(
            r"taken (?:down|offline)|broken(?: down)?|leaking|leaks|out of order|out of service|"
            r"is down|are down|"
            r"offline|doesn't work|"
            r"defective|not working",
            r"kaputt|defekt|ausser betrieb|geht nicht|funktioniert nicht|ausgefallen",
            r"en panne|casse(?:e|s)?|hors service|ne (?:marche|fonctionne) pas|tombee? en panne",
            r"averiad[oa]|rot[oa]|estropead[oa]|fuera de servicio|no funciona|no anda",
            r"rott[oa]|guast[oa]|fuori servizio|non funziona|avariad[oa]|estragad[oa]|"
            r"nao funciona",
            r"partid[oa]|fora de servico",
        ),
        "working": any_of(
            r"(?:is|are|went) live|works? (?:again|fine|now)|(?:is |are )?working (?:again|fine|"
            r"now)|fixed|repaired|"
            r"back up|up again|running again|back online|works",
            r"geht wieder|funktioniert wieder|lauft wieder|repariert|geht jetzt|wieder da",
            r"(?:re)?marche|fonctionne|repare(?:e|s)?|(?:vuelve a )?funcionar?|arreglad[oa]",
            r"reparad[oa]|funziona|(?:a |di nuovo )?funzionare|riparat[oa]|aggiustat[oa]|"
            r"consertad[oa]|"
            r"arranjad[oa]",
        ),
    },
    "progress": {
        "planned": any_of(
            r"(?:has|have)(?:n't| not) (?:been )?(?:started|begun)(?: yet)?|not started(?: yet)?|"
            r"pending|planned|to do|todo|in the backlog|draft|still open",
            r"geplant|noch nicht (?:angefangen|begonnen|gestartet)|ausstehend|steht noch aus",
            r"prevue?s?|pas encore (?:commencee?s?)|en attente|pendiente|sin empezar|planead[oa]",
            r"in attesa|da fare|non (?:e )?ancora iniziat[oa]|pendente|por fazer",
            r"(?:hat|haben) noch nicht (?:angefangen|begonnen)|a (?:pas|n'a pas) encore commence",
            r"(?:todavia|aun) no ha (?:empezado|comenzado)|ainda nao comec\w+",
        ),
        "open": any_of(
            r"(?:is |still |: )open|open|abiert[oa]|reopened|unresolved|(?:wieder )?(?:offen|"
            r"geoffnet)|"
            r"(?:a )?rouverte?|(?:ha )?riapert[oa]|reabri\w+|vuelto a abrir|reabiert[oa]|"
            r"ouverte?s?|abiert[oa]s?|apert[oa]s?|abert[oa]s?"
        ),
        "running": any_of(
            r"being \w+ed|(?:has |have )?(?:started|begun)|in progress|under way|underway|ongoing|"
            r"being built|"
            r"(?:has |have |been |was |is )*(?:resumed|restarted|relaunched|back on track)|"
            r"lauft wieder|wieder aufgenommen|geht weiter|relancee?|reprise?|reanudad[oa]|"
            r"retomad[oa]|"
            r"ripartit[oa]|ripres[oa]|recomec\w+|a repris|repart\w*|reiniciad[oa]|in arbeit|"
            r"lauft gerade|angefangen|begonnen|en cours|commencee?s?|en curso|"
            r"en marcha|"
            r"empezad[oa]|in corso|iniziat[oa]|em curso|em andamento|comecou"
        ),
        "reviewed": any_of(
            r"in review|under review|being reviewed|in prufung|in pruefung|en revision|"
            r"en relecture|in revisione|em revisao"
        ),
        "approved": any_of(
            r"approved|accepted|merged|signed(?: off)?|unterschrieben|unterzeichnet|signee?|"
            r"firmad[oa]|"
            r"firmat[oa]|assinad[oa]|genehmigt|freigegeben|angenommen|approuvee?s?|"
            r"acceptee?s?|aprobad[oa]|aceptad[oa]|approvat[oa]|accettat[oa]|aprovad[oa]|aceite"
        ),
        "refused": any_of(
            r"rejected|declined|turned down|abgelehnt|refusee?s?|rejetee?s?|rechazad[oa]|"
            r"rifiutat[oa]|respint[oa]|recusad[oa]|rejeitad[oa]"
        ),
        "blocked": any_of(
            r"blocked|on hold|paused|stalled|frozen|on ice|(?:liegt |ist )?auf eis|parad[oa]|fermo|"
            r"a l'arret|gele|"
            r"ruht|stoppt?|gestoppt|suspendu|detenid[oa]|blockiert|pausiert|bloquee?s?|en pause|"
            r"bloquead[oa]|"
            r"(?:en|in|em) pausa|bloccat[oa]|sospes[oa]|em pausa|suspens[oa]"
        ),
        "passed": any_of(r"passed|bestanden|reussie?s?|aprobe|superat[oa]|passei"),
        "done": any_of(
            r"(?:is |are |been )?(?:done|fixed|finished|completed?|closed|resolved|solved|shipped|"
            r"released|delivered|over)",
            r"fertig|erledigt|abgeschlossen|geschlossen|beendet|gelost|ausgeliefert",
            r"(?:is|are) final|finali[sz]ed|corrigee?s?|corregid[oa]s?|corrett[oaie]|"
            r"corrigid[oa]s?|(?:esta|estao) pront[oa]s?|"
            r"reglee?s?|termine(?:e|s|es)?|fini(?:e|s|es)?|fermee?s?|resolue?s?|livree?s?|"
            r"cloturee?s?",
            r"terminad[oa]s?|acabad[oa]s?|cerrad[oa]s?|resuelt[oa]s?|entregad[oa]s?|listo",
            r"finit[oaie]|terminat[oaie]|conclus[oaie]|chius[oaie]|risolt[oaie]|consegnat[oaie]",
            r"fechad[oa]s?|concluid[oa]s?|resolvid[oa]s?|entregue",
        ),
    },
    "delivery": {
        "ordered": any_of(
            r"ordered|(?:been )?placed|bestellt|commandee?s?|pedid[oa]|ordinat[oa]|"
            r"encomendad[oa]"
        ),
        "sent": any_of(
            r"shipped|dispatched|on (?:its|the) way|in transit|verschickt|versendet|unterwegs|"
            r"expediee?s?|"
            r"en route|enviad[oa]|en camino|spedit[oa]|in viaggio|a caminho"
        ),
        "there": any_of(
            r"(?:has |have )?arrived|delivered|angekommen|geliefert|zugestellt|arrivee?s?|"
            r"livree?s?|"
            r"ha llegado|llego|entregad[oa]|arrivat[oa]|consegnat[oa]|chegou|entregue"
        ),
    },
    "hours": {
        "part": any_of(
            r"part[- ]time|teilzeit|temps partiel|media jornada|tempo"
            " parcial|part-time"
        ),
        "full": any_of(
            r"full[- ]time|vollzeit|temps plein|jornada completa|tempo pieno|tempo inteiro"
        ),
    },
    "taste": {
        "liked": any_of(
            r"lik(?:e|es)|lov(?:e|es)|enjoys?|(?:ich |er |sie )?mag|liebe|liebt|aime|adore|"
            r"gustan?|"
            r"encantan?|piace|piacciono|adoro|adora|gosto|gosta"
        ),
        "disliked": any_of(
            r"hat(?:e|es)|dislikes?|(?:can't|cannot|can not) stand|sick of|tired of|fed up with|"
            r"hasse|hasst|kann \w+ nicht (?:ausstehen|leiden)|deteste|odi(?:o|a)|detesto|detesta"
        ),
    },
    "learning": {
        "in": any_of(
            r"(?:at|in) (?:university|uni|college|school)|(?:is|am|i'm) a student|"
            r"student(?:in)?|etudiante?|"
            r"estudiante|studente|studentessa|estudante"
        ),
        "out": any_of(
            r"graduated|finished (?:school|university|college)|studium abgeschlossen|diplomee?|"
            r"se graduo|me gradue|laureat[oa]|formou-se|formei-me"
        ),
    },
    "health": {
        "ill": any_of(
            r"sick|ill|hurts?|sore|aching|(?:have|has|got) (?:a|the) (?:bad )?(?:cold|flu|fever|"
            r"migraine)|"
            r"broken|krank|erkaltet|(?:tut|tun) weh|schmerzt|malade|fait mal|enferm[oa]|"
            r"resfriad[oa]|"
            r"duele|malat[oa]|raffreddat[oa]|fa male|doente|constipad[oa]|doi"
        ),
        "well": any_of(
            r"(?:fine|well|healthy|ok|okay|better|good) (?:again|now)|recovered(?: from)?|healed|"
            r"cured|"
            r"over (?:my|his|her|the) (?:cold|flu)|wieder (?:gesund|gut|fit)|genesen|verheilt|"
            r"guerie?|"
            r"remise?|retablie?|recuperad[oa]|curad[oa]|se me paso|guarit[oa]|passat[oa]|recuperei|"
            r"melhor(?:ei|ou)?|ya estoy bien"
        ),
    },
    "schedule": {
        "timely": any_of(
            r"on (?:track|schedule|time)|im (?:zeit)?plan|dans les temps|a l'heure|en plazo|"
            r"in orario|nei tempi|no prazo|dentro do prazo"
        ),
        "late": any_of(
            r"delayed|behind schedule|running late|verspatet|in verzug|en retard|retrasad[oa]|"
            r"in ritardo|atrasad[oa]"
        ),
    },
    "payment": {
        "owed": any_of(
            r"unpaid|outstanding|overdue|not (?:been )?paid|unbezahlt|offen|impayee?s?|"
            r"(?:por|sin) pagar|impagad[oa]|non (?:e )?(?:stata )?pagat[oa]|da pagare"
        ),
        "paid": any_of(
            r"(?:been )?paid(?: off)?|settled|bezahlt|beglichen|payee?s?|reglee?s?|pagad[oa]s?|"
            r"pagat[oaie]|saldat[oa]|pag[ao]s?"
        ),
    },
    "validity": {
        "over": any_of(
            r"expired|revoked|abgelaufen|perimee?s?|expiree?s?|caducad[oa]s?|scadut[oaie]|"
            r"expirad[oa]"
        ),
        "renewed": any_of(
            r"renewed|valid|gultig|valables?|verlangert|erneuert|renouvelee?s?|renovad[oa]s?|"
            r"rinnovat[oaie]|"
            r"renove|renovei|renouvele"
        ),
    },
    "shift": {
        "night": any_of(r"night shifts?|nachtschicht|de nuit|turno de noche|turno di notte"),
        "day": any_of(r"day shifts?|tagschicht|fruhschicht|de jour|turno de dia|turno di giorno"),
    },
    "access": {
        "private": any_of(r"(?:is|are|made|set to|:) (?:\w+ ){0,3}private|not public"),
        "public": any_of(r"(?:is|are|made|set to|:) (?:\w+ ){0,3}public"),
    },
    "charge": {
        "free": any_of(r"(?:is|are) free(?: of charge)?|kostenlos|gratis|gratuite?s?|gratuit[oa]"),
        "paid": any_of(r"(?:charges?|costs?|kostet|coute|cuesta|costa|custa) \w+"),
    },
    "post": {
        "vacant": any_of(r"vacant|unfilled|unbesetzt|vakant|vacante?s?|vag[oa]"),
        "filled": any_of(r"(?:been |is )filled|taken|besetzt|pourvue?|cubiert[oa]|preenchid[oa]"),
    },
    "tests": {
        "failing": any_of(
            r"failing|fails?|red|broken|rot|schlagen fehl|echouent|fallan|falliscono"
        ),
        "passing": any_of(r"passing|green|pass(?: again)?|grun|laufen durch|passent|pasan|passano"),
    },
    "switch": {
        "on": any_of(
            r"(?:turned|switched) (?:\w+ ){1,3}on|(?:ist|sind) an(?=[.!]?$)|"
            r"(?:is|are|turned|switched|set to|:) on|enabled|active|activated|eingeschaltet|"
            r"aktiviert|aktiv|activee?s?|allumee?s?|activad[oa]|encendid[oa]|attiv[oa]|"
            r"attivat[oa]|acces[oa]|ativad[oa]|ligad[oa]"
        ),
        "off": any_of(
            r"(?:turned|switched) (?:\w+ ){1,3}off|(?:ist|sind) aus(?=[.!]?$)|"
            r"(?:is|are|turned|switched|set to|:) off|disabled|inactive|deactivated|"
            r"ausgeschaltet|"
            r"deaktiviert|inaktiv|desactivee?s?|eteinte?s?|desactivad[oa]|apagad[oa]|"
            r"disattivat[oa]|spent[oa]|desativad[oa]|desligad[oa]"
        ),
    },
    "job": {
        "none": any_of(
            r"unemployed|out of work|between jobs|looking for work|arbeitslos|arbeitssuchend|"
            r"au chomage|sans emploi|en paro|desemplead[oa]|disoccupat[oa]|desempregad[oa]"
        ),
        "some": any_of(
            r"(?:found|got|started|have|has|landed) (?:a|an|the|my|his|her) (?:\w+ )?job|hired|"
            r"employed(?: again)?|eingestellt|embauchee?|contratad[oa]|assunt[oa]|"
            r"(?:habe|hat) (?:eine|einen) (?:\w+ )?(?:stelle|job)|(?:ai|a) trouve (?:du|un) \w+|"
            r"(?:he|ha) encontrado (?:un )?trabajo|encontre (?:un )?trabajo|"
            r"(?:ho|ha) trovato (?:un )?lavoro|arranj(?:ei|ou) (?:um )?(?:trabalho|emprego)"
        ),
    },
    "absence": {
        "away": any_of(
            r"in (?:the )?hospital|im krankenhaus|a l'hopital|en el hospital|in ospedale|"
            r"no hospital",
            r"(?:is |are |am |i'm )?(?:on|taking) (?:\w+ )?(?:leave|holiday|vacation|sabbatical)|"
            r"off sick|on sick leave|in (?:elternzeit|mutterschutz)|im urlaub|krankgeschrieben|"
            r"krank|en conge\w*(?: \w+)?|en vacances|en arret maladie|de baja|de vacaciones|"
            r"in (?:congedo|ferie|malattia|maternita)|de (?:licenca|ferias|baixa)",
        ),
        "back": any_of(
            r"(?:is |are |am |i'm )?back(?: from| at work| in the office| home)|"
            r"is back(?=[.!]?$)|"
            r"home (?:from|again)|out of (?:the )?hospital|wieder (?:da|zuruck|im buro|zu hause)|"
            r"discharged|released from|returned from|entlassen|(?:suis|est) (?:rentree?|revenue?)|"
            r"(?:he|ha) vuelto|vuelvo de|(?:sono|e) (?:tornat|rientrat)[oa]|voltei d\w+|"
            r"zuruck aus|zuruck|de retour|ha vuelto|de vuelta|e tornat[oa]|"
            r"di ritorno|voltou|de volta|regressou"
        ),
    },
    "address": {
        "familiar": any_of(
            r"duz\w+|tutoi\w+|tutear\w*|tuteam?e|tutea\w*|dar(?:mi|ci) del tu|dammi del tu"
        ),
        "formal": any_of(r"siez\w+|vouvoi\w+|tratam?e de usted|dar(?:mi|ci) del lei|dammi del lei"),
    },
    "length": {
        "short": any_of(
            r"short|brief|concise|terse|kurz\w*|knapp\w*|courte?s?|breve?s?|cort[oa]s?|brevi|"
            r"curt[oa]s?"
        ),
        "long": any_of(
            r"long|detailed|verbose|thorough|lang|lange|ausfuhrlich\w*|detaillee?s?|"
            r"longue?s?|larg[oa]s?|detallad[oa]s?|lung[oahi]+|dettagliat[oaie]|long[oa]s?|"
            r"detalhad[oa]s?"
        ),
    },
}
"""Of each, one holds at a time: which of them a text tells."""
OF_PERSONS = frozenset({"bond", "diet", "child", "job", "learning", "hours", "absence"})
"""States of somebody, who is all that the two texts need to have in common."""
WISHES = frozenset({"address", "length", "taste"})
"""States that need a sign that it was otherwise: how an answer should be, what somebody likes."""
