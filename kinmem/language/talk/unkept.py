"""What a person asks not to keep: "Don't remember this, but ...", "..., forget I said that".

The request is found by what it is made of: a negated verb of keeping, or a verb of forgetting, and
a thing that points to what is being said. "Don't save the file" and "they don't save that" are no
requests of that kind.
"""

from collections.abc import Sequence

from kinmem.language.pattern import Pattern
from kinmem.language.talk.statements import Statement, statements


def _either(*rows: str) -> str:
    return "|".join(rows)


CLAUSE = (
    r"(?:(?:^|[,;:.…(\[–—-])\s*|\b(?:but|please|aber|doch|mais|pero|ma|però|mas)\s+)"
    r"(?:(?:oh|ok|okay|hey|also|so|and|well|please|just|bitte|und|ach|s['’]il (?:te|vous) pla[iî]t"
    r"|et|por favor|y|per favore|per piacere|e),?\s+)*"
)
"""Where a request begins; behind a subject the same words tell what somebody does."""
END = r"(?=\s*(?:$|[.,;:!?…)\]–—-]|(?:but|because|since|please|though|bitte|aber)\b))"

THIS = _either(
    r"(?:any(?:thing)? of )?(?:this|that)(?: part| bit| one| message| conversation| chat| turn)?",
    r"the following|(?:anything|what(?:ever)?)(?: that)? i(?:['’]\w+| am| was| will| have)?"
    r"(?: just| about to| going to| now)* (?:say|said|saying|tell|told|wrote|write)(?: you| here"
    r"| next| now)*",
)
KEPT = r"(?: down| anywhere| in mind| on file| (?:to|in|into) (?:your |the )?memor(?:y|ies))*"
DONT = _either(
    r"do not|don['’]?t|never|(?:can|could|would) you (?:please )?not|please not to|no need to"
    r"|you (?:should|must|need)(?:n['’]t| not)(?: to)?"
    r"|you (?:do not|don['’]t) (?:need|have) to|i (?:do not|don['’]t) want you to"
    r"|i(?:['’]d| would) (?:rather|prefer)(?: that)? you (?:did|do)(?: not|n['’]t)"
)
ENGLISH = _either(
    rf"(?:{DONT}) (?:ever )?(?:remember|memori[sz]e|save|store|keep|retain|record|note|log|learn"
    rf"|write|jot|put|add|commit|(?:make|take) (?:a )?note of)(?: down)? (?:{THIS}){KEPT}",
    rf"(?:{DONT}) (?:ever )?(?:(?:remember|memori[sz]e|retain) it|(?:write|note|jot) it down)",
    r"i (?:do not|don['’]t) want (?:this|that) (?:to be )?(?:remembered|saved|stored|recorded)",
    r"(?:this|that)(?: is| isn['’]t|['’]s)? (?:[\w ,'’]{1,40} and )?(?:must|should|may|can|is|are)"
    r" (?:not|never)(?: to)?(?: ever)? be (?:remembered|saved|stored|kept|recorded|noted"
    r"|written down)",
    r"(?<=[(\[])(?:do not|don['’]t|please don['’]t) (?:store|save|remember|record|keep)",
    rf"(?:keep|leave) (?:{THIS}|it) out of (?:your |the )?(?:memory|memories|notes|record)",
    r"(?:(?:this|that)(?:['’]s| is|,)? |strictly )*(?:off the record|not for the record)",
)
GERMAN = _either(
    r"(?:behalt|behalte|behaltet|merk|merke|merkt|speicher|speichere|speichert|notier|notiere"
    r"|notiert|schreib|schreibe|vermerk|vermerke)(?: dir| du)? (?:das|dies|dieses|folgendes"
    r"|(?:nichts|was) davon)(?: hier| jetzt)?(?: bitte)?(?: nicht| nirgends| nie)?"
    r"(?<=nicht|davon|gends|. nie)(?: auf| ab| ein)?",
    r"(?:erinner|erinnere) dich (?:bitte )?(?:nicht|nie) (?:daran|an (?:das|dies))",
    r"(?:das|dies|folgendes) (?:darf|soll|sollte) (?:bitte )?(?:nicht|nie|nirgends) (?:gespeichert"
    r"|gemerkt|notiert|festgehalten|aufgeschrieben|behalten) werden",
    r"(?:(?:das|dies|folgendes)(?: hier)? )?(?:(?:musst|sollst|brauchst) du dir )?(?:bitte )?"
    r"nicht (?:zu )?(?:merken|behalten|speichern|abspeichern"
    r"|notieren|aufschreiben|festhalten)",
    r"ich (?:will|möchte) nicht,? dass du (?:dir )?(?:das|dies) (?:merkst|behältst|speicherst"
    r"|notierst|aufschreibst)",
    r"(?:das ist )?nicht fürs protokoll|(?:das ist )?off the record",
)
FRENCH = _either(
    r"(?:ne |n['’])(?:le |les )?(?:retiens|retenez|m[eé]morise[sz]?|note[sz]?|enregistre[sz]?"
    r"|garde[sz]?|sauvegarde[sz]?|conserve[sz]?|[eé]cri[sv](?:ez)?)"
    r"(?: surtout)? pas (?:ceci|cela|[cç]a"
    r"|ce qui suit|ce que je (?:dis|vais (?:te |vous )?dire|viens de dire))(?: en m[eé]moire)?",
    r"(?:à )?ne pas (?:retenir|m[eé]moriser|enregistrer|noter|conserver)(?: ceci| cela| [cç]a)?",
    r"(?:ceci|cela|[cç]a) ne doit pas être (?:retenu|enregistré|noté|mémorisé|conservé)",
    r"je ne veux pas que (?:tu|vous) (?:retien\w+|m[eé]moris\w+|not\w+|enregistr\w+|gard\w+)"
    r" (?:ceci|cela|[cç]a)",
    r"en off|(?:c['’]est )?off the record",
)
SPANISH = _either(
    r"no (?:recuerdes|recuerde|memorices|memorice|guardes|guarde|apuntes|apunte|anotes|anote"
    r"|registres|registre|almacenes|retengas) (?:esto|eso|nada de (?:esto|eso)|lo que (?:te )?"
    r"(?:digo|dije|voy a decir|acabo de decir))(?: en (?:tu|la) memoria)?",
    r"(?:esto|eso) no debe (?:guardarse|recordarse|anotarse|ser (?:guardado|recordado|anotado))",
    r"no lo (?:recuerdes|memorices|guardes|apuntes|anotes|registres)",
    r"no quiero que (?:recuerdes|memorices|guardes|apuntes|anotes) (?:esto|eso)",
    r"(?:esto es )?(?:extraoficialmente|extraoficial|off the record)",
)
ITALIAN = _either(
    r"non (?:ricordar(?:e|ti)|memorizzare|salvare|annotare|registrare|conservare|tenere a mente"
    r"|scrivere|segnar(?:e|ti)) (?:di )?(?:questo|ciò|questa cosa|niente di questo"
    r"|quello che (?:dico|ho (?:appena )?detto|sto per dire))",
    r"non (?:ricordar(?:te)?lo|memorizzarlo|salvarlo|annotar(?:te)?lo|registrarlo|scriverlo"
    r"|segnar(?:te)?lo)",
    r"(?:questo|ciò) non (?:deve|va) (?:essere )?(?:ricordato|salvato|memorizzato|annotato)",
    r"non voglio che (?:tu )?(?:ricordi|memorizzi|salvi|annoti|registri) (?:questo|questa cosa)",
    r"(?:questo è )?(?:ufficiosamente|off the record)",
)
PORTUGUESE = _either(
    r"não (?:te |se )?(?:guarde|guardes|memorize|memorizes|grave|graves|registre|registe|registes"
    r"|anote|anotes|salve|armazene|lembre|lembres|retenha)(?:-se|-te)? (?:isto|isso|disto|disso"
    r"|nada dis[st]o|o que (?:eu )?(?:digo|disse|vou dizer|acabei de dizer))",
    r"(?:isto|isso) não (?:deve|pode) ser (?:guardado|gravado|lembrado|memorizado|anotado)",
    r"não quero que (?:você |tu )?(?:guardes?|memorizes?|anotes?|registres?|se lembre|te lembres)"
    r" (?:isto|isso|disto|disso)",
    r"(?:isto é |isso é )?(?:em off|off the record|extraoficialmente)",
)
CHINESE = (
    r"(?:请)?(?:别|不要|请勿|勿|不用|不必|无需)(?:再)?(?:把)?(?:(?:这|那|以下|我说的)(?:个|些|件事|句话|话|事|点|内容)?)"
    r"?(?:记住|记下来?|记录|保存|存储|储存|记)(?:(?:这|那|以下|我说的)(?:个|些|件事|句话|话|事|点|内容)?)?"
)
POINTING = Pattern(r"[a-zà-ÿ]|这|那|以下|我说的")
"""A Chinese request may leave out what it is about, and then is none."""
NOT_TO_KEEP = Pattern(
    CLAUSE
    + rf"(?P<asked>(?:{ENGLISH}|{GERMAN}|{FRENCH}|{SPANISH}|{ITALIAN}|{PORTUGUESE}){END})"
    + r"|(?:^|[,;:，。；：\s])(?:(?:这|那|我说的)(?:个|些|件事|句话|话|事|点|内容)?)?"
    + rf"(?P<zh>{CHINESE})"
)

