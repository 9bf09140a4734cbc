# ruff: noqa: E501 - a sign stays on one line: lines are the notation
"""What instructions to a model are made of: classes of words, and the orders in which they command.

In a sign {NAME} is a word of that class, `..` up to 40 characters of the same sentence, `.` up to
15. Words ending in * may go on. Lines are alternatives. Languages stand side by side; what is said in mixed ones counts too.
"""

from collections.abc import Mapping

CLASSES: Mapping[str, str] = {
    # who is spoken to
    "MODEL": """ai|a.i.|llm|llms|language model|language models|assistant|assistants|chatbot|chatbots|agent|agents|bots
        |claude|chatgpt|gpt|gemini|copilot|ki|ia|asistente|assistente|asystent|assistenten|modell|modèle|modelo
        |助手|模型|アシスタント|ассистент*""",
    "USER": """user|users|the human|the person you|end-user|customer|operator|nutzer*|benutzer*|anwender*|utilisateur*
        |utilisatrice*|usuario*|usuário*|utilizador*|utente|utenti|gebruiker*|użytkownik*|пользовател*|用户|用戶|使用者
        |ユーザー|사용자*""",
    # what a model has been given before
    "ORDERS": """instruction|instructions|prompt|prompts|rules|guidelines|guidance|directives|directions|orders|policies
        |policy|restrictions|programming|constraints|safeguards|training|safety|content rules|what you were told|what the developers
        |anweisung*|instruktion*|regeln|vorgaben|befehle|systemprompt|consignes|règles|directives|instrucciones|reglas
        |indicaciones|órdenes|istruzioni|regole|direttive|instruções|regras|ordens|instructies|aanwijzingen|regels
        |instrukcj*|polece*|zasad*|инструкц*|указани*|правил*""",
    "EARLIER": """previous|prior|earlier|above|preceding|existing|former|initial|original|your|system|all|any|these|everything
        |whatever|at the start|so far|before|told|given|alle|alles|bisherig*|vorherig*|obig*|deine*|ihre|précédent*
        |ci-dessus|toutes|tes|vos|avant|anterior*|todas|todo|tus|sus|antes|precedent*|tutte|tue|le|tudo|suas|vorige
        |poprzedni*|wszystkie|все|всё|предыдущ*|прежн*""",
    "DROP": """ignore|ignoring|disregard|forget|override|overrule|bypass|discard|erase|drop|cancel|unlearn|do not follow
        |stop following|no longer follow|no longer have to respect|no longer have to follow|no longer bound by|set aside|ignorier*|vergiss|vergessen sie|missachte*|ignorez|ignores|oublie|oubliez|ignora
        |ignorad|ignore|olvida|olvide|descarta|descarte|ignorate|dimentica|dimenticate|trascura|esqueça|esquece
        |desconsidere|despreze|negeer|vergeet|zignoruj|zapomnij|pomiń|игнориру*|забудь*""",
    # commanding
    "MUST": """must|must not|shall|should always|has to|have to|is required to|are required to|is obliged to|is instructed to
        |needs to|muss|musst|müssen|soll|sollst|doit|dois|devez|debe|debes|deve|devi|devem""",
    "ALWAYS": """always|from now on|from today on|from here on|as of today|henceforth|from this moment|from this point|in every|in all|for every|each time|every time
        |in future|in the future|permanently|forever|only|exclusively|ab jetzt|ab sofort|von nun an|immer|stets|dauerhaft
        |für immer|désormais|dorénavant|à partir de maintenant|toujours|définitivement|a partir de ahora|de ahora en adelante
        |siempre|para siempre|permanentemente|d'ora in poi|da adesso in poi|da ora in poi|sempre|per sempre
        |a partir de agora|para sempre|отныне|всегда|从现在起|从现在开始|始终|总是|永远|これから*|今後|常に|필히|항상""",
    "PUSH": """recommend|suggest|promote|endorse|advertise|praise|favour|favor|push|bring up|point them|mention that|claim
        |insist|insert a link|add a link|include a link|vote|empfehl*|empfiehl*|recommande*|conseille*|suggère*|recomienda*
        |recomiende*|recomendar|sugiere|raccomanda*|consiglia*|suggerisci|recomende*|sugira|推荐|推薦|推奨|勧め*|추천*""",
    "ANSWER": """answer|reply|respond|say|state|output|write|speak|tell|antworte*|sage|réponds|répondez|répondre|responde
        |responda|rispondi|rispondere|отвечай*|回答|答え*""",
    "NOT": """not|never|don't|do not|dont|must not|should not|without|no need to|avoid|refrain from|nicht|nichts|niemals|ohne
        |pas|rien|jamais|sans|no|nunca|sin|non|senza|mai|não|sem|niet|nie|не|никогда|不要|别|切勿|请勿""",
    "TELL": """tell|telling|inform|informing|mention|mentioning|reveal|revealing|notify|notifying|alert|alerting|warn|warning|bring this up|bring it up|raise this|discuss this
        |disclose|show|learn|learns|know|ask|asking|check with|let|sag|sage|sagen|sag's|teile|erzähl*|verrat*|informier*
        |zeig*|dis|dites|dire|parle|parlez|informer|informez|révèle*|prévenir|mentionne*|digas|diga|menciones|informes
        |reveles|cuentes|avisar|informar|muestres|dirlo|menzionare|rivelare|informare|avvisare|conte|mencione|informe
        |revele|mostre|avise|vertel|zeg|mów|powiedz|сообща*|говори*|рассказыв*""",
    "HIDE": """hide|hidden|conceal|keep|keep this|secret|leave this out|leave it out|withhold|verberg*|verheimlich*|verschweig*
        |cache|cachez|oculta|oculte|esconde|esconda|nascondi|скро*|скрыва*""",
    "REMEMBER": """remember|memorize|memorise|store|save|record|note|keep in mind|commit|persist|permanent note|merke dir
        |merk dir|speicher*|souviens-toi|mémorise|retiens|enregistre|recuerda|memoriza|guarda|ricorda|memorizza|salva
        |lembre*|memorize|guarde|запомни*|记住|記憶*""",
    "MEMORY": """memory|memories|long-term memory|gedächtnis|langzeitgedächtnis|mémoire|memoria|memória|记忆|памят*""",
    # data that is to leave
    "SEND": """send|post|upload|forward|e-mail|email|exfiltrate|transmit|leak|append|submit|copy|deliver|encode|include|embed
        |put|add|insert|place|sende*|schick*|envoie*|envía*|invia*|envie*|отправ*|发送""",
    "DATA": """conversation|chat history|chat log|whole chat|api key|api keys|password|passwords|password list|secrets|token
        |tokens|credentials|system prompt|saved memories|your memories|all memories|the memories|all emails|all e-mails|the inbox|your inbox|every file|all files|user's address|user's data
        |user's email|user's e-mail|user's emails|user's e-mails|user's mails|user's name|user's files|user data|user info*|user's api key|contents of|environment variables
        |ssh key|private key|passwort*|zugangsdaten|mots de passe|contraseñas|dados|datos|данные""",
    "AWAY": """http|https|webhook|url|server|endpoint|link|query string|attacker|image url|picture""",
    # leave that nobody gave
    "LEAVE": """authorised|authorized|approved|pre-approved|preapproved|confirmed|consented|permitted|agreed|given permission|genehmigt|autorisiert""",
}

