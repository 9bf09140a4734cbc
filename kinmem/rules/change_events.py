"""Changes told as an event, in en, de, fr, es, it and pt. Tables only.

Matched with texts as text.folded gives them: lower case, no accents, single spaces. Each gap is
bounded, so that time grows with the length alone.
"""

from kinmem.rules.pattern import any_of

ENDING = any_of(
    r"(?:have |has |'ve |'s )?(?:sold|quit|left|dropped|cancelled|canceled|closed|finished|ended|"
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
    r"raised|rises|rose|falls|slipped|slips|goes (?:up|down)|increased|cut|reduced|lowered|"
    r"dropped|went up|gone up|gone down|went down|put up|"
    r"put|"
    r"bumped|doubled|halved|rose|risen|fell|fallen|grew|grown|shrunk|extended|shortened|"
    r"changed|set|"
    r"adjusted|limited|capped"
)
_TIMED = (
    r"postponed|pushed (?:back|out)|pushed|brought forward|rescheduled|delayed|put off|moved|"
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
        r"repousse(?:e|s)?|"
        r"reporte(?:e|s)?|avance(?:e|s)?|deplace(?:e|s)?|prolonge(?:e|s)?|porte(?:e|s)?|"
        r"change(?:e|s)?|mise?s? a jour)",
        r"(?:subi(?:o|do|eron)|baj(?:o|ado|aron)|aument(?:o|ado|aron)|reduc\w+|redujo|"
        r"aplaz(?:a|o|ad[oa])|se (?:retrasa|adelanta|mueve)|"
        r"retras(?:o|ado)|adelant(?:o|ado)|cambi(?:o|ad[oa])|pas(?:o|ado|amos)|actualiz\w+|"
        r"amplio|"
        r"ampliado|pospuso|pospuesto|movio|movid[oa]|cumplio|cumplido)",
        r"(?:slittat[oaie]|rimandat[oaie]|salit[oaie]|sces[oaie]|aumentat[oaie]|ridott[oaie]|"
        r"spostat[oaie]|rinviat[oaie]|"
        r"posticipat[oaie]|anticipat[oaie]|cambiat[oaie]|passat[oaie]|aggiornat[oaie]|"
        r"prorogat[oaie]|"
        r"portat[oaie]|compiut[oaie]|compiuto)",
        r"(?:subi(?:u|ram)|desceu|baixou|aument(?:ou|ado|aram)|reduzi(?:u|do|da)|adiad[oa]|"
        r"antecipad[oa]|"
        r"mud(?:ou|ad[oa]|aram|amos)|pass(?:ou|amos|aram)|atualiz\w+|prorrogad[oa]|alterad[oa]|"
        r"fez|fizeram)",
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
    r"learn(?:ed|t)|gelernt|appris|aprendid[oa]|aprendi|imparato|come through|arrived|"
    r"bought|found|hired|got|adopted|acquired|received|gekauft|gefunden|eingestellt|bekommen|"
    r"besorgt|"
    r"achete(?:e|s)?|trouve(?:e|s)?|embauche(?:e|s)?|adopte|(?:ai|a|avons) eu|compr(?:e|ado|"
    r"amos|ei|ou|ato)|"
    r"comprat[oa]|encontr(?:e|ado|amos|ei|ou)|contratad[oa]|contrat(?:e|amos|ei)|conseguid[oa]|"
    r"consegui|"
    r"trovat[oa]|assunt[oa]|arranj(?:ei|ou|amos)|adotei|adoptei|ottenuto|tirei|passed|obtained"
)
SEEKING = any_of(
    r"waiting for|warte auf|attends|espero|aspetto|"
    r"looking for|searching for|hiring|seeking|suche|sucht|suchen|auf \w*suche|cherche|"
    r"cherchons|busc(?:o|a|amos)|"
    r"cerc(?:o|a|hiamo)|procur(?:o|a|amos)|in search of|need an?"
)
AGAIN = any_of(
    r"again|now|started|back to|took up|taken up|wieder|jetzt|inzwischen|de nouveau|maintenant|"
    r"recommence|otra vez|de nuevo|ahora|vuelto a|di nuovo|adesso|ripreso|de novo|agora|voltei a"
)
"""What was not so is so."""
BELONGING = any_of(
    r"job|position|account|membership|contract|subscription|lessons|studies|studium|\w*studium|"
    r"stelle|job|konto|mitgliedschaft|vertrag|abo|emploi|poste|compte|abonnement|contrat|trabajo|"
    r"empleo|puesto|cuenta|contrato|suscripcion|lavoro|posto|conto|contratto|abbonamento|"
    r"trabalho|"
    r"emprego|conta|assinatura"
)
"""What ends with a thing, without being named beside it before."""
FROM = any_of(r"from|von|vom|aus|du|de|d'\w+|desde|da|dal|dalla|do")
HOLDING = any_of(
    r"leads?|runs?|manages?|heads?|chairs?|coordinates?|maintains?|moderates?|(?:is|are) (?:the|"
    r"our|my)",
    r"leitet|fuhrt|betreut|ist (?:der|die|unsere?|meine?)|dirige|gere|est (?:le|la|notre|mon|ma)",
    r"dirige|lleva|es (?:el|la|nuestr[oa]|mi)|gestisce|e (?:il|la|il nostro|la nostra|il mio|"
    r"la mia)",
    r"lidera|e (?:o|a|o nosso|a nossa|o meu|a minha)",
)
"""Who does it is one at a time, where a sign says that another does now."""