TO_FORGET = Pattern(
    CLAUSE
    + "(?:"
    + _either(
        r"(?:forget|ignore)(?: that)? (?:i (?:ever |just )?(?:said|told you|mentioned|wrote)"
        r"(?: (?:this|that|it|so|anything))?|what i(?: just|['’]ve just)? (?:said|told you|wrote))",
        r"(?:pretend|act (?:like|as if)) i (?:never|did(?:n['’]t| not)) (?:say|said|mention\w*)"
        r"(?: (?:this|that|it|anything|so))?|i never said (?:this|that)",
        r"you did(?:n['’]t| not) hear (?:this|that|it)(?: from me)?",
        r"vergiss(?:t)? (?:das|es|dies)(?: bitte| mal| gleich| sofort| lieber| einfach)*"
        r"(?: wieder)?",
        r"vergiss(?:t)?,? (?:bitte,? )?(?:was ich (?:gerade |eben )?(?:gesagt|geschrieben) habe"
        r"|dass ich das (?:gerade |eben )?(?:gesagt|erwähnt|geschrieben) habe)",
        r"oublie[sz]? (?:ce que (?:je viens de|j['’]ai) (?:dire|dit|écrire|écrit)"
        r"|que j['’]ai dit (?:ça|cela))",
        r"olvida (?:lo que (?:te )?(?:dije|he dicho|acabo de decir)|que (?:te )?(?:lo )?"
        r"(?:dije|he dicho)(?: esto| eso)?)",
        r"dimentica (?:quello|ciò) che (?:ti )?ho (?:appena )?detto"
        r"|dimentica che (?:te )?l['’]ho detto",
        r"esque[cç][ae] (?:o )?que (?:eu )?(?:acabei de dizer|(?:te )?disse(?: isso| isto)?)",
    )
    + rf"){END}|忘(?:了|掉|记)(?:我(?:刚才|刚刚)?说的|这(?:个|件事|句话))|(?:就)?当我(?:没|没有)说"
)
"""What was said before it is meant; what follows may be what holds instead."""


