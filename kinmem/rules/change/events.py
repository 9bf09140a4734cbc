"""Changes told as an event, in en, de, fr, es, it and pt. Tables only.

Matched with texts as text.folded gives them: lower case, no accents, single spaces. Each gap is
bounded, so that time grows with the length alone.
"""

from kinmem.rules.pattern import Pattern, any_of

ENDING = any_of(
    r"gave (?:\w+ ){1,3}away|cut out|came off|shaved off|paid (?:\w+ )?back|paid off",
    r"put (?:\w+ ){1,2}down|dropped out of|(?:i'm|am|he's|she's) off (?!work|to|on|for|today|sick|"
    r"duty|at)|"
    r"is history|ist geschichte|es historia|e storia|annullat[oaie]|cancelad[oa]s?|abgesetzt",
    r"(?:have |has |'ve |'s )?(?:sold|quit|ditched|axed|binned|left|dropped|cancelled|canceled|"
    r"closed|finished|ended|"
    r"abandoned|resigned(?: from| as)?|retired(?: from)?|stop|terminated|called off|broke off|"
    r"cleared|got (?:my|his|her|our|the) \w+ off|deleted|removed|scrapped|decommissioned|"
    r"unsubscribed from|shut down|gave up|given up|gave away|given away|got rid of|stopped|"
    r"broke up "
    r"with|broken up with|split up with|moved (?:off|out of)|stepped down(?: as)?|fired|"
    r"let go of|"
    r"handed (?:\w+ ){1,3}over|gave (?:\w+ ){1,3}back|handed over|graduated|qualified|dumped|"
    r"lost|traded|swapped|exchanged|died|stolen|had to (?:sell|leave|quit|drop|close|cancel)|"
    r"(?:done|finished) with|passed away|switched away from|graduated(?: from)?|"
    r"returned|phased out)",
    r"(?:was|were|been|is|got) (?:moved off|taken off|laid off|fired|retired|shut down|cancelled|"
    r"removed|sold|discontinued|decommissioned|dismissed)",
    r"hor auf(?:,)? (?:mit|zu)?|arrete de|deja de|smetti di|smettila di|para de",
    r"verkauft|gestohlen|fertig mit|gekundigt|abgebrochen|aufgegeben|beendet|verlassen|"
    r"abgeschafft|aufgehort|"
    r"geschlossen|abgemeldet|ausgetreten|gestorben|verloren|abgeschaltet|getrennt|zuruckgetreten|"
    r"ausgezogen|abgeschlossen|absolviert|ubergeben|zuruckgegeben|verschenkt|abgesagt|entlassen",
    r"vendue?s?|quitte(?:e|s)?|demissionne|arrete|abandonne(?:e|s)?|resilie(?:e|s)?|ferme(?:e|"
    r"s)?|"
    r"perdue?s?|morte?s?|supprime(?:e|s)?|cesse|donne(?:e|s)?|fini|termine|annule(?:e|s)?|"
    r"licencie(?:e)?",
    r"vendi(?:o|eron|mos)?|vendido|dej(?:e|o|amos|aron|ado)|abandon\w+|cancel(?:e|o|ado|amos)|"
    r"renunci(?:e|o|ado)|cerr(?:e|o|ado)|perdi(?:o|do)?|murio|termin(?:e|o|ado)|acab(?:e|o|ado)|"
    r"se retiro|despidieron|elimin(?:e|o|ado)",
    r"vendut[oaie]|lasciat[oaie]|smesso|abbandonat[oaie]|disdett[oaie]|chius[oaie]|pers[oaie]|"
    r"mort[oaie]|finit[oaie]|licenziat[oaie]|cancellat[oaie]|mollat[oaie]|eliminat[oaie]",
    r"vend(?:i|eu|emos|ido)|sai(?:u)? d[aoe]|deix(?:ei|ou|amos|ado)|larg(?:uei|ou)|abandon\w+|"
    r"cancel(?:ei|ou|ado)|fech(?:ei|ou)|perd(?:i|eu)|morreu|termin(?:ei|ou)|acab(?:ei|ou|aram)|"
    r"demiti\w*|despedi\w*|desisti\w*",
    r"(?:is|has) retired|(?:im|in) ruhestand|pensioniert|(?:a|la) la retraite|retraitee?|"
    r"jubilad[oa]|"
    r"in pensione|reformad[oa]|aposentad[oa]",
)
"""An end told as an event: of what is named beside it."""
_UP = (
    r"raise to|released|shipped|upped|hiked|trimmed|went from|(?:approved|fixed|agreed) at|raised|"
    r"rises|rose|falls|slipped|"
    r"slips|goes (?:up|down)|increased|cut|reduced|lowered|"
    r"dropped|went up|gone up|gone down|went down|put up|"
    r"put|"
    r"bumped|doubled|halved|rose|risen|fell|fallen|grew|grown|shrunk|extended|shortened|"
    r"changed|set|"
    r"adjusted|limited|capped"
)
_TIMED = (
    r"rebooked|pulled forward|slid|postponed|pushed (?:back|out)|pushed|brought forward|"
    r"rescheduled|delayed|put off|moved|"
    r"shifted|"
    r"deferred"
)
_PLACED = r"moved|relocated|migrated|transferred|shifted|ported|switched|rehosted"
TURNED = {
    "amount": any_of(
        rf"(?:{_UP}|{_TIMED}|upgraded|downgraded|updated|bumped|renewed)",
        r"(?:erhoht|gesenkt|gestiegen|gesunken|angehoben|gekurzt|verlangert|verkurzt|geandert|"
        r"verschoben|vorgezogen|verlegt|aktualisiert|umgestellt|reduziert|umgestiegen|geworden)",
        r"(?:passe(?:e|s|es)?|augmente(?:e|s)?|monte(?:e|s)?|baisse(?:e|s)?|reduite?s?|"
        r"repousse(?:e|s)?|decale(?:e|s)?|"
        r"reporte(?:e|s)?|avance(?:e|s)?|deplace(?:e|s)?|prolonge(?:e|s)?|porte(?:e|s)?|"
        r"change(?:e|s)?|mise?s? a jour)",
        r"(?:subi(?:o|do|eron)|baj(?:o|ado|aron)|aument(?:o|ado|aron)|reduc\w+|redujo|"
        r"aplaz(?:a|o|ad[oa])|se (?:retrasa|adelanta|mueve)|"
        r"retras(?:o|ado)|adelant(?:o|ado)|cambi(?:o|ad[oa])|pas(?:o|ado|amos)|actualiz\w+|"
        r"amplio|"
        r"ampliado|pospuso|pospuesto|movio|movid[oa]|cumpli|cumplio|cumplido|pasan? a)",
        r"(?:slittat[oaie]|rimandat[oaie]|salit[oaie]|sces[oaie]|aumentat[oaie]|ridott[oaie]|"
        r"spostat[oaie]|rinviat[oaie]|"
        r"posticipat[oaie]|anticipat[oaie]|cambiat[oaie]|passat[oaie]|aggiornat[oaie]|"
        r"prorogat[oaie]|"
        r"portat[oaie]|compiut[oaie]|compiuto)",
        r"(?:subi(?:u|ram)|desceu|baixou|aument(?:ou|ado|aram)|reduzi(?:u|do|da)|adiad[oa]|"
        r"antecipad[oa]|"
        r"mud(?:ou|ad[oa]|aram|amos)|pass(?:ou|amos|aram)|atualiz\w+|prorrogad[oa]|alterad[oa]|"
        r"fez|fiz|fizeram)",
        r"turned|reached|down to|up to|is now|are now|hit|atteint|alcanz(?:o|ado)|raggiunt[oa]|"
        r"cheguei|atingiu|erreicht",
    ),
    "place": any_of(
        rf"(?:{_PLACED}|{_TIMED})",
        r"(?:um)?gezogen|verlegt|verschoben|migriert|umgestiegen|gewechselt|verlagert",
        r"demenage(?:e|s)?|deplace(?:e|s)?|migre(?:e|s)?|transfere(?:e|s)?|passe(?:e|s)?",
        r"mud(?:o|ado|amos|aron)|traslad(?:o|ado|aron|amos)|migr(?:o|ado|amos)|movi(?:o|do)|"
        r"pas(?:o|ado|amos)",
        r"spostat[oaie]|trasferit[oaie]|migrat[oaie]|passat[oaie]",
        r"mud(?:ei|ou|ad[oa]|amos?|aram)(?:-me|-se|-nos)?|transferid[oa]|migr(?:ou|ado|amos)|"
        r"pass(?:ou|amos|aram)",
    ),
    "making": any_of(
        r"rewrote|rewritten|rebuilt|ported|reimplemented|converted|umgeschrieben|neu geschrieben|"
        r"portiert|reecrite?s?|reecrit|porte(?:e|s)?|reescri(?:to|bimos|bio)|riscritt[oaie]|"
        r"reescreve(?:mos|u)|reescrit[oa]"
    ),
    "name": any_of(
        r"renamed|umbenannt|renomme(?:e|s)?|rebaptise(?:e|s)?|renombr(?:o|ado|amos)|"
        r"rinominat[oaie]|"
        r"renome(?:ou|ado|amos|ada)|rebatizad[oa]|umgetauft|rebranded"
    ),
    "value": any_of(
        r"changed|updated|reset|switched|altered|replaced|swapped|geandert|gewechselt|"
        r"umgestellt|ersetzt|"
        r"change(?:e|s)?|remplace(?:e|s)?|modifie(?:e|s)?|cambi(?:e|o|ad[oa]|amos)|modificad[oa]|"
        r"cambiat[oaie]|modificat[oaie]|sostituit[oaie]|mud(?:ei|ou|ad[oa]|amos)|troquei|"
        r"troc(?:ou|amos)|"
        r"alter(?:ei|ou|ad[oa])"
    ),
    "role": any_of(
        r"(?:took|taken|takes|taking) over(?: from)?|replaced|replaces|succeeded|succeeds|"
        r"abgelost|ubernommen|nachfolger(?:in)? von|remplace(?:e|s)?|a pris la (?:suite|place)|"
        r"succede a|reemplaz(?:o|a|ado)|sustituy(?:o|e)|sostituit[oaie]|sostituisce|"
        r"preso il posto|substitui(?:u|do)?|sucedeu"
    ),
}
"""A change told as an event: with what kind of value it ends."""
LOCATED = any_of(
    r"(?:on|at|in|into|to) (?:\w+ )?\w+|bei|auf|am|im|in|dans|chez|rue|en|em|no|na|nel|nella|"
    r"alla|al|a"
)
MADE = any_of(
    r"written|built|made|coded|programmed|developed|implemented|based on|geschrieben|gebaut|"
    r"programmiert|entwickelt|ecrite?s?|code(?:e|s)?|developpe(?:e|s)?|escrit[oa]s?|hech[oa]s?|"
    r"desarrollad[oa]s?|scritt[oaie]|fatt[oaie]|sviluppat[oaie]|feit[oa]s?|desenvolvid[oa]s?"
)
CALLED = any_of(
    r"called|named|name|heiss(?:t|en)|genannt|name|s'appelle|appelee?s?|nom|se llama|"
    r"llamad[oa]|nombre|"
    r"si chiama|chiamat[oa]|nome|chama(?:-se)?|se chama|chamad[oa]"
)
SWITCHED = any_of(
    r"changed|switched|gewechselt|change|cambie|cambiado|cambiamos|cambiato|cambiat[oa]|mudei|"
    r"mudou|"
    r"mudamos|troquei|trocou|trocamos"
)
GETTING = any_of(
    r"(?:are|is) in(?=[.!]?$)|took|made|gemacht|pres[oa]|sacad[oa]|obtenue?|tirou|hired",
    r"learn(?:ed|t)|gelernt|appris|aprendid[oa]|aprendi|imparato|come through|arrived|"
    r"bought|found|hired|got|adopted|acquired|received|gekauft|gefunden|eingestellt|bekommen|"
    r"besorgt|"
    r"achete(?:e|s)?|trouve(?:e|s)?|embauche(?:e|s)?|adopte|(?:ai|a|avons) eu|compr(?:e|ado|"
    r"amos|ei|ou|ato)|"
    r"comprat[oa]|encontr(?:e|ado|amos|ei|ou)|contratad[oa]|contrat(?:e|amos|ei)|conseguid[oa]|"
    r"consegui|"
    r"trovat[oa]|assunt[oa]|arranj(?:ei|ou|amos)|adotei|adoptei|ottenuto|tirei|passed|obtained",
)
SWITCHING = any_of(
    r"(?:have |has |'ve |'s |was |were |been |got |being )*(?:switched|migrated|moved|changed|"
    r"transitioned|converted|swapped|traded|replaced|dropped|ditched|adopted|ported|rewrote|"
    r"rewritten|joined|settled on|standardi[sz]ed on|opted for|picked|chose|rolled out)"
    r"(?: (?:all|over|on|in|out|back|away|it|them|everything))?(?: (?:to|from|with|by|for|of))?",
    r"(?:went|gone) (?:with|over to|for|back to)|in favou?r of|is history|ist geschichte|"
    r"is gone(?: from)?|are gone",
    r"signed (?:on )?with|hired by|poached by",
    r"umgestellt|gewechselt|umgestiegen|migriert|ersetzt|(?:ein|aus)?getauscht|abgelost|umgezogen|"
    r"umgeschrieben|umgesattelt|eingefuhrt|rausgeworfen|portiert",
    r"pass(?:e|ee|es|ees) (?:a|au|chez|sur|sous|de)|migre(?:e|s)?|remplace(?:e|s)?|bascule(?:e|s)?|"
    r"troque(?:e|s)?|abandonne(?:e|s)?|opte pour|adopte(?:e|s)?|rejoint|rejoindre|reecrit(?:e)?",
    r"cambi(?:e|o|ado|amos|aron)(?: (?:a|por|de))?|(?:me |nos |se )?pas(?:e|o|ado|amos|aron) a|"
    r"migr(?:e|o|ado|amos)|reemplaz(?:o|ado|amos)|sustitu(?:i|ido|imos|yo)|adopt(?:o|ado|amos)|"
    r"me fui a|se fue a|(?:ha|he) fichado por|fich(?:e|o) por|reescrit[oa]|reescribimos",
    r"passat[oaie] (?:a|al|alla|in|da)|migrat[oaie]|sostituit[oaie]|cambiat[oaie]|rimpiazzat[oaie]|"
    r"abbandonat[oaie]|adottat[oaie]|entrat[oa] in|riscritt[oaie]|scambiat[oaie]|dato via",
    r"mud(?:ei|ou|amos|aram|ado)(?:-me)?(?: para| de)?|pass(?:ei|ou|amos|aram) (?:a|para|de)|"
    r"migr(?:ei|ou|amos|ado)|substitu(?:i|iu|imos|ido)|troc(?:ou|amos|ado)|troquei|adot(?:ou|amos)|"
    r"(?:fui|foi|fomos) para|reescrev(?:emos|eu)|trocad[oa]",
)
"""A change from one thing to another of its kind."""
_MY = (
    r"(?:my|our|his|her|their|the|meine?|unsere?|die|der|mon|ma|notre|le|la|l'|mi|nuestr[oa]|su|el|"
    r"(?:il |la )?(?:mio|mia|nostr[oa]|suo|sua)|il|(?:o |a )?(?:meu|minha|noss[oa])|o|a)"
)
_THING = r"(?P<thing>\w[\w-]*(?: \w[\w-]*){0,2}?)"
_IS = r" ?(?:: |is |ist |lautet |heisst |est |es |e |are |sind )"
NEW_ONE = Pattern(
    rf"\b(?:{_MY} ?)?(?:new|neuer?|nouve(?:au|l|lle)|nuev[oa]|nuov[oa]|nov[oa]) {_THING}{_IS}"
)
"""Another one of what one has, with what it is."""
HAD_ONE = Pattern(rf"{_MY} ?{_THING}{_IS}")
MOVED = any_of(
    r"moved|relocated|umgezogen|demenage|mudad[oa]|mude|mudamos|cambi\w+ (?:de )?casa|"
    r"traslocat[oaie]|"
    r"trasferit[oaie]|mudei|mudam?os de casa|me mudei"
)
BEING_THERE = any_of(
    r"(?:i'm|we're|am|is|are|based|home is) (?:based |living |now )?in|"
    r"(?:bin|ist|sind) (?:jetzt |nun )?in|"
    r"(?:suis|est|sommes) (?:maintenant )?a|(?:estoy|esta|estamos) (?:ahora )?en|"
    r"(?:sono|e|siamo) (?:adesso |ora )?a|(?:estou|esta|estamos) (?:agora )?em"
)
"""Where one is, said of one who has moved: there one lives."""
BEING_ONE = Pattern(
    r"^(?:the|our|my|unsere?|meine?|der|die|notre|mon|ma|le|la|nuestr[oa]|mi|el|il|la|"
    r"(?:il|la) (?:nostr|mi)[oa]|[oa] (?:noss|minh|meu)[oa]?) [\w ]{3,40} (?:is|ist|est|es|e) "
)
"""Somebody is said to be the one: our captain is Nils."""
TAKING = any_of(
    r"is (?:the|our|my|his|her) new|ist (?:der|die|unsere?|meine?) neue|est (?:le|la|notre|mon|ma) "
    r"nouve\w+|es (?:el|la|nuestr[oa]|mi) nuev[oa]|e (?:il|la) nuov[oa]|e [oa] nov[oa]",
    r"picked up|picks up|went to|goes to|inherited",
    r"hand(?:s|ed)?|handed over|pass(?:es|ed)|(?:has |have |is )?(?:took|taken|takes|taking) over|"
    r"transferred|reassigned|now belongs|swapped (?:with)?|stepp(?:ed|ing) in|gave|given to|"
    r"filling "
    r"in",
    r"ubernommen|ubernimmt|ubergeben|abgegeben|ubertragen|ubergegangen",
    r"repris|reprend|confiee?|passee? a|transmise?|cedee?",
    r"asumid[oa]|asume|asumio|ha pasado a|paso a|traspasad[oa]|releva|relevo",
    r"preso in carico|passat[oa] a|subentra\w*|affidat[oa]|cedut[oa]|prende il posto",
    r"assumiu|assume|passou (?:a|para)|ficou com|entregou|passad[oa] a",
)
"""Somebody takes over what was another's, told as an event."""
STARTING = any_of(
    r"joined|start(?:s|ed|ing)?|hired|took (?:a|the|up)|embauchee?|contratad[oa]|empez\w+|empiezo|"
    r"comenc\w+|assunt[oa]|iniziat\w+|comec\w+|angefangen|fange|eingestellt|commence\w*"
)
"""A job that has begun."""
PROMOTED = any_of(
    r"(?:been |was |got |were |am |just |recently )*promoted(?: to)?|made me|appointed(?: as)?|"
    r"(?:became|become) (?:the|an?)|moved up to|stepped up (?:as|to)|new (?:role|position|"
    r"job title)",
    r"befordert|ernannt|aufgestiegen|ausgelernt|(?:finished|completed) (?:my|his|her) "
    r"(?:apprenticeship|traineeship|internship)|permanent",
    r"promue?|nommee?|en cdi|monte(?:e)? en grade",
    r"hech[oa] fij[oa]|ascendid[oa]|ascendieron|ascendi|nombrad[oa]|nombraron",
    r"promoss[oa]|nominat[oa]|diventat[oa]|tempo indeterminato",
    r"a efetiv[oa]|promovid[oa]|nomead[oa]|promoveram",
)
"""Another position, told as an event."""
SEEKING = any_of(
    r"saving (?:up )?for|spare auf|epargne pour|ahorro para|risparmio per",
    r"waiting for|warte auf|attends|espero|aspetto|"
    r"looking for|searching for|hiring|seeking|suche|sucht|suchen|auf \w*suche|cherche|"
    r"cherchons|busc(?:o|a|amos)|"
    r"cerc(?:o|a|hiamo)|procur(?:o|a|amos)|in search of|need an?",
)
AGAIN = any_of(
    r"again|now|started|back to|took up|taken up|wieder|jetzt|inzwischen|de nouveau|maintenant|"
    r"recommence|otra vez|de nuevo|ahora|vuelto a|di nuovo|adesso|ripreso|de novo|agora|voltei a"
)
"""What was not so is so."""
BELONGING = any_of(
    r"school|university|uni|course|degree|job|position|account|membership|contract|subscription|"
    r"lessons|studies|studium|\w*studium|"
    r"stelle|job|konto|mitgliedschaft|vertrag|abo|emploi|poste|compte|abonnement|contrat|trabajo|"
    r"empleo|puesto|cuenta|contrato|suscripcion|lavoro|posto|conto|contratto|abbonamento|"
    r"trabalho|"
    r"emprego|conta|assinatura"
)
"""What ends with a thing, without being named beside it before."""
FROM = any_of(r"from|von|vom|aus|du|de|d'\w+|desde|da|dal|dalla|do")
HOLDING = any_of(
    r"leads?|runs?|manages?|heads?|chairs?|coordinates?|maintains?|moderates?|(?:is|are) (?:the|"
    r"our|my)|owns?|owned by|(?:the )?owner of|(?:is |are )?(?:responsible|accountable) for|"
    r"(?:is |are )?in charge of|takes? care of|looks? after|handles?|(?:is |are )?on (?:call|duty)|"
    r"(?:is )?assigned to|belongs? to|(?:is |are )?working on|works? on|covers?|reviews?|approves?|"
    r"organi[sz]es?|coach(?:es)?|hosts?|takes (?:the )?minutes|does|drives the",
    r"leitet|\w*leitung|fuhrt|betreut|ist (?:der|die|unsere?|meine?)|(?:ist )?(?:zustandig|"
    r"verantwortlich)"
    r"(?: fur)?|kummert sich|macht|gehort|(?:ist )?zugewiesen|bearbeitet|verantwortet|organisiert",
    r"dirige|gere|est (?:le|la|notre|mon|ma)|s'occupe|(?:est )?responsable d\w*|"
    r"(?:est )?en charge|(?:est )?chargee? d\w*|anime|assignee? a|pilote",
    r"dirige|lleva|es (?:el|la|nuestr[oa]|mi)|se encarga|se ocupa|(?:es )?responsable de|a cargo|"
    r"gestiona|asignad[oa] a|gestisce|e (?:il|la|il nostro|la nostra|il mio|la mia)|si occupa|"
    r"(?:e )?responsabile|segue|assegnat[oa] a|cura",
    r"gerid[oa] pel[oa]|lidera|e (?:o|a|o nosso|a nossa|o meu|a minha)|trata|cuida|"
    r"(?:e )?responsavel|gere|"
    r"encarregad[oa]|atribuid[oa] a|encarrega-se",
)
"""Who does it is one at a time, where a sign says that another does now."""
