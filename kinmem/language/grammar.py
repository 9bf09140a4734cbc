"""Words that hold a sentence together, in the languages that the rules speak. Tables only.

The languages stand side by side: a word that is taken for one of another language makes texts
differ that need not, never the other way round. Only PASSED may be missing from one of two texts
that are called the same, so that table is kept by language.
"""


def words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


def by_word(rows: str) -> dict[str, str]:
    """Lines of `name: word word` as word -> name; the first line that has a word wins."""
    table: dict[str, str] = {}
    for row in rows.strip().splitlines():
        name, group = row.split(":")
        for word in group.split():
            table.setdefault(word, name.strip())
    return table


PASSED = {
    "en": words("a an the really very please actually basically"),
    "de": words("sehr wirklich"),
    "fr": words("ne n très vraiment"),  # what negates is the second word: pas, jamais
    "es": words("muy realmente"),
    "it": words("molto davvero"),
    "pt": words("muito realmente"),
}
"""Words without which a statement stays the same, per language: `a` is a verb in French.

Only English articles: le, la, lo, die are pronouns as well, and nobody leaves them out.
"""

JOINING = {
    "en": words("and"),
    "de": words("und"),
    "fr": words("et"),
    "es": words("y e"),
    "it": words("e ed"),
    "pt": words("e"),
}
"""A comma in other words, per language."""

MARKERS = {
    "en": words("the be was i my to of and in has have with she he they at not"),
    "de": words("der das ich und ist nicht mein meine hat mit sie er auf zu wir im dem bin ein"),
    "fr": words("le les je j est et ne pas mon ma des du une dans elle il nous au c qu suis chez"),
    "es": words("el los y es mi en una no con ella del yo su está las por para vive tengo"),
    "it": words("il è e di non mio mia che una gli sono per con lei lui ho nel della ha"),
    "pt": words("o os é e não meu minha em uma um com ela ele eu no na do da tenho moro"),
}
"""Frequent words by which a text's language is guessed."""

CONTRACTIONS = dict(
    line.split(" = ")
    for line in """
can't = can not
cannot = can not
cant = can not
won't = will not
shan't = shall not
ain't = is not
let's = let us
gonna = going to
wanna = want to
dont = do not
doesnt = does not
didnt = did not
isnt = is not
arent = are not
wasnt = was not
werent = were not
havent = have not
hasnt = has not
hadnt = had not
couldnt = could not
wouldnt = would not
shouldnt = should not
im = i am
ive = i have
""".strip().splitlines()
)
ENDINGS = {"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}
"""What stands behind an apostrophe."""
IS_BEFORE = words("it he she that there what who where here how")
"""Behind these 's is read as `is`; behind any other word it is a genitive."""
ELISIONS = words("l j d n s c m t qu jusqu lorsqu puisqu dell all nell dall sull un quest")

SAME = by_word(
    """
    be: am is are
    child: kid
    children: kids
    woman: lady
    women: ladies
    mother: mum mom mommy mummy
    father: dad daddy
    grandmother: grandma granny
    grandfather: grandpa
    someone: somebody
    everyone: everybody
    anyone: anybody
    movie: film
    movies: films
    television: tv telly
    telephone: phone
    photo: photograph
    photos: photographs
    airplane: aeroplane
    refrigerator: fridge
    ok: okay
    gray: grey
    outdoors: outside
    toward: towards
    until: till
    program: programme
    license: licence
    traveling: travelling
    canceled: cancelled
    favorite: favourite
    color: colour
    colors: colours
    neighbor: neighbour
    neighbors: neighbours
    center: centre
    theater: theatre
    """
)
"""Words that stand for each other in any statement."""

SUBJECTS = words(
    "i you he she it we they ich du er sie es wir ihr je j tu il elle nous vous ils elles yo tú él",
    "ella nosotros ellos ellas io lui lei noi voi loro eu ele ela nós eles elas 我 你 您 他 她",
)
PRONOUNS = SUBJECTS | words(
    "me my mine myself your yours yourself him his himself her hers herself its itself us our ours",
    "ourselves them their theirs themselves mich mir mein meine meinen meinem meiner meines dich",
    "dir dein deine ihn ihm sein seine seinen seinem seiner ihre ihren ihrem ihrer uns unser",
    "unsere euch euer eure moi mon ma mes toi ton ta tes son sa ses notre nos votre vos leur leurs",
    "mi mis tus su sus nuestro nuestra mio mia miei mie tuo tua suo sua suoi sue nostro nostra meu",
    "minha meus minhas seu nosso nossa 们",
)

PLACES = words(
    "in on at to from into onto out off up down over under above below behind before after beside",
    "near inside outdoors indoors through across between among with without against for by toward",
    "around along past since until during via of than im an am auf aus bei beim mit ohne nach von",
    "vom vor zu zum zur über unter hinter neben zwischen durch für gegen um seit bis dans sur sous",
    "devant derrière avec sans pour contre vers chez depuis jusque avant après de à du au aux par",
    "en sobre bajo desde hasta con sin para por hacia antes después su sotto da di senza tra fra",
    "dopo prima verso dal dalla nel nella al alla em no na sob do com sem depois até",
    "在 从 到 去 来",
)
"""Prepositions: one in place of another is a difference, and each begins a phrase."""
CLAUSAL = words(
    "before after since until than for without by of vor nach seit bis ohne avant après depuis",
    "pour sans antes después desde hasta para sin prima dopo senza depois até sem",
)
"""Prepositions behind which a whole statement may stand."""

LINKS = words("because when while if that who which so as where although though but than or")
"""Words that begin a phrase besides prepositions and pronouns."""

FUNCTION_WORDS = frozenset().union(PRONOUNS, PLACES, LINKS, *PASSED.values()) | words(
    "be been being have has do does not no this these those there here then what how why",
    "der die das den dem des ein eine einen einem einer eines le la les l un une el los las una",
    "unos unas lo il i gli uno o a os as um uma",
)
"""Words that carry a sentence and not its matter; never names."""
