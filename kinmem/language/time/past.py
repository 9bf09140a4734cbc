"""Signs that a question asks how things stood, in six languages; the words are in the lexica.

Matched with texts as phrases.Plain has them: lower case, no accents, single spaces.
"""

import re

from kinmem.language.lexicon import alternatives
from kinmem.language.pattern import late


def _any(name: str) -> re.Pattern[str]:
    return late("|".join(rf"(?<!\w)(?:{found})(?!\w)" for found in alternatives("past", name)))


LOOKING_BACK = _any("looking_back")
"""Verbs in a past tense. Some present ones end as they do: alone they mean nothing."""
FORMERLY = _any("formerly")
BEFORE = _any("before")
"""Where a verb looks back as well; else they may speak of a plan."""
OF_NOW = _any("now")
"""It asks how things are."""
PAST_FORM = _any("past_form")
"""Told of the past, besides those: in English -ed, in Spanish and Portuguese what I did."""
UNTIL = _any("until")
NOT_A_STATE = _any("not_a_state")
"""Told of an offer, a deadline or the past, a time is what it is about, and not its end."""
FOLLOWED = late(
    r"\b(?i:before|prior to|vor|bevor|avant|antes d[aeo]l?|prima d(?:i|el|ella|ello|ell['’]))\b ?"
    r"(?:(?i:the|my|our|der|dem|den|le|la|l['’]|el|il|lo|o|a) ?)?"
    r"(?P<name>[^\W\d_a-zß-ÿ][\w-]*(?: [^\W\d_a-zß-ÿ][\w-]*){0,2})"
)
"""What came next, by name: before Ericsson."""
