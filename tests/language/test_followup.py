"""Which questions only the conversation before them explains, and what it adds to them."""

import pytest

from kinmem.language.sought import FollowUp
from tests.tables import each

FOLLOW_UPS = """
And when does he start?
What about Tom?
why?
Yes, exactly.
Does it still leak?
How much did that cost?
Where do they live now?
And in winter?
the same for Bern
Und wann fängt er an?
Was kostet es im Sommer?
Aber warum?
Wohnt sie noch dort?
Et quand commence-t-il ?
Pourquoi ?
Et pour elle ?
¿Y cuándo empieza?
¿Por qué?
¿Dónde vive ella ahora?
E quando comincia?
Dove abita lei adesso?
E quando começa?
Onde ela mora agora?
And Ben?
And the other one?
Tell me more
Who else?
Where exactly?
Since when?
Which colour?
Or on Monday?
Until when?
Its price?
Did that work?
What did she say about it?
Where did he study?
What's her phone number?
I meant the older brother
Does he like it there?
What then?
Und Ben?
Seit wann?
Welche Farbe?
Oder am Montag?
Wo wohnt er?
Was hat sie gesagt?
Kennst du ihn?
Und danach?
Wann war das?
Et Ben ?
Depuis quand ?
C'était quand ?
Quel âge a-t-il ?
Et après ?
Où habite-t-elle ?
Ça coûte combien ?
¿Y Ben?
¿Y Luis?
¿Y después?
¿Desde cuándo?
¿Cómo se llama ella?
¿Cuánto cuesta eso?
¿De qué color es?
¿Dónde vive?
E Ben?
Da quando?
Come si chiama lei?
Quanto costa questo?
Quanti anni ha?
Desde quando?
Quantos anos ele tem?
E depois?
Onde fica isso?
他住在哪里?
那他呢?
А где он живёт?
А Борис?
Сколько ему лет?
С каких пор?
And Clara?
Why not?
Where else?
What kind?
By when?
Or tomorrow?
With whom?
How so?
What colour was it?
When did she move there?
Has he called back?
Is that still true?
Were they happy with it?
Which of them?
How old is she now?
and his wife?
Such as?
Und Clara?
Bis wann?
Welche Größe?
Oder morgen?
Wo arbeitet sie?
Wie hat er das gemacht?
Mit wem?
Warum nicht?
Et Clara ?
Jusqu'à quand ?
Quelle couleur ?
Ou demain ?
Où travaille-t-il ?
C'est cher ?
C'était où ?
Avec qui ?
¿Y Clara?
¿Y mañana?
¿Hasta cuándo?
¿Qué color?
¿O el lunes?
¿Con quién?
¿Dónde trabaja ella?
¿Por qué no?
E Clara?
Fino a quando?
Che colore?
O domani?
Dove lavora lui?
E poi?
E a Clara?
Até quando?
Que cor?
Ou amanhã?
Onde ela trabalha?
她多大了?
那明天呢?
А Клара?
Где она работает?
До каких пор?
""".strip().splitlines()

