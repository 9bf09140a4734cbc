"""How people and things stand to each other: the names of relations, and the words for them.

Tables only. The 20 names are Keyoku's; any other lowercase slug is kept as it is.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from kinmem.language.grammar import by_word, words
from kinmem.language.pattern import late
from kinmem.models import EntityType

SYMMETRIC = words(
    "friend_of dating married_to sibling_of knows collaborates_with partner_of competitor_of"
)
"""Told from either end in the same word."""
INVERSES: Mapping[str, str] = {
    "manages": "reports_to",
    "parent_of": "child_of",
    "works_at": "employs",
    "lives_in": "home_of",
    "member_of": "has_member",
    "founded": "founded_by",
    "uses": "used_by",
    "created": "created_by",
    "mentors": "mentored_by",
    "client_of": "has_client",
}
"""The name of the stored direction, and how it is told from the other end."""
TURNED: Mapping[str, str] = {told: stored for stored, told in INVERSES.items()}
RELATIONS = frozenset({*SYMMETRIC, *INVERSES, "reports_to", "child_of"})
"""Keyoku's 20."""
SAME = by_word(
    """
    works_at: works_for employed_by employed_at employee_of works_in
    married_to: spouse_of husband_of wife_of
    sibling_of: brother_of sister_of
    parent_of: mother_of father_of
    child_of: son_of daughter_of
    dating: boyfriend_of girlfriend_of in_relationship_with
    friend_of: friends_with
    manages: boss_of manager_of supervises leads
    reports_to: managed_by
    collaborates_with: works_with colleague_of coworker_of
    lives_in: lives_at resides_in
    founded: founder_of co_founded cofounded
    created: wrote built developed author_of creator_of
    client_of: customer_of
    competitor_of: competes_with rival_of
    partner_of: partners_with
    mentors: mentor_of
    uses: user_of
    """
)
"""What models say instead."""

ENDS: Mapping[str, tuple[EntityType, EntityType]] = {
    "works_at": ("person", "organization"),
    "lives_in": ("person", "location"),
    "member_of": ("person", "organization"),
    "founded": ("person", "organization"),
    "uses": ("other", "product"),
    "created": ("other", "product"),
    "client_of": ("organization", "organization"),
    "competitor_of": ("organization", "organization"),
    "partner_of": ("other", "other"),
    **dict.fromkeys(
        (
            *("manages", "reports_to", "parent_of", "child_of", "mentors", "knows"),
            *("friend_of", "dating", "married_to", "sibling_of", "collaborates_with"),
        ),
        ("person", "person"),
    ),
}
"""Of what type source and target are, where the sentence says no more."""


class Role(NamedTuple):
    """What somebody is to somebody else."""

    relation: str
    turned: bool = False
    """Whether the one with the role is the target."""


_ROLES: Mapping[Role, str] = {
    Role("sibling_of"): (
        "brother sister sibling twin bruder schwester frère soeur sœur hermano hermana fratello"
        " sorella irmão irmã"
    ),
    Role("married_to"): (
        "wife husband spouse ehefrau ehemann frau mari femme esposa esposo marido mujer moglie"
        " marito mulher"
    ),
    Role("dating"): (
        "girlfriend boyfriend freundin copine copain novia novio fidanzata fidanzato namorada"
        " namorado"
    ),
    Role("parent_of"): (
        "mother father mum mom mummy mommy dad daddy parent mutter vater mère père madre padre mãe"
        " pai"
    ),
    Role("parent_of", turned=True): (
        "son daughter child kid sohn tochter fils fille hijo hija figlio figlia filho filha"
    ),
    Role("friend_of"): "friend pal amie ami amiga amigo amica amico",
    Role("collaborates_with"): (
        "colleague coworker co-worker teammate kollege kollegin collègue colega compañera compañero"
        " collega"
    ),
    Role("manages"): (
        "manager boss supervisor chef chefin vorgesetzte vorgesetzter cheffe jefa jefe capo chefa"
    ),
    Role("mentors"): "mentor mentorin",
    Role("client_of"): "client customer kunde cliente",
    Role("competitor_of"): "competitor rival",
    Role("partner_of"): "partner partnerin",
}
ROLES: Mapping[str, Role] = {word: role for role, told in _ROLES.items() for word in told.split()}
PLURALS: Mapping[str, Role] = {
    **{
        word + "s": role
        for word, role in ROLES.items()
        if role.relation in SYMMETRIC or role.turned
    },
    "children": Role("parent_of", turned=True),
    "kinder": Role("parent_of", turned=True),
    "siblings": Role("sibling_of"),
}
"""The same of two or more."""

