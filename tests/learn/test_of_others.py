"""What a user says of others: whom a memory is about, of what kind it is, and what is no fact."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from kinmem.learn.extract import extract
from kinmem.learn.pipeline import Source
from kinmem.llm.builtin import BuiltinJudge
from kinmem.models import Note
from kinmem.models.turns import Message
from kinmem.service import Service

SAID = datetime(2026, 11, 22, 10, tzinfo=UTC)


def message(text: str, role: str = "user", **fields: object) -> Message:
    told = {"session": "s", "turn": "t2", "said_at": SAID} | fields
    return Message(role=role, text=text, **told)


def learned(text: str, **fields: object) -> list[Note]:
    return extract([message(text, **fields)], [], UTC)


# Whom it is about (-: nobody, or of two) | what a user says.
OF_OTHERS = """
Ana | Ana is allergic to peanuts.
Ana | Ana likes dogs.
Ana | Ana is not allergic to peanuts any more.
Ana | Ana isn't allergic to peanuts anymore.
Ana | Ana no longer likes dogs.
deploy | The deploy needs no review.
deploy | The deploy needs two reviews.
- | Ana and Tom moved to Porto.
Max | Max hates Mondays.
Ana | Ana lives in Lyon.
Tom Baker | Tom Baker works for Google.
Rex | My dog Rex is ill.
dog | My dog is ill.
sister | My sister likes dogs.
sister | My sister is vegan.
Clara | My sister Clara hates olives.
Ben | Ben doesn't eat meat.
Mia | Mia has asthma.
Lea | Lea turned 30.
Ana | Ana has three children.
Karl | My boss Karl retires in June.
Ana | Ana's favourite colour is green.
Ana | Ana's birthday is in May.
Tom | Tom got divorced.
Tom | Tom quit his job.
Tom | Tom is left-handed.
Priya | Priya can't stand coriander.
Nina | Nina drives a Volvo.
Omar | Omar speaks Arabic.
Jonas | Jonas is my landlord.
Fred | Fred likes cats.
Rosa | Rosa plays the cello.
Rosa | Rosa doesn't play the cello any more.
cat | Our cat is diabetic.
API | The API requires a token.
backup | The backup runs at night.
Falcon | Project Falcon is due in May.
build | The build needs Java 21.
standup | The standup starts at nine.
office | Our office is in Graz.
team | Our team uses Slack.
mother | My mother lives with us.
Ana | Ana mag Hunde.
Ana | Ana ist allergisch gegen Nüsse.
Ana | Ana ist nicht mehr allergisch gegen Nüsse.
Tom | Tom wohnt in Graz.
Tom | Tom arbeitet bei Bosch.
Tom | Tom isst kein Fleisch.
Schwester | Meine Schwester ist Veganerin.
Frau | Meine Frau mag Hunde.
Rex | Mein Hund Rex ist krank.
Server | Der Server läuft nachts.
Deploy | Der Deploy braucht kein Review.
Ana | Ana aime les chiens.
Ana | Ana est allergique aux noix.
Ana | Ana n'est plus allergique aux noix.
Tom | Tom habite à Lyon.
Tom | Tom travaille chez Renault.
femme | Ma femme aime les chiens.
Rex | Mon chien Rex est malade.
serveur | Le serveur tourne la nuit.
Ana | A Ana le gustan los perros.
Ana | Ana es alérgica a las nueces.
Ana | Ana ya no es alérgica a las nueces.
Tom | Tom vive en Lima.
Tom | Tom trabaja en Inditex.
mujer | Mi mujer odia el ajo.
Rex | Mi perro Rex está enfermo.
servidor | El servidor necesita más memoria.
Ana | Ana è allergica alle noci.
Ana | Ana non è più allergica alle noci.
Ana | Ana ama i cani.
Tom | Tom abita a Torino.
Tom | Tom lavora in Fiat.
moglie | Mia moglie lavora a Roma.
Rex | Il mio cane Rex è malato.
server | Il server gira di notte.
Ana | A Ana gosta de cães.
Ana | Ana gosta de cães.
Ana | Ana é alérgica a nozes.
Ana | Ana já não é alérgica a nozes.
Tom | Tom mora em Braga.
Tom | Tom trabalha na Galp.
mulher | A minha mulher trabalha no Porto.
Rex | O meu cão Rex está doente.
servidor | O servidor precisa de mais memória.
Priya | Priya is lactose intolerant.
Jamal | Jamal loves hiking.
Sofia | Sofia is a dentist.
Sofia | Sofia has a twin brother.
grandmother | My grandmother takes blood thinners.
neighbour | Our neighbour has a key to our flat.
Bella | Our cat Bella is afraid of thunder.
cousin | My cousin studies medicine in Prague.
Erik | Erik broke his leg.
Noor | Noor started at Spotify.
Hannah | Hannah is getting married in June.
Lukas | Lukas never drinks coffee.
Wei | Wei can't swim.
Marta Ruiz | Marta Ruiz manages the finance team.
staging database | The staging database is reset every night.
release | The release happens every other Thursday.
Atlas | Project Atlas uses Kafka.
payment service | The payment service is written in Go.
Kevin | Kevin's shoe size is 44.
Greta | Greta isn't vegetarian any more.
- | Ben and Lea got divorced.
Lena | Lena hasst Spinat.
Paul | Paul verträgt keine Milch.
Bruder | Mein Bruder hat Diabetes.
Miriam | Miriam ist Lehrerin.
Jonas | Jonas hat seinen Job gekündigt.
Luna | Unsere Katze Luna ist taub.
Drucker | Der Drucker steht im Keller.
Chloé | Chloé déteste les champignons.
Luc | Luc est infirmier.
père | Mon père a arrêté de fumer.
Inès | Inès a deux enfants.
projet | Le projet commence en mars.
Lucía | Lucía no come carne.
Pablo | Pablo se mudó a Bilbao.
madre | Mi madre es diabética.
Diego | Diego tiene dos hijos.
oficina | La oficina está en Bilbao.
Giulia | Giulia non mangia carne.
Marco | Marco si è trasferito a Bari.
sorella | Mia sorella è celiaca.
Luca | Luca ha due figli.
ufficio | L'ufficio si trova a Pisa.
Inês | Inês não come carne.
Rui | Rui mudou-se para Faro.
irmão | O meu irmão é diabético.
escritório | O escritório fica no Porto.
"""


LEAST_UNREAL = 0.85
LEAST_RIGHT = 0.9
LEAST_TENSES = 0.8
"""Share of each list that must come out as it should; the judge is trained, not told."""


def test_a_fact_about_somebody_is_kept_with_its_subject() -> None:
    lines = OF_OTHERS.strip().splitlines()
    wrong = []
    for line in lines:
        subject, text = line.split(" | ")
        found = [(note.content, note.subject or "-") for note in learned(text)]
        if found != [(text, subject)]:
            wrong.append((line, found))

    assert len(wrong) <= (1 - LEAST_RIGHT) * len(lines), wrong


OF_NOBODY = """
Maybe Ana likes dogs.
If Ana likes dogs, fine.
Ana might like dogs.
Ana would like dogs.
Suppose Ana likes dogs.
Imagine Ana is allergic to nuts.
Let's say Tom lives in Graz.
Does Ana like dogs?
Ana likes dogs?
Is Tom vegan?
Ana likes dogs, right?
Ana is allergic to work, haha.
Tom is allergic to mornings lol.
Tom is married to his laptop, just kidding.
"Ana likes dogs."
He said "Ana likes dogs".
"Tom lives in Graz", she said.
In the novel, Ana is allergic to nuts.
In my story Tom lives in Graz.
Write a story where Ana likes dogs.
Translate: Ana likes dogs.
Translate this sentence: Ana is allergic to peanuts.
Make sure the deploy needs no review.
The test should check that Ana likes dogs.
Add a user called Ana who likes dogs.
How do I say Ana likes dogs?
Ana wants you to fix it.
This works.
That is great.
It needs no review.
The function needs a docstring.
The test fails.
Wenn Ana Hunde mag, gut.
Vielleicht mag Ana Hunde.
Mag Ana Hunde?
Angenommen, Tom wohnt in Graz.
Si Ana aime les chiens, bien.
Peut-être qu'Ana aime les chiens.
Est-ce que Tom habite à Lyon ?
Si Tom vive en Lima, bien.
Quizás Tom vive en Lima.
¿Tom vive en Lima?
Se Tom abita a Torino, bene.
Forse Tom abita a Torino.
Se Tom mora em Braga, bem.
Talvez Tom more em Braga.
What if Priya is pregnant?
If Erik were taller, he would play basketball.
Let's pretend Sofia lives on Mars.
Priya could be vegan.
Jamal is so slow that snails overtake him, haha.
"Lukas never drinks coffee" is a funny sentence.
In this movie, Tom loves Anna.
The essay should say that Tom loves Anna.
The button must be blue.
Rewrite this: Tom loves Anna.
Give me a story in which Tom loves Anna.
The build failed again.
The app has a bug.
The server needs a restart.
Stell dir vor, Lena hasst Spinat.
Imagine que Luc est infirmier.
Supongamos que Pablo vive en Bilbao.
Immagina che Luca abbia due figli.
"""


def test_what_nobody_claims_is_not_kept() -> None:
    texts = OF_NOBODY.strip().splitlines()
    wrong = [text for text in texts if learned(text)]

    assert len(wrong) <= (1 - LEAST_UNREAL) * len(texts), wrong


# What is over, though its verb has two words or an ending, and what is to come.
KINDS = """
event | Ich habe vorgestern meinen Wagen verkauft.
event | Ich habe vor zwei Wochen einen Hund adoptiert.
event | Wir haben vor Ostern geheiratet.
event | Ich bin aus der alten Wohnung ausgezogen.
event | Ich bin ein Jahr lang durch Asien gereist.
event | Ich habe mir den Arm gebrochen.
event | Wir sind nach Graz umgezogen.
event | Ich habe die Prüfung bestanden.
event | Ich habe bei Bosch gekündigt.
event | Ich habe mein Klavier verkauft.
event | Gestern bin ich nach Wien gefahren.
event | Ich habe Lena im Café getroffen.
event | J'ai vendu ma voiture avant-hier.
event | J'ai adopté un chien.
event | Nous avons déménagé à Lyon.
event | Je suis tombé dans l'escalier.
event | J'ai cassé mon bras.
event | J'ai arrêté de fumer.
event | Je suis parti en Grèce avec Zoé.
event | On a acheté une maison à Nantes.
event | J'ai perdu mes clés à la gare.
event | Nous sommes allés au Portugal.
event | Anteayer adopté un perro.
event | Ayer por la mañana compré una bici.
event | He vendido mi coche.
event | Hemos adoptado un gato.
event | Vendí la casa de mis padres.
event | Me rompí el brazo.
event | Nos mudamos a Sevilla.
event | Perdí las llaves en el tren.
event | Me he caído por la escalera.
event | Aprobé el examen de conducir.
event | Ho venduto la macchina.
event | Ho adottato un cane.
event | Siamo andati in Sardegna.
event | Mi sono rotto il braccio.
event | Abbiamo traslocato a Bologna.
event | Ho perso le chiavi in treno.
event | Mi sono trasferita a Milano.
event | Ho smesso di fumare.
event | L'altro ieri ho adottato un cane.
event | Anteontem adotei um cão.
event | Vendi o meu carro.
event | Parti o braço na escola.
event | Mudei-me para Braga.
event | Adotámos um gato.
event | Perdi as chaves no comboio.
event | Passei no exame de condução.
event | Ontem de manhã comprei uma bicicleta.
event | Ich habe meinen Schlüssel verloren.
event | Ich habe den Vertrag unterschrieben.
plan | Ich habe vor, meinen Wagen zu verkaufen.
plan | Ich habe vor, nach Rom zu ziehen.
plan | Ich habe vor umzuziehen.
plan | Wir haben vor zu heiraten.
plan | Ich werde morgen mein Auto verkaufen.
plan | Ich fliege übermorgen nach Rom.
plan | Je vais vendre ma voiture.
plan | Demain je vends ma voiture.
plan | Voy a vender el coche.
plan | Mañana voy a Sevilla.
plan | Mañana me mudo a Sevilla.
plan | Vorrei vendere la macchina.
plan | Domani parto per Napoli.
plan | Vou vender o carro.
plan | Amanhã parto para Faro.
decision | Ich habe beschlossen, den Wagen zu verkaufen.
decision | J'ai décidé de vendre la voiture.
decision | He decidido vender el coche.
decision | Ho deciso di vendere la macchina.
decision | Decidi vender o carro.
identity | Ich bin in Köln geboren.
identity | Ich bin aus Köln.
identity | Sono nato a Torino.
identity | Je suis né à Lyon.
"""


def test_the_tense_of_a_verb_tells_what_happened_from_what_is_planned() -> None:
    lines = KINDS.strip().splitlines()
    wrong = []
    for line in lines:
        category, text = line.split(" | ")
        found = [note.category for note in learned(text)]
        if found != [category]:
            wrong.append((line, found))

    assert len(wrong) <= (1 - LEAST_TENSES) * len(lines), wrong


def test_what_is_told_of_two_is_two_memories() -> None:
    notes = learned("Ana likes dogs. She hates cats. Ben likes tea.")

    assert [(note.content, note.subject) for note in notes] == [
        ("Ana likes dogs. She hates cats.", "Ana"),
        ("Ben likes tea.", "Ben"),
    ]


def test_a_speaker_who_tells_of_another_is_not_its_subject() -> None:
    (note,) = learned("Tom is allergic to peanuts.", speaker="Ana")

    assert (note.subject, note.speaker) == ("Tom", "Ana")


@pytest.mark.parametrize(
    ("before", "text", "context"),
    [
        ("", "I am building a shop. The database is PostgreSQL 16.", "I am building a shop."),
        ("My brother visited us.", "He is allergic to shellfish.", "My brother visited us."),
        ("", "Could you fix main.py? I use Python 3.12 and pytest.", "Could you fix main.py?"),
        ("The weather is fine.", "Ana is allergic to peanuts.", None),
    ],
)
def test_what_a_statement_is_understood_by_is_its_source_context(
    before: str, text: str, context: str | None
) -> None:
    earlier = [message(before, turn="t1")] if before else []

    assert extract([message(text)], earlier, UTC)[-1].source_context == context


CORRECTIONS = [
    ("Ana is allergic to peanuts.", "Ana is not allergic to peanuts any more."),
    ("Ana likes dogs.", "Ana doesn't like dogs any more."),
    ("Every deploy needs a review.", "Every deploy no longer needs a review."),
    ("Ana lives in Lyon.", "Ana no longer lives in Lyon, she lives in Porto."),
    ("Ana mag Hunde.", "Ana mag keine Hunde mehr."),
    ("Tom travaille chez Renault.", "Tom ne travaille plus chez Renault."),
    ("Ana gosta de cães.", "Ana já não gosta de cães."),
]


@pytest.mark.parametrize(("known", "said"), CORRECTIONS)
@pytest.mark.parametrize("learnt", [False, True])
def test_a_memory_is_corrected_in_talk(
    service_of: Callable[..., Service], known: str, said: str, learnt: bool
) -> None:
    service = service_of("ana")
    if learnt:
        talk(service, "first", known)
    else:
        service.memorize(known)

    talk(service, "second", said)

    (before,) = service.list_memories(state="superseded").memories
    (now,) = service.list_memories().memories
    assert (before.content, now.content) == (known, said)


def talk(service: Service, session: str, said: str) -> None:
    service.observe("prompt", session, "t", said)
    service.observe("answer", session, "t", "Noted.")
    service.settle()


@pytest.mark.parametrize(
    ("said", "speaker"),
    [
        ("Katrin hier: ich nehme den Kaffee immer schwarz.", "Katrin"),
        ("Robin here: I take my coffee with milk.", "Robin"),
        ("Hi, Jo Meyer here, I am allergic to nuts.", "Jo Meyer"),
        ("Ici Marie : je suis végétarienne.", "Marie"),
        ("Aquí Lucía: soy celíaca.", "Lucía"),
        ("Admin here. I take my coffee with milk.", "user"),
        ("Bug here: I always get the old page on our staging server.", "user"),
    ],
)
def test_who_introduces_himself_is_who_has_said_it(
    service: Service, said: str, speaker: str
) -> None:
    service.record_turn("s", said, "Noted.")
    service.sleep(["learn"])

    learned = service.list_memories().memories

    assert {memory.speaker for memory in learned} <= {speaker}
    assert speaker == "user" or [memory.subject for memory in learned] == [speaker]


def test_what_one_says_of_himself_ends_nothing_of_the_other(service: Service) -> None:
    for said in ("I take my coffee black.", "Robin here: I take my coffee with milk."):
        service.record_turn("s", said, "Noted.")
        service.sleep(["learn"])

    found = service.list_memories().memories

    assert {(one.content, one.speaker) for one in found} == {
        ("I take my coffee black.", "user"),
        ("I take my coffee with milk.", "Robin"),
    }


@pytest.mark.parametrize("name", ["", "Robin here: "])
def test_who_introduces_himself_says_it_in_a_message_as_others_do(name: str) -> None:
    said = f"{name}I take my coffee with milk. How is the weather?"
    judge = BuiltinJudge()
    judge.warm()
    told = message(said)
    [note] = extract([told], (), UTC, judge)

    assert Source([told]).message_of(note) == said
