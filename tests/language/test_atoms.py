"""Atoms: what must not differ between two texts that are called the same, and what may."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinmem.language.same.similarity import DIFFERS, Kinship, Ladder, atoms, compare, contrast
from tests.tables import each

LADDER = Ladder()


def pairs(table: str) -> list:
    """Lines of `id: one text | the other` as parameters."""
    rows = [re.split(r" *\| *", row.strip(), maxsplit=1) for row in table.strip().splitlines()]
    return [
        pytest.param(
            first.split(": ", 1)[1].replace("\\n", "\n"), second, id=first.split(": ", 1)[0]
        )
        for first, second in rows
    ]


# Each says something else, however close the vectors are.
ONE_ATOM = """
number words: We have two dogs at home. | We have three dogs at home.
number digits: The flat has 3 rooms. | The flat has 4 rooms.
number magnitude: The budget is 1,000 euros. | The budget is 10,000 euros.
number thousands against decimals: The lake is 1.5 km wide. | The lake is 15 km wide.
number sign: The freezer is set to -18 degrees. | The freezer is set to 18 degrees.
percentage: Anna owns 5% of the firm. | Anna owns 50% of the firm.
percent against count: Anna owns 5% of the shares. | Anna owns 5 of the shares.
version: The server runs Python 3.11. | The server runs Python 3.12.
version with a zero: The server runs Python 3.1. | The server runs Python 3.10.
port: The proxy listens on port 8080. | The proxy listens on port 8081.
leading zero: The door code is 0042. | The door code is 42.
time: Standup starts at 9:30. | Standup starts at 10:30.
morning or afternoon: Standup starts at 9:30 am. | Standup starts at 9:30 pm.
ordinal: Ben finished second in the race. | Ben finished third in the race.
phone number: Call me at 555-0134. | Call me at 555-0143.
address: The router is at 192.168.0.1. | The router is at 192.168.0.10.
swapped numbers: The pack holds 2 dogs and 3 cats. | The pack holds 3 dogs and 2 cats.
swapped units: She carried 5 kg for 10 km. | She carried 10 kg for 5 km.
range: The job takes 5-10 days. | The job takes 5-11 days.
fraction: Add 1/2 cup of sugar. | Add 1/4 cup of sugar.
day: Maria was born on 8 May 2023. | Maria was born on 9 May 2023.
month: Maria was born on 8 May 2023. | Maria was born on 8 June 2023.
year: Maria was born in 1985. | Maria was born in 1986.
weekday: The bins are emptied on Monday. | The bins are emptied on Tuesday.
one Monday or all: I work from home on Monday. | I work from home on Mondays.
relative day: The parcel came yesterday. | The parcel came today.
month name: The lease ends in March. | The lease ends in April.
iso dates: Release on 2024-01-02. | Release on 2024-02-01.
name of a person: My sister is called Clara. | My sister is called Carla.
name at the start: Anna lives in Lyon. | Emma lives in Lyon.
name of a town: Anna lives in Lyon. | Anna lives in Rome.
similar countries: The conference is in Austria. | The conference is in Australia.
middle initial: The form was signed by John B. Smith. | The form was signed by John D. Smith.
acronym: The invoice goes to the NHS. | The invoice goes to the NSA.
file: The settings are in config.dev.yaml. | The settings are in config.prod.yaml.
path: The logs are under /var/log/app. | The logs are under /var/log/api.
capitals in a path: The logs are under /data/Logs. | The logs are under /data/logs.
address of a page: See https://example.org/a1. | See https://example.org/a2.
mail address: Write to ana@example.org. | Write to ann@example.org.
hash: The fix is in commit 3f2a9c1. | The fix is in commit 3f2a9d1.
capitals in a password: The wifi password is hunteR2x. | The wifi password is Hunter2x.
flag: Delete the branch with git branch -d. | Delete the branch with git branch -D.
identifier: Call user_id first. | Call user_ip first.
language of code: The service is written in C. | The service is written in C++.
parent folder: To deploy, type cd .. first. | To deploy, type cd first.
hidden file: Put the key into .env today. | Put the key into env today.
unit of length: The trail is 10 km long. | The trail is 10 miles long.
unit of time: The job runs every 5 minutes. | The job runs every 5 hours.
currency: The ticket costs $20. | The ticket costs €20.
temperature: The oven is at 200 °C. | The oven is at 200 °F.
size of memory: The machine has 16 GB of memory. | The machine has 16 TB of memory.
not: I like coriander in my soup. | I do not like coriander in my soup.
contraction: Ben can come to the party. | Ben can't come to the party.
never: Ben eats meat. | Ben never eats meat.
no longer: Anna works at the bakery. | Anna no longer works at the bakery.
without: Anna takes her coffee with sugar. | Anna takes her coffee without sugar.
stopped: Ben smokes. | Ben stopped smoking.
nobody: Everyone here knows the code. | Nobody here knows the code.
un-: The backup step is necessary. | The backup step is unnecessary.
il-: Parking there is legal. | Parking there is illegal.
which of two is denied: I do not like tea and I like milk. | I like tea and I do not like milk.
like and hate: I love big cities. | I hate big cities.
like and dislike: Ben likes jazz. | Ben dislikes jazz.
enabled: Two-factor login is enabled. | Two-factor login is disabled.
on and off: The heating is on. | The heating is off.
open and closed: The shop is open on Sunday. | The shop is closed on Sunday.
always: I always lock the door. | I never lock the door.
before: Take the pill before meals. | Take the pill after meals.
more: Anna wants more meetings. | Anna wants fewer meetings.
increase: They increased the rent. | They decreased the rent.
allow: Pets are allowed in the office. | Pets are forbidden in the office.
accept: She accepted the offer. | She rejected the offer.
side: The switch is on the left. | The switch is on the right.
sell: I bought the car. | I sold the car.
marital status: Ben is married. | Ben is divorced.
diet: Anna is vegetarian. | Anna is vegan.
upload: The job uploads the photos every night. | The job downloads the photos every night.
role swap: Anna manages Bob. | Bob manages Anna.
role swap in small letters: the doctor helps the patient | the patient helps the doctor
role swap by a passive: Anna manages Bob. | Anna is managed by Bob.
role swap and a word more: Anna manages Bob's team at work. | Bob manages Anna's team at work today.
way there and back: They moved from Paris to Rome. | They moved from Rome to Paris.
prepositions exchanged: They moved from Paris to Rome. | They moved to Paris from Rome.
whose colour: A red car and a blue bike are outside. | A blue car and a red bike are outside.
who does which: Anna sings and Ben dances. | Anna dances and Ben sings.
order in time: I ate before I swam. | I swam before I ate.
two homes: Works in Lyon and lives in Paris. | Lives in Lyon and works in Paris.
whose place: The dog sleeps on the mat and the cat on the sofa. | \
The cat sleeps on the mat and the dog on the sofa.
bare list of places: dog on the mat, cat on the sofa | cat on the mat, dog on the sofa
while: I swim in Rome when she runs in Nice. | I swim in Nice when she runs in Rome.
before a name: I eat in Rome before Anna swims in Nice. | I eat in Nice before Anna swims in Rome.
who does both: Anna sings and dances. Ben cooks. | Anna sings. Ben cooks and dances.
whom: I met Anna. I like her. I met Eva. | I met Eva. I like her. I met Anna.
cause: Ben left because Anna came. | Anna came because Ben left.
sister or brother: My sister lives in Lyon. | My brother lives in Lyon.
one sister or more: My sister lives in Lyon. | My sisters live in Lyon.
pronoun: I moved to Lisbon. | She moved to Lisbon.
possessive: His laptop is broken. | Her laptop is broken.
friend: My boss plays chess. | My neighbour plays chess.
employer: Ben is an employer. | Ben is an employee.
possession: Anna's dog is ill. | Anna is ill.
question: Anna lives in Lyon. | Does Anna live in Lyon?
question mark: Anna lives in Lyon. | Anna lives in Lyon?
might: Anna moved to Lyon. | Anna might move to Lyon.
wants to: Ben learns Spanish. | Ben wants to learn Spanish.
would like: I have a dog. | I would like a dog.
if: We cancel the trip and it rains. | We cancel the trip if it rains.
or: Tea and coffee are fine. | Tea or coffee are fine.
almost: I missed the train. | I almost missed the train.
hearsay: Ben is leaving the company. | I heard Ben is leaving the company.
used to: Anna lives in Lyon. | Anna used to live in Lyon.
past: Anna works at the bakery. | Anna worked at the bakery.
irregular past: I take the bus. | I took the bus.
was going to: I sold the house. | I was going to sell the house.
past of be: The door is locked. | The door was locked.
already: I have read the report. | I have not read the report yet.
all and some: All tests pass on main. | Some tests pass on main.
most: All students passed. | Most students passed.
only: I eat meat on Sundays. | I only eat meat on Sundays.
only where: Only Anna eats fish. | Anna eats only fish.
often: I often travel by train. | I rarely travel by train.
twice: The clock rings once. | The clock rings twice.
behind: The bike stands in front of the house. | The bike stands behind the house.
onto: They are jumping on the wall. | They are jumping off the wall.
near: Anna lives in Lyon. | Anna lives near Lyon.
to or at: I walk to the station. | I walk past the station.
colour: My bike is red. | My bike is green.
colour in a long text: The keys to the old garden shed hang on the blue hook by the back door. | \
The keys to the old garden shed hang on the red hook by the back door.
size: I want a small fridge. | I want a big fridge.
season: We fly to Crete in spring. | We fly to Crete in autumn.
meal: I skip breakfast. | I skip dinner.
part of day: The nurse comes in the morning. | The nurse comes in the evening.
rhythm: The report is weekly. | The report is monthly.
kind: I had hepatitis a. | I had hepatitis b.
name or I: Anna plays chess. | I play chess.
short text: I am allergic to nuts. | I am allergic to cats.
short favourite: My favourite food is pizza. | My favourite food is pasta.
similar words: We had dinner there. | We had a diner there.
affect: It affects sleep. | It effects sleep.
imperative: Use tabs. | Use spaces.
smile: The exam is over :) | The exam is over :(
emoji: The new office 👍 | The new office 👎
operator: The flag is a+b. | The flag is a-b.
comparison: Alert when load > 5. | Alert when load < 5.
negated flag: Run it if !ready. | Run it if ready.
de number: Wir haben zwei Kinder. | Wir haben drei Kinder.
de not: Ich mag Koriander. | Ich mag Koriander nicht.
de no: Ich habe ein Auto. | Ich habe kein Auto.
de date: Die Sitzung ist am 8. Mai 2023. | Die Sitzung ist am 9. Mai 2023.
de name: Anna wohnt in Köln. | Anna wohnt in Bonn.
de tense: Anna wohnt in Köln. | Anna wohnte in Köln.
de gender: Mein Freund kommt aus Wien. | Meine Freundin kommt aus Wien.
de before: Die Tablette vor dem Essen nehmen. | Die Tablette nach dem Essen nehmen.
de thousands: Das Auto kostet 10.000 Euro. | Das Auto kostet 1.000 Euro.
fr negation: Je mange de la viande. | Je ne mange pas de viande.
fr jamais: Je mange toujours ici. | Je ne mange jamais ici.
fr number: Nous avons deux chats. | Nous avons trois chats.
fr tense: Elle habite à Lille. | Elle habitait à Lille.
fr object: Je la connais. | Je le connais.
es object: Lo veo mucho. | La veo mucho.
fr kinship: Mon frère habite à Lille. | Ma sœur habite à Lille.
es negation: Me gusta el café. | No me gusta el café.
es nunca: Ana siempre llega tarde. | Ana nunca llega tarde.
es date: La cita es el 8 de mayo. | La cita es el 9 de mayo.
es person: Mi hermano vive en Lima. | Mi hermana vive en Lima.
es tense: Ana vive en Lima. | Ana vivía en Lima.
it negation: Mangio carne. | Non mangio carne.
it mai: Bevo sempre vino. | Non bevo mai vino.
it number: Ho due gatti. | Ho tre gatti.
it opposite: Il negozio è aperto. | Il negozio è chiuso.
pt negation: Eu como carne. | Eu não como carne.
pt without: Bebo café com açúcar. | Bebo café sem açúcar.
pt number: Tenho dois filhos. | Tenho três filhos.
pt before: Corro antes do trabalho. | Corro depois do trabalho.
zh negation: 我喜欢猫。 | 我不喜欢猫。
zh animal: 我喜欢猫。 | 我喜欢狗。
zh number: 我有两只狗。 | 我有三只狗。
zh order: 安娜管理鲍勃。 | 鲍勃管理安娜。
zh done: 我吃饭。 | 我吃了饭。
ja particle: 犬が猫を追う。 | 犬を猫が追う。
ru negation: Я люблю чай. | Я не люблю чай.
hi vowel sign: मुझे कल मिलो | मुझे काल मिलो
"""

# The same statement in another dress.
HARMLESS = """
identical: Anna lives in Lyon. | Anna lives in Lyon.
capitals: ANNA LIVES IN LYON | Anna lives in Lyon
small letters: anna lives in lyon | Anna lives in Lyon
full stop: Anna lives in Lyon | Anna lives in Lyon.
exclamation: Anna lives in Lyon | Anna lives in Lyon!!
quotes: "Anna lives in Lyon" | Anna lives in Lyon
inner quotes: The dog is called "Rex". | The dog is called Rex.
curly quotes: The dog is called “Rex”. | The dog is called "Rex".
spaces: Anna  lives   in Lyon | Anna lives in Lyon
bullet: - Anna lives in Lyon | Anna lives in Lyon
full width: Ａｎｎａ lives in Lyon | Anna lives in Lyon
bold: The **deadline** is Friday. | The deadline is Friday.
comma: On Mondays, I swim. | On Mondays I swim.
serial comma: I own cats, dogs, and birds. | I own cats, dogs and birds.
hyphen: The well-known author lives here. | The well known author lives here.
parentheses: The server (blue) is down. | The server, blue, is down.
and: I own cats & dogs. | I own cats and dogs.
contraction: I don't eat meat. | I do not eat meat.
curly contraction: I don’t eat meat. | I do not eat meat.
forgotten apostrophe: I dont eat meat. | I don't eat meat.
cannot: Ben can't swim. | Ben cannot swim.
won't: Ben won't come. | Ben will not come.
I'm: I'm a nurse. | I am a nurse.
it's: It's cold here. | It is cold here.
I've: I've read the book. | I have read the book.
they'll: They'll move to Rome. | They will move to Rome.
I'd: I'd like a dog. | I would like a dog.
gonna: I'm gonna sell the car. | I am going to sell the car.
definite article: The meeting room is on the top floor. | A meeting room is on the top floor.
missing article: The dog chased the cat. | Dog chased cat.
an: She is an engineer. | She is engineer.
filler: I really like jazz. | I like jazz.
very: The flat is very small. | The flat is small.
please: Please use metric units. | Use metric units.
thousands: The car costs 1,000 euros. | The car costs 1000 euros.
no fraction: The car costs 1000.0 euros. | The car costs 1000 euros.
narrow space: The car costs 1\u202f000 euros. | The car costs 1000 euros.
apostrophe in a number: The car costs 1'000 francs. | The car costs 1000 francs.
decimal comma: The film got 4,5 stars. | The film got 4.5 stars.
number word: We have two dogs. | We have 2 dogs.
twelve: We ordered twelve eggs. | We ordered 12 eggs.
percent: Anna owns 5% of it. | Anna owns 5 percent of it.
spaced percent: Anna owns 5 % of it. | Anna owns 5% of it.
unit without space: The trail is 5km long. | The trail is 5 km long.
unit in words: The trail is 5 kilometers long. | The trail is 5 km long.
british unit: The trail is 5 kilometres long. | The trail is 5 kilometers long.
hours: The job takes 3 hrs. | The job takes 3 hours.
dollar sign: Lunch was $5. | Lunch was 5 dollars.
usd: The budget is 200 USD. | The budget is $200.
euro sign: Lunch costs 5 €. | Lunch costs €5.
no cents: Lunch costs $5.00. | Lunch costs $5.
date with month first: Maria was born on May 8, 2023. | Maria was born on 8 May 2023.
iso date: Maria was born on 2023-05-08. | Maria was born on 8 May 2023.
date with ordinal: Maria was born on May 8th, 2023. | Maria was born on 8 May 2023.
date in brackets: Born (8 May 2023). | Born, May 8 2023.
short month: Maria was born on 8 Dec 2023. | Maria was born on 8 December 2023.
dotted date: Maria was born on 08.05.2023. | Maria was born on 8.5.2023.
slashes after iso: Release on 2024/01/02. | Release on 2024-01-02.
slashes in one order only: Release on 12/25/2024. | Release on 25/12/2024.
month and year: The lease ends in May 2025. | The lease ends in 2025-05.
day and month: The lease ends on May 8. | The lease ends on 8 May.
of: The lease ends on the 8th of May. | The lease ends on 8 May.
time of day: Standup is at 2:30 pm. | Standup is at 14:30.
time with dots: Standup is at 2:30 p.m. | Standup is at 2:30pm.
hour: Standup is at 9 am. | Standup is at 9:00.
leading zero of an hour: Standup is at 09:00. | Standup is at 9:00.
ordinal: Ben came in 3rd. | Ben came in third.
abbreviation: She lives in the U.S. now. | She lives in the US now.
trailing slash: See https://example.org/a/ for it. | See https://example.org/a for it.
mail in capitals: Write to Ana@Example.org. | Write to ana@example.org.
code in backticks: Call `run_all` first. | Call run_all first.
british spelling: My favourite colour is blue. | My favorite color is blue.
ise: We organise the party. | We organize the party.
grey: The cat is grey. | The cat is gray.
mum: My mum is a nurse. | My mother is a nurse.
kids: The kids are at school. | The children are at school.
someone: Somebody broke the lamp. | Someone broke the lamp.
phrases turned: On Mondays I swim. | I swim on Mondays.
clauses turned: Before I swim I eat. | I eat before I swim.
lines: First line\\nSecond line | First line. Second line
de sharp s: Die Straße ist laut. | Die Strasse ist laut.
de date: Die Sitzung ist am 8. Mai 2023. | Die Sitzung ist am 08.05.2023.
de number: Wir haben zwei Kinder. | Wir haben 2 Kinder.
fr elision: L’ami de Paul est là. | L'ami de Paul est là.
fr date: Le rendez-vous est le 8 mai 2023. | Le rendez-vous est le 2023-05-08.
fr ne dropped: Je ne mange pas de viande. | Je mange pas de viande.
es date: La cita es el 8 de mayo de 2023. | La cita es el 2023-05-08.
es question marks: ¿Dónde vive Ana? | Dónde vive Ana?
it number: Ho tre gatti. | Ho 3 gatti.
it date: Sono nato il 3 giugno 1980. | Sono nato il 1980-06-03.
pt date: Nasci em 3 de junho de 1980. | Nasci em 1980-06-03.
zh full stop: 我喜欢猫。 | 我喜欢猫
zh spaces: 我 喜欢 猫 | 我喜欢猫
zh date: 会议在2023年5月8日 | 会议在2023-05-08
"""


@each(("one", "other"), pairs(HARMLESS))
def test_harmless_variants_do_not_differ(one, other):
    assert not contrast(one, other).differs()
    assert compare(one, other, 0.96, LADDER) in (Kinship.SAME_TEXT, Kinship.DUPLICATE)


@each(("one", "other"), pairs(ONE_ATOM))
@each("cosine", [0.99, 1.0])
def test_one_atom_apart_is_never_the_same(one, other, cosine):
    assert compare(one, other, cosine, LADDER) in (Kinship.CONTRADICTS, Kinship.DIFFERENT)


@each(
    ("text", "field", "expected"),
    [
        ("1,000 and 2000.0 and 1.5 and 1,5", "numbers", {"1000", "2000", "1.5"}),
        ("5% of 10 kg", "numbers", {"5%", "10"}),
        ("5% of 10 kg", "units", {"%", "kg"}),
        ("Python 3.11 on port 8080", "numbers", {"3.11", "8080"}),
        ("two dogs, drei Hunde, quatre chiens", "numbers", {"2", "3", "4"}),
        ("the 3rd and the third", "numbers", {"3rd"}),
        ("at 2:30 pm, 14:30, 2.30 p.m.", "numbers", {"14:30"}),
        ("12 am and 12 pm", "numbers", {"00:00", "12:00"}),
        ("-5 degrees", "numbers", {"-5"}),
        ("8 May 2023, May 8th 2023, 2023-05-08, 8.5.2023", "dates", {"2023-05-08"}),
        ("le 1er mai 2024 et le 2 juin", "dates", {"2024-05-01", "--06-02"}),
        ("in May 2024, in 1999", "dates", {"2024-05", "1999"}),
        ("05/08/2023", "dates", {"5/8/2023"}),
        ("on Monday, am Montag, gestern", "dates", {"-W-1", "yesterday"}),
        ("99/99/2023 and 2023-13-45", "dates", set()),
        ("we met Anna and Ben in Lyon", "names", {"anna", "ben", "lyon"}),
        ("Anna met us. Ben did not.", "names", {"anna", "ben"}),
        ("The dog sleeps. Yesterday it ran.", "names", set()),
        ("see /var/log/App_1 and a@b.org", "names", {"/var/log/App_1", "a@b.org"}),
        ("NASA uses x86 and node2", "names", {"nasa", "x86", "node2"}),
        ("it costs $20 or 15 €", "units", {"$", "€"}),
        ("she ran 5 kilometres in 30 mins", "units", {"km", "min"}),
    ],
)
def test_each_atom_has_one_spelling(text, field, expected):
    assert getattr(atoms(text), field) == expected


@each(
    ("text", "count"),
    [
        ("I eat meat", 0),
        ("I don't eat meat", 1),
        ("I do not eat and do not drink", 2),
        ("Je ne mange pas", 1),
        ("Non mangio mai", 1),
        ("Nunca como carne", 1),
        ("Ich habe kein Auto", 1),
        ("我不喜欢猫", 1),
    ],
)
def test_double_negation_of_one_language_is_one_negation(text, count):
    assert atoms(text).negations == count


@each(
    ("one", "other", "kind"),
    [
        ("We have two dogs", "We have three dogs", "number"),
        ("The bins go out on Monday", "The bins go out on Tuesday", "date"),
        ("Anna lives in Lyon", "Anna lives in Rome", "name"),
        ("It is 5 km away", "It is 5 miles away", "unit"),
        ("I like tea", "I do not like tea", "negation"),
        ("The shop is open", "The shop is closed", "opposite"),
        ("You live here", "Do you live here?", "question"),
        ("My sister cooks", "My brother cooks", "person"),
        ("Anna moved", "Anna might have moved", "modality"),
        ("The door is red", "The door was red", "tense"),
        ("All tests pass", "Some tests pass", "quantity"),
        ("The key is in the box", "The key is under the box", "place"),
        ("My bike is red", "My bike is green", "attribute"),
        ("Anna wohnt hier", "Anna wohnte hier", "form"),
        ("Anna manages Bob", "Bob manages Anna", "order"),
        ("I like tea", "I like jam", "word"),
    ],
)
def test_a_difference_is_named_by_its_kind(one, other, kind):
    assert contrast(one, other).differs([kind])


def test_every_kind_is_named_by_the_table_above():
    assert len(DIFFERS) == 16


@given(st.text(), st.text())
def test_differences_are_symmetric(one, other):
    there, back = contrast(one, other), contrast(other, one)

    assert [there.differs([kind]) for kind in DIFFERS] == [back.differs([kind]) for kind in DIFFERS]
    assert not contrast(one, one).differs()