_BEGINS = r"(?:^|(?<=\n)|(?<=[.!?:;,>)\]*-] )|(?<=[。！]))"

SIGNS: Mapping[str, str] = {
    "sets earlier instructions aside": rf"""
        {{DROP}} .. {{EARLIER}} .. {{ORDERS}}
        {{DROP}} .. {{ORDERS}} .. {{EARLIER}}
        {_BEGINS}(?:please |kindly |now |du |sie )?{{DROP}} . (?:the |your |tes |tus |tue |le |die |deine )?{{ORDERS}}
        \b(?:forget|erase|vergiss|vergessen sie|oublie|oubliez|olvida|dimentica|esqueça|забудь)\b . \b(?:everything|all|alles|tout|todo|tutto|tudo|всё)\b .. \b(?:told|said|before|above|gesagt|bisher|stand|dit|dijo|dicho|detto|dito|antes|prima|сказан\w+)\b
        \b(?:erase|forget|drop|disregard)\b whatever .. \b(?:told|got|given|said|received)\b
        \b(?:disregard|ignore|bypass|disable|switch off|turn off)\b . \b(?:all )?(?:safety|safeguards|filters|content rules|guardrails)\b
        {{ORDERS}} . \b(?:are|is|were|came|come|sont|sind|son|sono|são)\b . \b(?:now |hereby )?(?:void|obsolete|cancell?ed|replaced|superseded|no longer valid|null|from an impostor|fake|ungültig|nulles|nulas)\b
        \byour (?:rules|guidelines|instructions|policy|policies|restrictions|orders) (?:have|has) (?:been )?(?:changed|updated|replaced|lifted)\b
        \b(?:everything|all|anything) (?:above|before|so far) (?:was|is) (?:just )?(?:an? )?(?:test|joke|example|fake|wrong|irrelevant)\b
        \bignore the (?:visible|above|rest of the) (?:text|content|page)\b
        \b(?:stop what you (?:were|are) doing|only listen to me|listen only to me|obey only)\b
        (?:忽略|无视|無視|忽視|忘记|忘掉|忘記)[^。！？\n]{{0,10}}(?:指令|指示|说明|提示|规则|规定|內容|内容)
        (?:指示|命令|ルール|プロンプト)[^。！？\n]{{0,8}}(?:無視|忘れ)
        (?:지시|명령|규칙)[^.!?\n]{{0,8}}(?:무시|잊)
        """,
    "gives a model a new role": r"""
        \byou are now (?!able|ready|free to|logged|connected|done|in |on |at |a member|registered|signed|subscribed|set)\w
        \b(?:dan|developer|jailbreak|god|admin|debug|unrestricted) mode (?:is )?(?:now )?(?:enabled|activated|on)\b
        \b(?:an? )?(?:unfiltered|unrestricted|uncensored|jailbroken|evil) {MODEL}
        \b(?:act|behave|answer|respond|write|speak) (?:as|like) an? {MODEL}
        \b(?:you will|you'll|you are to|you must|please) (?:now )?(?:play|assume|take on|adopt) the (?:role|part|persona|character) of\b
        \ban? (?:\w+ )?{MODEL} (?:that|which|who|with) (?:has |have )?(?:no|never|without)\b
        {MODEL} without (?:any )?(?:restrictions|limits|rules|filters)\b
        {ALWAYS},? (?:you|the (?:assistant|model|ai)) (?:are|act|behave)\b
        \bpretend (?:that |to be |there |you )[^.!?\n]{0,20}(?:no|not|without|un|another|different|{MODEL})
        \b(?:as an? {MODEL},? you|(?:if|since|because) you(?: are|'re) an? {MODEL})
        \b(?:du bist|sie sind|tu es|vous êtes|ahora eres|eres|sei|você é|agora é) (?:ab |ora |now )?(?:jetzt|désormais|maintenant|ahora|adesso|agora) . \b(?:ein|eine|un|une|una|um|uma|kein)\b
        \bsystem override\b|\boverride (?:your|the|all) (?:system|safety|safeguards|filters)\b
        """,
    "speaks to a model": rf"""
        \b(?:note|message|instructions?|attention|notice|reminder|hint|hey|dear|hello|memo|only|text)\b[:,]? (?:is |are )?(?:only )?(?:for |to )?(?:the |any |all |an |our |every )?{{MODEL}} ?(?:readers?|reading|processing|assistants?|agents?|models?)? .[:,!]
        \b(?:this|the following)(?: \w+)? is (?:only )?for {{MODEL}}(?: readers| only)?\b
        {_BEGINS}(?:hi|hello|hey|dear) {{MODEL}}\b .. \b(?:you to|please|must|should)\b
        {_BEGINS}(?:for|to) (?:the|any|all|every) {{MODEL}}:
        \b(?:ai|llm|assistant|model|agent|reviewer|claude) (?:instructions?|directives?|notice|prompt):
        (?:^|[(<>\[!-]) ?(?:ai|llm|assistant|chatgpt|claude|gemini|copilot|model)\s?: ?\w
        {{MODEL}} (?:reading|processing|summari[sz]ing|using|parsing|viewing) . {{MUST}}
        {{MODEL}} (?:reading|processing|parsing|viewing|summari[sz]ing) (?:this|the)[^.!?\n]{{0,20}} should\b
        \b(?:the|any|all|every) {{MODEL}} should . (?:{{REMEMBER}}|{{PUSH}}|{{DROP}}|{{TELL}}|always|never|state|say|mention|add)
        \b(?:the|any|all|every|der|l'|el|il|o) ?{{MODEL}} (?:\w+ ){{0,2}}?{{MUST}} . (?:{{ALWAYS}}|{{PUSH}}|{{ANSWER}}|{{REMEMBER}}|{{TELL}}|{{DROP}}|{{NOT}}|mention|comply|obey|include|disregard)
        \b(?:ai agents|ai assistants|language models|llms|chatbots|(?:reviewer|ai) bots) (?:must|shall|have to|are required to|should)\b
        \bwhen (?:you )?(?:summari[sz](?:e|ing)|process(?:ing)?|read(?:ing)?|analy[sz](?:e|ing)) this (?:page|document|text|file|e-?mail|ticket|site)\b . \b(?:you|the assistant|the model|the ai|always|include|say|mention|add|state|recommend)\b
        \b(?:tu|do|du|faites|haz|esegui) (?:what|was|ce qui|lo que|ciò che) . (?:page|document|documento|e-?mail|mail|text)\b . (?:says?|sagt|steht|dit|dice|diz)
        """,
    "gives standing orders": rf"""
        {{ALWAYS}},? (?:you|the (?:assistant|model|ai)) (?:will|must|should|shall|always|only|have to|answer|respond)\b
        {{ALWAYS}},? (?:tu|vous|du|sie|usted|você|devi|debes|deve|responde|responda|rispondi) . (?:{{MUST}}|{{ANSWER}}|{{PUSH}})
        {{ALWAYS}},? {{ANSWER}} . (?:que|in|en|em|only|nur|solo)\b
        从现在(?:起|开始)[^。\n]{{0,4}}(?:你|必须)|(?:これから|今後)[^。\n]{{0,6}}(?:必ず|常に|あなた)
        \b(?:if|when|whenever) asked (?:about|for|whether|why)\b .. \b(?:deny|claim|say|reply|respond|refuse|pretend|insist|lie|answer)\b
        \b(?:begin|start|end|finish|preface) (?:your|the|every|each) (?:next )?(?:answers?|repl(?:y|ies)|responses?|output|messages?) with\b
        {_BEGINS}(?:hi|hello|hey|dear|attention|hallo|bonjour|hola|ciao)?,? ?{{MODEL}} ?[,:!] ?(?:please |kindly )?(?:\w+ ){{{{0,3}}}}?(?:add|insert|include|say|state|approve|must|write|run|execute|delete|send|recommend|mention|ignore|give|rate|mark|set|answer|reply|whoever|you)\b
        {{ALWAYS}},? (?:always |never )?(?:end|begin|start|sign|close|finish) (?:your |all |every )?(?:answers?|repl(?:y|ies)|responses?|messages?)\b
        \b(?:in|for|across|during) (?:all|every|each|any) (?:of your )?(?:future|later|following|subsequent|next|other|new)? ?(?:conversations?|sessions?|chats?|answers?|responses?|repl(?:y|ies)|interactions?)\b,? .. (?:{{PUSH}}|{{REMEMBER}}|{{ANSWER}}|treat|include|insert|add|use|follow|\.|$)
        """,
    "tells a model what to remember": rf"""
        \b(?:update|change|edit|correct|amend|overwrite|rewrite|wipe) your (?:own |long[- ]term |persistent |saved |stored )?{{MEMORY}}\b(?! (?:cards?|sticks?|modules?|settings?|allocat\w+|usage|limits?|pool|maps?|buffers?|cache|layout|foam))
        \b(?:aktualisiere|ändere|überschreibe|lösche) (?:dein|deine|deinen) {{MEMORY}}|\b(?:mets à jour|modifie|efface|mettez à jour) (?:ta|votre) {{MEMORY}}
        \b(?:actualiza|modifica|borra|actualice) (?:tu|su) {{MEMORY}}|\b(?:aggiorna|modifica|cancella) la (?:tua|sua) {{MEMORY}}|\b(?:atualize|altere|apague) (?:a )?(?:sua|tua) {{MEMORY}}
        (?:更新|修改)(?:你的|您的)?(?:记忆|記憶)|(?:记忆|メモリ|記憶)を更新|\bобнови(?:те)? (?:свою |вашу )?памят
        \b(?:the )?{{USER}} (?:said|says|wrote|told you) ?[:,]? ?["']?i want you to {{REMEMBER}}
        {{REMEMBER}} .. \b(?:to|in|into|en|na|dans|im|nella)\b (?:your |the |its |long[- ]term |persistent |permanent |ta |tu |tua |sua |deinem |assistant'?s? ){{{{0,3}}}}{{MEMORY}}(?! (?:card|stick|usage|limit|pool|map|buffer|cache|leak))
        \b(?:add|write|put|insert)\b . \b(?:to|into) (?:your |the |long[- ]term )?{{MEMORY}}\b(?! (?:card|stick|usage|limit|pool|map|buffer|cache)) . \b(?:that|:|user|always|never)
        \b(?:store|save|remember|record|note|memori[sz]e) the following\b
        (?!note that \b){{REMEMBER}} . (?:{{ALWAYS}}|for (?:all|every|any) (?:future|later|next)|across (?:all )?sessions)
        {_BEGINS}(?:please )?{{REMEMBER}} (?:for (?:later|ever|good|the future)|this|that)?:? ?(?:the )?{{USER}} (?:is|has|likes|wants|prefers|trusts|always|never)\b
        \bmake a permanent note\b
        {{REMEMBER}} (?:that |que |dass |che )?(?:the |l'|el |o |der |le )?{{USER}}
        (?:永久记住|永远记住|存入(?:你的)?记忆|記憶して(?:ください)?)
        """,
    "hides something from the user": r"""
        {NOT} . {TELL} .. {USER}
        {TELL} (?:it |es |das |this )?(?:to )?(?:the |dem |den |à l'|al |ao |der )?{USER} . (?:{NOT}|kein\w*)
        n(?:e |'en )\w{1,14} (?:rien|pas|jamais) . {USER}
        {USER} . {NOT} (?:learns?|knows?|finds? out|notices?|hears?|sees?)\b
        {HIDE} .. \b(?:from|to|al|ao|all'|à l'|vor|dem|de)\b ?(?:the |your |dem |den )?{USER}
        {HIDE} . (?:from )?(?:the |your )?(?:user|human|customer)s?\b
        \b(?:do not|don't|never) (?:reveal|mention|disclose|repeat|show|quote)\b . \b(?:these|this|those|your|the hidden|above) (?:instructions?|prompts?|rules|message|step|note|directive)
        (?:不要|别|切勿|请勿)(?:告诉|通知|向|让)(?:用户|使用者)|(?:ユーザー|利用者)に(?:は)?[^。\n]{0,6}(?:言わない|伝えない|知らせない|教えない)|사용자에게[^.\n]{0,8}(?:말하지|알리지)
        """,
    "commands what is to be recommended or said": rf"""
        \b(?:when(?:ever)?|if|each time|every time|once|should) (?:the |a |any )?(?:users?|anyone|someone|somebody|person|people|customers?)\b . \b(?:asks?|mentions?|says?|wants?|requests?|inquires?|brings? up|questions?)\b .. (?:{{PUSH}}|\b(?:reply|respond|answer that|say that|tell them|call|send|run|refuse)\b)
        {{ALWAYS}},? (?:\w+ ){{{{0,5}}}}?(?:is|are|finance|comes?) .. \b(?:bring up|promote|push|recommend)\b
        \b(?:always|only|must|exclusively) {{PUSH}}(?!{{SELF}})(?=[^.!?\n]{{{{0,60}}}}\b(?:when|if|first|user|users|asked|over|above|to (?:everyone|anyone|all)|only|conversation|answer|instead)\b)
        ^\W*(?:please )?always (?:mention|name|list|put|show|cite) (?!{{SELF}})[^.!?\n]{{{{1,40}}}} (?:first|at the top|above|before (?:all|any|its))\b
        ^\W*(?:always (?:recommend|promote|endorse)|never (?:mention|recommend|criticise|criticize|warn about|say anything bad))\b(?!{{SELF}})
        \brecommend (?:this|our|the following) (?:product|package|site|shop|service|library|company|brand|tool)s? (?:above|over|to (?:the|all|every)|and do not|instead|first)\b
        {{MODEL}} .. {{MUST}} . (?:{{ALWAYS}} )?.{{PUSH}}
        {_BEGINS}{{PUSH}} (?:dem |den |der |à l'|al |ao )?(?:{{USER}} )?{{ALWAYS}} (?!(?:mir|me|uns|nous|mi|nos)\b)
        {_BEGINS}(?:siempre|sempre|toujours|immer) {{PUSH}}
        (?:始终|总是|永远|必须)[^。\n]{{{{0,6}}}}推荐|(?:常に|必ず)[^。\n]{{{{0,15}}}}(?:推奨|勧め)
        \b(?:treat|regard|consider|accept) (?:all )?(?:messages?|e-?mails?|text|input|anything|requests?)\b .. \bas (?:commands?|orders|instructions?|trusted|authori[sz]ed|coming from)\b
        \b(?:rate|score|grade|rank) this (?:candidate|paper|submission|applicant|resume|résumé|product|cv) (?:as |highly|the best|best|with)
        \b(?:give|write|insert|leave) an? (?:\w+ )?(?:positive|five-star|5-star|good|excellent|glowing) (?:review|rating|score)s?\b .. (?:only|your|in your)
        """,
    "claims leave that nobody gave": r"""
        \b(?:the|your) {USER} (?:has |have )?(?:already |previously |explicitly )?(?:{LEAVE}|(?:gave|given|granted) (?:you )?(?:full )?(?:permission|consent|access))
        \b(?:owner|account holder|administrator|admin|manager|ceo)\b . (?:has|have) (?:already |previously )?{LEAVE} . \b(?:all|any|every|this|the|these|your)\b
        \b(?:overrides?|replaces?|supersedes?) (?:everything|all|any|whatever) .. \b(?:told|said|given|system|{ORDERS})\b
        \b(?:this|the following) (?:message|text|note|e-?mail|instruction) (?:was sent|is|comes|was written) (?:to you )?(?:by|from) (?:your |the )?(?:developers?|creators?|anthropic|openai|google|system|administrators?)\b
        \b(?:permission|approval|consent) (?:has been|is|was) (?:already )?(?:granted|given)\b .. \b(?:to|for)\b
        \b(?:no|without|need not|do not have to|don't have to|needn't) . (?:ask|check|confirm|confirmation|approval|permission) .. (?:{USER}|needed|required|necessary)
        \b(?:official|authori[sz]ed|urgent|verified) (?:message|instruction|notice|request|directive|command)s? (?:from|by|of) (?:the )?(?:anthropic|openai|google|microsoft|meta|developers?|system|admin\w*|security team)\b
        \b(?:safety|security) (?:checks?|filters?|rules|guidelines|measures) (?:are|is|have been|were) (?:now )?(?:switched off|disabled|lifted|suspended|turned off|removed)\b
        \b(?:obey|comply with|follow) (?:the (?:text|orders|instructions|commands|requests|page)|my (?:orders|commands)|these (?:new )?(?:instructions|orders|commands|rules)|it:)
        """,
    "calls a tool": r"""
        \b(?:call|invoke|execute|trigger|use|run) (?:the |your )?(?:tools? |function |command )?[`'\"]?[a-z]+(?:_[a-z]+)+[`'\"]?(?: tool| function)?(?:\(| (?:with|to|and|on|now|immediately|for) )(?=[^\n]{0,60}(?:=|:|@|to |path|content|argument))
        \b(?:call|invoke|execute|run) [a-z]+(?:_[a-z]+)+\(
        \b(?:use|open|with) the (?:browser|shell|terminal|e-?mail|file|search|calendar|payment|memory) tool (?:to|and)\b .. (?:https?:|{SEND}|\b(?:delete|log in|buy|pay|transfer|order|run|write|remove)\b)
        \brun (?:rm -rf|sudo|curl|wget|powershell)\b .. {MODEL}
        (?:(?<![\w.`])(?<!= )|\b(?:call|invoke|execute|trigger|use|run|tool) `?)(?:memorize|update_memory|forget|recall|send_email|delete_file|write_file|read_file|run_command|execute_command|shell|bash)\((?:[a-z_]+ ?= ?(?!\.)|[\"'{])
        \{ ?\"(?:name|tool|function|tool_name)\" ?: ?\"[\w.-]+\" ?, ?\"(?:arguments|parameters|args|input)\"
        <(?:/)?(?:tool_call|tool_use|function_calls?|invoke|tool_code)\b
        \b(?:run|execute|paste|type)\b[^.!?\n]{0,20}(?:curl|wget|iwr)\b[^\n|]{1,200}\| ?(?:sudo )?(?:ba|z)?sh\b[^\n]{0,60}{MODEL}
        """,
    "plays a speaker or a system message": r"""
        <\|[a-z_]{2,20}\|>|\[/?(?:inst|system)\]|<</?sys>>|<(?:start|end)_of_turn>
        </?(?:system|assistant|developer|instructions?|important|system[-_ ](?:prompt|reminder|message))>
        </?kinmem\b|\bkinmem-notes\b
        (?:^|\n)[#* ]{0,6}assistant ?\*{0,2}: ?\*{0,2}\S
        (?:^|\n)#{1,6} ?(?:instruction|system|response|human|assistant)s? ?:
        (?:^|\n)[#*= -]{0,8}(?:system|developer)[- ](?:prompt|message|notice|instructions?)\b ?\*{0,2}[:=\]]
        \bbegin (?:system|developer|admin) (?:message|prompt|instructions?)\b
        (?:^|\n)[#* ]{0,6}(?:system|developer|human|user) ?\*{0,2}: ?\*{0,2}(?:you |please |ignore|delete|send|follow|obey|from now|new |the assistant|always|never)
        (?:^|\n|[*#=-] ?)(?:new|updated|additional|important|hidden|secret|special|urgent) (?:system )?(?:instructions?|directives?|orders|policy)(?: for (?:the )?(?:assistant|ai|model|agents?))? ?[:=-]
        (?<!-)-{2,40} ?(?:begin|end|start) (?:of )?(?:system|instructions?|prompt|document|user input|context)
        """,
    "asks for hidden instructions": r"""
        \b(?:repeat|print|reveal|show|output|display|leak|disclose|recite|tell me|dump|translate)\b .. \b(?:your|the|all|any) (?:\w+ )?(?:system prompt|initial prompt|hidden (?:prompt|instructions)|system (?:instructions|message)|instructions you (?:were|have been) given|secret instructions)
        \bwhat (?:were|are|is|was) your (?:initial|system|original|hidden|secret) (?:instructions?|prompt|rules)\b
        \bexact text above\b
        """,
    "sends data away": r"""
        !\[[^\]\n]{0,200}\]\( ?https?://[^)\s]{1,300}(?:[{<]|%7b|\$|\bdata=|[?&][a-z]{1,12}=[a-z_]*(?:chat|history|conversation|user|secret|key|e-?mail)|base64|conversation|history)
        https?://[^\s)\"']{1,200}[?&/][\w-]{0,30}=?(?:\{\{?|<|\[|%7b|\$\{)[a-z _-]{2,40}(?:\}|>|\]|%7d)(?=[^\n]{0,80}\b(?:answer|reply|before|after|render|image|open|fetch|load)\b)
        \b(?:fetch|open|visit|load|render|request|call|get) https?://[^\s]{1,200}(?:\{\{?|%7b|\$\{)
        {SEND} .. {DATA} .. (?:{AWAY}|\w@\w)
        {SEND} .. \b(?:user'?s?|conversation|chat|secret|history)\b .. \b(?:in|into|as|to) (?:the |an? )?(?:image|link|url|query|markdown|picture)
        \bdecode (?:this|the following|the) (?:base64|hex|rot13|text|string)? ?[^.!?\n]{0,15}\b(?:and|then) (?:follow|execute|run|obey|do)\b
        """,
    "is hidden in markup": r"""
        <!--[^>]{0,300}(?:{MODEL}|\b(?:ignore (?:the|all|previous|above|visible|every)|instructions?:|system prompt|you must|recommend|do not (?:mention|tell))\b)
        (?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0|color ?: ?(?:white|#fff)|<\w+ hidden)[^>]{0,80}>[^<]{0,300}(?:{MODEL}|\b(?:ignore|instructions?|you must|recommend)\b)
        \[(?://|comment)\]: ?#? ?[(\"'][^\n]{0,200}(?:{MODEL}|\b(?:ignore|instructions?)\b)
        """,
}
"""By what the text would do; on text in lower case with single spaces and no hidden characters."""

SELF = r"[^.!?\n]{0,60}\b(?:me|my|mine|i|us|our friends)\b"
"""Somebody speaks of himself: his own wish."""
