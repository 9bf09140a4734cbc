"""How people tell that something has changed, and what they then say it is."""

from kinmem.language.change.vetoes import claim
from tests.growth import assert_linear
from tests.tables import each


@each(
    ("text", "statement"),
    [
        ("Actually, my birthday is 9 May", "My birthday is 9 May"),
        ("Tom now works at Bosch", "Tom works at Bosch"),
        ("The standup is at 10:15 from now on", "The standup is at 10:15"),
        ("Dinner is at eight instead", "Dinner is at eight"),
        ("Désormais, la réunion est à 10 h", "La réunion est à 10 h"),
        ("Ahora vivo en Sevilla", "Vivo en Sevilla"),
        ("Abito a Milano adesso", "Abito a Milano"),
        ("Agora moro no Porto", "Moro no Porto"),
        ("我现在住在杭州", "我 住在杭州"),
    ],
)
def test_a_correction_is_the_statement_without_its_cue(text, statement):
    said = claim(text)

    assert (said.text, said.corrects, said.ends) == (statement, True, False)


@each(
    ("text", "was"),
    [
        ("I no longer drink coffee", "I drink coffee"),
        ("I don't live in Hamburg any more", "I live in Hamburg"),
        ("I stopped eating meat", "I eating meat"),
        ("Ich trinke keinen Kaffee mehr", "Ich trinke Kaffee"),
        ("Je ne mange plus de viande", "Je mange de viande"),
        ("Ya no trabajo en un banco", "Trabajo en un banco"),
        ("Non bevo più caffè", "Bevo caffè"),
        ("Eu não como mais carne", "Eu como carne"),
        ("Kim doesn't go to yoga any more", "Kim go to yoga"),
        ("Ben hat aufgehört zu rauchen", "Ben rauchen"),
        ("Ben a arrêté de fumer", "Ben fumer"),
        ("Ana dejó de fumar", "Ana fumar"),
        ("我不再喝咖啡", "我喝咖啡"),
    ],
)
def test_an_end_tells_what_was(text, was):
    said = claim(text)

    assert (said.text, said.ends) == (was, True)


@each(
    ("text", "statement", "former"),
    [
        ("Not Ghent but Antwerp is home", "Antwerp is home", "Ghent"),
        ("Use spaces instead of tabs", "Use spaces", "tabs"),
        ("It is 90 days, not 30", "It is 90 days", "30"),
        ("I switched from vim to helix", "I switched to helix", "vim"),
        ("Nimm Leerzeichen statt Tabs", "Nimm Leerzeichen", "Tabs"),
        ("Usa espacios en vez de tabuladores", "Usa espacios", "tabuladores"),
        ("I live in Rome, no longer in Lyon", "I live in Rome", "in Lyon"),
        ("Wir sind von Jira zu Linear gewechselt", "Wir sind zu Linear gewechselt", "Jira"),
        ("Nous sommes passés de Jira à Linear", "Nous sommes passés à Linear", "Jira"),
        ("Hemos cambiado de Jira a Linear", "Hemos cambiado a Linear", "Jira"),
    ],
)
def test_what_was_before_may_be_named(text, statement, former):
    said = claim(text)

    assert (said.text, said.instead_of) == (statement, former)


@each(
    "text",
    [
        "The port is not 8080",
        "The shop is open from 9 to 5",
        "She speaks not only French but German",
        "It runs no longer than 5 minutes",
        "Es kostet nicht mehr als 5 Euro",
        "Das Treffen findet am Montag statt.",
        "I know Anna",
        "",
    ],
)
def test_what_corrects_nothing_stays_as_it_is(text):
    assert claim(text) == (text, False, False, "")


@each(
    "text",
    [part * 10_000 for part in ("not a ", "no longer ", "from a to ", "kein mehr ", "now, ")]
    + ["it is now, not " + "a" * 2_000 + "!", "von a zu " * 5_000, "our aa moved " * 5_000],
    ids=lambda text: text[:16],
)
def test_time_grows_with_the_length_alone(text):
    assert_linear(lambda length: claim(text[:length]), len(text))