NEVER_NAMES = words(
    "yesterday today tomorrow tonight now currently meanwhile also then here there first last next",
    "everyone everybody nobody somebody someone anyone people dear hello thanks thank please well",
    "just still although since once note remember fact update correction context user assistant",
    "nothing something everything anything each both many most some all few another other only",
    "christmas easter halloween thanksgiving ramadan hanukkah night home work school lunch dinner",
    "breakfast noon midnight mum mom dad mama papa internet monday morning evening afternoon",
    "weekend coffee gestern heute morgen jetzt abends nachts regen nacht tag licht tageslicht wind",
    "sonne hitze kälte bedarf freunden freunde hause arbeit schule zukunft angst frieden ruhe",
    "weihnachten ostern hier aujourd demain maintenant noël hoy ayer mañana ahora navidad oggi",
    "ieri domani adesso natale hoje ontem amanhã agora natal mais aber und oder mit ohne auch",
    "aussi también anche também user's company team family office meeting client customer",
)
"""Capital words that name nobody: at the start of a sentence, or a time, or a German noun."""
PEOPLES = words(
    "american british english scottish irish welsh canadian australian german austrian swiss",
    "dutch belgian french italian spanish portuguese greek turkish polish czech slovak",
    "hungarian romanian bulgarian serbian croatian slovenian albanian russian ukrainian finnish",
    "swedish norwegian danish icelandic estonian latvian lithuanian chinese japanese korean",
    "indian pakistani thai vietnamese filipino indonesian malaysian brazilian mexican",
    "argentinian argentine chilean colombian peruvian cuban egyptian moroccan tunisian algerian",
    "nigerian kenyan ethiopian ghanaian african european asian latin arab israeli iranian",
    "persian iraqi syrian lebanese saudi jewish christian muslim catholic protestant buddhist",
    "hindu vegan vegetarian",
)
"""What somebody may be, with a capital, without being called so."""

HEDGED = late(
    r"(?i:\b(?:if|whether|unless|maybe|perhaps|might|could|would|should|probably|possibly|think"
    r"|thinks|thought|guess|believes?|suppos\w+|assum\w+|imagin\w+|pretend\w*|wish\w*|hop(?:e|es|ed"
    r"|ing)|doubts?|rumou?rs?|apparently|allegedly|reportedly|(?:people|they) say|not sure|unsure"
    r"|wonder\w*|ask(?:s|ed)?|dream\w*|want(?:s|ed)? to|used to|formerly|previously|back then"
    r"|until|till|temporarily|sometimes|at times|(?:on|at) weekends|in (?:summer|winter)|during"
    r"|vielleicht|vermutlich|wahrscheinlich|wenn|falls|ob|glaube|denke|hoffe|früher|peut-être|rêve"
    r"|pense|crois|espère|autrefois|quizás?|tal vez|ojalá|creo|espero|antes|forse|magari|credo"
    r"|spero|talvez|acho|oxalá)\b)"
    r"|\bmay\b|(?:^|, )[Ss]i (?!chiama)|(?:^|, )[Ss]e (?!llama|chama)"
    r"|(?i:\bin (?:the|my|a|an|this|that|her|his|your) (?:\w+ )?(?:novel|book|movie|film|story|game"
    r"|play|series|show)\b)"
)
"""Before a statement: it is none."""
DENIED = late(
    r"(?i:\b(?:not|never|nobody|none|no|nor|neither|without|untrue|false|wrong|hardly|nicht|kein\w*"
    r"|nie|niemals|ne|jamais|nunca|jamás|tampoco|non|mai|não|nem|stopped|quit)\b|n['’]t\b"
    r"|\bn['’](?=\w))"
)
TAKEN_BACK = late(
    r"(?i:^, no\b|\b(?:no more|any ?more|no longer|until|till|back then|at (?:the|that) time"
    r"|in those days|right\?|i (?:think|guess|believe|suppose|hope)|probably|maybe|perhaps|possibly"
    r"|supposedly|apparently|who knows|not any|nicht mehr|bis \d{4}|jusqu['’]en|hasta|fino al"
    r"|até)\b|\?)"
)
"""Behind a statement: it is none either."""
DETERMINED = late(
    r"\b(?:the|an?|my|our|your|his|her|their|this|that|d(?:ie|er|as|em|en)|ein\w*|mein\w*|dein\w*"
    r"|unser\w*|sein\w*|ihr\w*|les?|la|une?|mon|ma|mes|nos|notre|el|los|las|una|mis?|il|lo|gli|mi[ao]"
    r"|meu|minha|os?|as) $",
    re.IGNORECASE,
)
"""Before a capital word: it is a thing, or a German noun, and nobody's name."""
QUOTED = late(
    r"(?i:\b(?:says?|said|writes?|wrote|texted|answered|replied|told me|sister|brother|wife|husband"
    r"|mother|father|mum|mom|dad|boss|friend)) ?[:,]\s*[\"“«„]?\s*$"
    r"|(?:^|[.!] )(?!Reminder|Note|Fact|Update|Correction|Also|FYI|PS)[A-Z]\w+: *[\"“«„]?$"
    r"|[\"“«„][^\"”»“]*$"
)
"""Before what somebody else says of himself."""
