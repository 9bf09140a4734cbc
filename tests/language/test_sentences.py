"""A sentence ends where its writer ended it: a full stop alone is no end."""

from collections.abc import Callable

from kinmem.language import sentences
from kinmem.service import Service
from tests.tables import each

WHOLE = {
    "en": [
        "Samuel J. Carter is our auditor.",
        "Our PO box is No. 14 in the old post office.",
        "My doctor is Dr. A. B. Smith in Leeds.",
        "We stay near St. James Park until Jan. 14 with Ms. K. Brown.",
        "We use several databases, e.g. Postgres for billing.",
        "Our API is on version 2. 4 in production.",
        '"Are you sure?" she asked me.',
        "Our company is Havn Tools Inc. and we're registered in Bergen.",
        "His practice is on St. Mary's Rd. No. 5.",
        "Our rent is due in Dec. at the latest.",
    ],
    "de": [
        "Mein Urlaub geht vom 3. Mai bis zum 10. Juni.",
        "Wir nutzen z. B. Postgres 16 für alle Dienste.",
        "Ich wohne in der Hauptstr. 12 in Köln.",
        "Unser Büro ist im 3. Stock bei Prof. Weiss.",
        "Wir haben ca. 40 Kunden, d. h. etwa vier pro Kopf.",
        "Die Abgabe ist auf den 10. verschoben.",
        "Mein Bruder Jonas ist vom 9.11. bis 20.11. im Urlaub.",
        "Mein Zahnarzttermin ist am 24.12. um 9 Uhr.",
        "Ich treffe mich Do. um 18:30 mit Frau Keller.",
        "Mein Kurs ist Di. und Fr. im Gemeindehaus.",
        "Unser Büro ist in der Karl-Marx-Str. 17, Eingang ggf. über den Hof.",
    ],
    "fr": [
        "M. Dupont est mon propriétaire.",
        "Ma voisine est Mme. Laurent, au no. 14 de la rue Foch.",
        "Ma voiture est garée rue J.-B. Clément.",
    ],
    "es": [
        "Mi médico es el Dr. Pérez, en la Av. Libertad n. 14.",
        "La Sra. Gómez es mi jefa.",
        "La caja es de EE. UU., modelo 3.",
    ],
    "it": ["Il sig. Rossi abita in via Roma n. 14 a Torino.", "Il mio capo è il dott. G. Bianchi."],
    "pt": ["Moro na R. Augusta n. 14 em São Paulo.", "O Sr. Silva é o meu senhorio."],
    "zh": ["我的医生是 Dr. Wang。"],
}
SEVERAL = [
    ('She said "go away." I left.', 2),
    ('"Are you ok?" Yes, I am.', 2),
    ("My favourite letter is J. My sister hates it.", 2),
    ("We run Node 22. The port is 8081.", 2),
    ("I live in Springfield. No. My brother does.", 3),
    ("Verschoben auf den 10. Das Team weiß Bescheid.", 2),
    ("Verschoben auf den 10.11. Das Team weiß Bescheid.", 2),
    ("we're on python 3.11. the port is 8081", 2),
    ("I weigh 80 kg. Tom weighs more.", 2),
    ("I ran a half marathon with my co. Then I slept.", 2),
    ("We live on Mill Rd. No cars are allowed there.", 2),
    ("We moved to AWS. Tom likes it.", 2),
    ("we're on node 22. the port is 8081", 2),
    ("I was at the gym. it was nice.", 2),
    ("I love it. we go there often.", 2),
    ("My dog is Max. he is nine.", 2),
    ("I live with Ann. she likes tea.", 2),
    ("Der Termin ist am 24.12. Jonas kommt auch.", 2),
    ("Wir sind auf Version 3.11. Postgres ist auf 16.", 2),
    ("Nous avons python 3.11. le port est 8081.", 2),
    ("It was founded in 1998. 20 people work there.", 2),
    ("我住在北京。我的妻子叫小红。", 2),
    ("Moramos em Lisboa. O meu irmão é médico.", 2),
    ("Since September... no, since October, I work alone.", 1),
    ("minha professora… não, meu professor João", 1),
    ("I thought about it... We move in May.", 2),
    ("It costs a lot... 20 people work on it.", 1),
]


@each("text", [one for texts in WHOLE.values() for one in texts])
def test_no_sentence_is_cut_at_an_abbreviation_or_a_number(text: str) -> None:
    assert sentences(text) == [text]


@each(("text", "count"), SEVERAL)
def test_sentences_are_still_told_apart(text: str, count: int) -> None:
    assert len(sentences(text)) == count
    assert "".join(sentences(text)) == text


def test_what_is_learned_is_whole(service_of: Callable[..., Service]) -> None:
    kin = service_of("ana", KINMEM_JUDGE="on")
    told = [
        "Samuel J. Carter is our auditor.",
        "Ich wohne in der Hauptstr. 12 in Köln.",
        "Moro na R. Augusta n. 14 em São Paulo.",
        "Mein Bruder Jonas ist vom 9.11. bis 20.11. im Urlaub.",
        "Ich treffe mich Do. um 18:30 mit Frau Keller.",
        "Wir nutzen z. B. Postgres 16 für alle Dienste.",
    ]

    for number, text in enumerate(told):
        kin.record_turn(str(number), text, "OK.", turn="1")
    kin.settle()

    assert {one.content for one in kin.list_memories().memories} == set(told)
