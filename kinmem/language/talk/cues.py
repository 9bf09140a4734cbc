"""What people are to a speaker, and how they ask to keep something, in six languages."""

from kinmem.language.pattern import Pattern

KIN = (
    "husband|wife|partner|fianc[eé]e?|boyfriend|girlfriend|spouse|mother|mom|mum|father|dad"
    "|parents?|sister|brother"
    "|siblings?|son|daughter|kids?|child(?:ren)?|baby|twins|aunt|uncle|cousin|niece|nephew|grandma"
    "|grandmother"
    "|grandpa|grandfather|in-laws|boss|manager|colleague|coworker|roommate|neighbou?r|teacher|coach"
    "|(?:best )?friend|dog|cat|puppy|kitten|pet"
)
KIN_ABROAD = (
    "mann|frau|freund(?:in)?|mutter|vater|eltern|schwester|bruder|sohn|tochter|kinder|oma|opa"
    "|chef(?:in)?|hund|katze"
    "|mari|femme|m[eè]re|p[eè]re|s[oœ]e?ur|fr[eè]re|fils|fille|copine|copain|chien|chat"
    "|marido|esposa?|mujer|madre|padre|hermana|hermano|hij[oa]s?|novi[oa]|jef[ea]|perr[oa]|gat[oa]"
    "|moglie|marito|sorella|fratello|figli[oa]?|ragazz[oa]|cane|gatto"
    "|mulher|m[aã]e|pai|irm[aã]o?|filh[oa]s?|namorad[oa]|cachorr[oa]"
)
ASKED_TO_KEEP = Pattern(
    r"\W*(?:please |bitte |hey,? |(?:can|could|would|will) you )*(?:remember(?: that)?"
    r"|don['’]t forget(?: that)?"
    r"|do not forget(?: that)?|note that|keep in mind(?: that)?"
    r"|for future reference|fyi|just so you know|merke? dir(?=[:,](?! dass))"
    r"|souviens-toi qu[e']|rappelle-toi qu[e']|n['’]oublie pas qu[e']|retiens qu[e']"
    r"|recuerda(?: que)?|no olvides que|ten en cuenta que"
    r"|ricorda(?:ti)?(?: che)?|non dimenticare che|tieni presente che|lembre?(?:-se"
    r"|-te)?(?: de)? que|n[aã]o (?:te )?esque[cç]as? (?:de )?que)[,:]?\s+(?!to\b|me\b)"
)
"""It is taken off what is kept: my dog is called Bello."""
HEDGE = Pattern(
    r"\W*(?:(?:apparently|evidently|seemingly)\b|(?:it |so it )?(?:seems|appears|looks|turns out)\b"
    r"(?: like| as if| as though| that)?|(?:as far as|from what) i (?:know|can (?:tell|see))"
    r"|anscheinend|offenbar|scheinbar|es scheint|wie es (?:aussieht|scheint)|soweit ich weiß"
    r"|apparemment|visiblement|on dirait(?: bien)? qu[e'’]|il (?:semble|para[iî]t) qu[e'’]"
    r"|(?:al parecer|por lo visto|aparentemente|parece(?: ser)? que)"
    r"|(?:a quanto (?:pare|sembra)|(?:pare|sembra) che|apparentemente)"
    r"|(?:ao que parece|pelos vistos)|看来|看起来|似乎|好像)[,，:]?\s*(?:dass )?"
)
"""How somebody tells what they have found to be so: a fact none the less."""
