"""What only rules/change/vetoes.py reads: what is over, imagined, or said in jest."""

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

_UNREAL = "|".join(
    (
        r"(?:if|whether|in case|unless) (?-i:[A-ZÀ-Þ])|(?:if|unless) (?:he|she|they|my|our|the)\b"
        r"(?=.*\b(?:would|could|might|were)\b)|(?:suppose|supposing|imagine|assume|assuming|what if"
        r"|let['’]s (?:say|assume|pretend|imagine)|maybe|perhaps|hypothetically)\b|say (?-i:[A-Z])",
        r"(?:wenn|falls) (?-i:[A-Z])|angenommen|stell dir vor|vielleicht|nehmen wir an",
        r"(?:si|se) (?-i:[A-ZÀ-Þ])|s['’]il|supposons|imagine que|imaginons|peut-être",
        r"supongamos|imagina|imagínate|quizás?|tal vez|a lo mejor|puede que",
        r"supponiamo|immagina|forse|magari|metti che",
        r"talvez|suponha\w*|imagine|se calhar|digamos",
    )
)
"""At the beginning of what is only thought of."""
_FICTION = (
    r"in (?:the|my|a|this|that|his|her|our) (?:\w+ )?(?:novel|story|film|movie|book|game|dream|play"
    r"|series|show|example|scenario|joke|test data)"
    r"|(?:im|in (?:meinem|dem|einem)) (?:roman|film|buch|traum|witz|spiel)"
    r"|in (?:der|meiner|einer) (?:geschichte|serie)"
    r"|dans (?:le|la|mon|ma|un|une) (?:roman|film|livre|histoire|série|blague|jeu|rêve)"
    r"|en (?:la|el|mi|una?) (?:novela|película|libro|historia|serie|chiste|juego|sueño)"
    r"|n(?:el|ella|ello) (?:mi[oa] )?(?:romanzo|film|libro|storia|serie|barzelletta|gioco|sogno)"
    r"|n[oa] (?:meu |minha )?(?:romance|filme|livro|história|série|piada|jogo|sonho)"
)
_JOKING = (
    r"(?:ha){2,}h?|lol|lmao|rofl|(?:just |only )?kidding|(?:just |only )?joking|jk|as a joke"
    r"|(?:nur |kleiner )?(?:ein )?scherz|je (?:plaisante|rigole|blague)|mdr|ptdr"
    r"|(?:es |era )?broma|(?:ja){3,}|scherzo|sto scherzando|(?:é|estou a) brinca(?:deira|r)|k{3,}"
    r"|rsrs"
)
UNREAL = Pattern(rf"\W*(?:{_UNREAL})")
FICTION = Pattern(rf"\b(?:{_FICTION})\b")
JOKING = Pattern(rf"(?<!\w)(?:{_JOKING})(?!\w)|[😂🤣😜]")
