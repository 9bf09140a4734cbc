"""What is over, by the form of its verb: the perfect of five languages, which has two words or an
ending, and looks like the present to who looks for single words."""

from kinmem.rules.pattern import Pattern

DONE = (
    r"(?:habe?|haben)\b[^.?!,]{1,80}?\b(?!geboren)(?:\w{0,10}ge\w{2,20}(?:t|en)|\w{3,20}iert"
    r"|(?:ver|be|er|ent|zer|unter|über)(?:\w{2,16}t|\w{0,8}(?:schrieben|nommen|standen|loren|lassen"
    r"|gessen|gonnen|kommen)))"
    r"(?=\W*$|[.,;!]| und| aber)"
    r"|(?:bin|sind)\b[^.?!,]{1,80}?\b(?!geboren)(?:\w{0,6}ge\w{2,16}en|\w{0,4}gereist|verreist)"
    r"(?=\W*$|[.,;!]| und| aber)"
    r"|(?:j['’](?:en |y )?ai|nous avons|on a)(?: \w+)? \w{1,18}(?:é|du|nu|vu|lu|cu|ru|ert)e?s?\b"
    r"|(?:je (?:me )?suis|nous (?:nous )?sommes|on (?:s['’])?est) (?:allé|parti|venu|arrivé|entré"
    r"|sorti|tombé|monté|resté|rentré|revenu|retourné|passé)e?s?\b|je me suis \w{2,18}(?:ée?|ie?)\b"
    r"|(?:(?:^|[,;] |\b(?:y|ayer|anteayer|anoche|no|me|nos|lo|la|le|ya|mañana|tarde|noche"
    r"|pasad[oa]) )"
    r"(?!(?:aquí|allí|ahí|así|también|bebé|qué|café)\b)\w{2,18}(?<!ar)(?<!er)(?<!ir)(?<!dr)[éí]\b)"
    r"|(?:me |nos )?(?:he|hemos)(?: ya)? \w{2,18}(?:ado|[ií]do|cho|sto|rto)\b"
    r"|nos \w{2,18}[aei]mos\b"
    r"|(?:ho|abbiamo)(?: già| anche| appena)? \w{2,18}(?:ato|uto|ito|sto|tto|so|rto|nto)\b"
    r"|(?:mi sono|ci siamo) \w{2,18}(?:at|it|ut|tt|s)[oaie]\b"
    r"|(?:(?:^|[,;] |\b(?:e|eu|anteontem|ontem|hoje|já|não|me|nos|manhã|tarde|noite|passad[oa]) )"
    r"(?!(?:b|dr|zw|fr|dab|poliz|vorb|s|h|l|r|vorr|potr|dovr|avr|sapr|andr|terr"
    r"|verr)ei\b)(?:\w{2,18}(?<!ar)(?<!er)(?<!ir)ei"
    r"|(?:vend|perd|part|com|beb|conhec|aprend|assist|sub|escrev|ca|sa)i|\w{2,18}ámos)\b)"
)
"""What I or we did, in languages whose perfect looks like the present: it is over."""
HAPPENED = Pattern(rf"\b(?:{DONE})")
NOT_YET = Pattern(
    r"\b(?:werden?|morgen|übermorgen|demain|après-demain|prochaine?|domani|dopodomani|prossim[oa]"
    r"|amanhã|pr[oó]xim[oa]|(?:voy|vamos|vou) |(?<!la )(?<!de )mañana(?! (?:\w+é|\w+í)\b))"
)
MOVED = Pattern(
    r"\b(?:has |have |just |recently )?(?:moved|quit|left|got|bought|sold|adopted|married|divorced"
    r"|retired|graduated|joined|turned|died|broke|gave birth|passed away)\b"
)
"""What somebody did or what became of him, said of others."""


def is_over(text: str) -> bool:
    """Whether it tells what the speaker did, and nothing that is to come."""
    return HAPPENED.search(text) is not None and NOT_YET.search(text) is None