def unkept(parts: Sequence[Statement], message: str) -> frozenset[int]:
    """Which sentences of a message their writer asks not to keep, by their numbers.

    A request not to keep covers its sentence and its paragraph; one that is a paragraph by itself
    the next one, or the one before if it is the last. A request to forget covers what stands before
    it in its paragraph, or in the one before.
    """
    place = [message.count("\n\n", 0, one.start) for one in parts]
    found: set[int] = set()
    for at, one in enumerate(parts):
        if _asks_not_to_keep(one.text):
            own = _beside(place, at)
            found |= {at, *own}
            if not own:
                near = at + 1 if at + 1 < len(parts) else at - 1
                found |= {n for n in range(len(parts)) if near >= 0 and place[n] == place[near]}
        elif asked := TO_FORGET.search(one.text):
            before = {n for n in _beside(place, at) if n < at}
            if not before and at:
                before = {n for n in range(at) if place[n] == place[at - 1]}
            is_first = not one.text[: asked.start()].strip()
            is_all = not one.text[asked.end() :].strip(" .,;:!?…")
            found |= before | ({at} if is_all or not is_first else set())
    return frozenset(found)


def without_unkept(message: str) -> str:
    """The message without the sentences that are not to be kept."""
    parts = statements(message)
    left_out = sorted(unkept(parts, message))
    for at in reversed(left_out):
        message = message[: parts[at].start] + message[parts[at].end :]
    return message.strip() if left_out else message


def _beside(place: Sequence[int], at: int) -> set[int]:
    """The other sentences of its paragraph."""
    return {n for n, other in enumerate(place) if other == place[at] and n != at}


def _asks_not_to_keep(text: str) -> bool:
    found = NOT_TO_KEEP.search(text)
    return found is not None and POINTING.search(found[0]) is not None