STAND_ALONE = """
When is Tom's birthday?
Where does Ana live?
allergies
What is the wifi password?
Is it raining?
Is there a dentist appointment?
When does Tom start and what does he earn?
Do you think that Ana likes tea?
Wann hat Anna Geburtstag?
Gibt es einen Termin beim Zahnarzt?
Quel est le code de la porte ?
Où habite Claire ?
¿Cuál es la contraseña del wifi?
¿Dónde vive Marta?
Qual è il codice della porta?
Dove abita Giulia?
Qual é a senha do wifi?
Onde mora a Joana?
Where is the spare key?
Does my sister like her job?
What did my mother say about her knee?
Did the neighbours sell their car?
Did my parents renovate their house?
Right knee surgery date?
No smoking rule in the flat?
What is my dog's name and its breed?
When is it Ana's birthday?
Who was it that painted the fence?
Thanks to whom did I get the job?
So-called "Friday rule": what was it?
Yes/no: do I own a bike?
Same-sex marriage date of Ines?
Sure Start nursery address?
Who is the one that fixes bikes?
What does this house cost in heating?
Also known as?
Does Lea still have her cat?
Who did Maria say she would marry?
Wie spät ist es in Tokio?
Wer hat dieses Jahr Geburtstag?
Wann hat meine Schwester ihren Termin?
Genau wann ist der Termin?
Hat Peter sein Auto verkauft?
Was hat meine Mutter über ihr Knie gesagt?
Hat der Hund seine Impfung bekommen?
Wo steht das Auto?
Y a-t-il un parking ?
Quand faut-il payer le loyer ?
Elle Fanning, quel âge ?
Il pleut à Paris ?
Qu'est-ce que ma mère a dit de son genou ?
Quand est-ce que ma soeur part ?
Est-ce que Paul a vendu sa voiture ?
Combien coûte le loyer ?
¿Cuándo es esa boda de Lucía?
¿Esta semana hay clase de yoga?
¿Qué dijo mi madre de su rodilla?
¿Quién es el jefe de Luis?
¿Dónde está la llave?
Dove sono le chiavi di casa?
Quanto costa l'affitto?
Come si chiama il cane di Giulia?
Onde estão as chaves da casa?
Quanto custa o aluguel?
Como se chama o cão da Joana?
冰箱里有什么?
我妈妈住在哪里?
Где ключи?
Сколько стоит квартира?
Когда день рождения у Анны?
Where is the car parked?
Did my brother find his wallet?
Has the plumber sent his bill?
What does my daughter want for her birthday?
Have the twins got their vaccinations?
Did my boss mention her holiday?
Left shoe size of my son?
No parking zone near the school?
Then-girlfriend of Paul, what was her name?
Same day delivery fee?
Perfect pitch: does Nora have it?
Is it cold in Oslo in May?
Whose turn is it to cook?
Which of my friends plays the harp?
Who among my colleagues is left-handed?
What is the name of my cat and its age?
Where does the dentist keep his spare key?
Okay Cafe opening hours?
Is that old bicycle of mine sold?
What do these pills do, the blue ones from Dr Weiss?
Wie warm ist es in Lissabon?
Wann ist es in Japan Mittag?
Hat mein Bruder seinen Koffer gefunden?
Was wünscht sich meine Tochter zu ihrem Geburtstag?
Wer kocht diese Woche?
Ja-Nein-Fragen im Vertrag?
Hat die Nachbarin ihre Katze wieder?
Dann und wann Fieber bei Max?
Y a-t-il des chats chez Léa ?
Faut-il un visa pour le Japon ?
Combien faut-il d'oeufs pour la pâte ?
Mon frère a-t-il retrouvé ses clés ?
Est-ce que ma fille aime son école ?
Il fait froid à Oslo ?
Quand est-il possible de visiter le musée ?
Quelle est la couleur du vélo ?
¿Qué quiere mi hija para su cumpleaños?
¿Encontró mi hermano su cartera?
¿Este verano abre la piscina?
¿Es Y griega o i latina?
¿De qué color es el coche?
Che colore ha la macchina?
Mio fratello ha trovato il suo portafoglio?
Quanti anni ha Giulia?
Questa settimana c'è yoga?
De que cor é o carro?
Meu irmão achou a carteira dele?
Quantos anos tem a Joana?
Esta semana há ioga?
我的车是什么颜色?
安娜住在哪里?
Какого цвета моя машина?
Где работает Анна?
Сколько лет моей сестре?
Во сколько ужин в пятницу?
""".strip().splitlines()


@each("text", FOLLOW_UPS)
def test_a_follow_up_is_known(text: str) -> None:
    assert FollowUp(text).is_likely(80)


@each("text", STAND_ALONE)
def test_a_question_that_stands_alone_is_left_alone(text: str) -> None:
    assert not FollowUp(text).is_likely(80)


def test_a_long_question_explains_itself() -> None:
    assert not FollowUp("And when does he start? " + "It is about the bakery. " * 4).is_likely(80)
    assert not FollowUp("why?").is_likely(0)


@pytest.mark.parametrize(
    ("text", "before", "carried"),
    [
        ("And when does he start?", ["Tom got a job at the bakery."], ["Tom"]),
        ("Where does she live?", ["Ana met Tom's sister Ida.", "How nice!"], ["Ida"]),
        ("Und wann fängt er an?", ["Gestern hat Jonas zugesagt."], ["Jonas"]),
        ("Does it still leak?", ["We repaired the dishwasher."], ["dishwasher", "repaired"]),
        ("What about Tom?", ["When does Ana start at the bakery?"], ["bakery", "start"]),
        ("why?", [], []),
    ],
)
def test_what_was_said_last_is_carried_over(
    text: str, before: list[str], carried: list[str]
) -> None:
    assert FollowUp(text).words_left_out(before, {"tom", "ana", "ida", "jonas"}) == carried


@pytest.mark.parametrize(
    "text",
    [
        "SIM card PIN?",
        "E-mail address of Anna Berg?",
        "No-code tools that our team uses",
        "Ma Jones's phone number?",
        "What time is dinner this evening?",
        "Who is the one in charge of payroll?",
    ],
)
def test_words_that_only_look_like_a_follow_up(text: str) -> None:
    assert not FollowUp(text).is_likely(80)
