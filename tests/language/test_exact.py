"""What is exact in two statements: equal by value in whatever words, and never given up."""

import pytest

from kinmem.language.same.amounts import spelled_in_digits
from kinmem.language.same.exact import holds_all
from tests.growth import assert_linear
from tests.language.test_similarity import pairs
from tests.tables import each

EQUAL = """
a word: I have two dogs | Two dogs are mine, 2 in all
several words: Twenty-three people sing | 23 singers
german: dreiundzwanzig Leute | 23 Leute
french: quatre-vingt-dix-sept pages | 97 pages
spanish: treinta y cinco libros | 35 libros
chinese: 我欠老吴三千块钱 | 老吴借给我3000块
part of an hour: no longer than 45 minutes | at most three quarters of an hour
half an hour: 30 minutes by bus | by bus it takes half an hour
other units: every 14 days | it comes round after 2 weeks
currency: Forty quid at most | no more than £40
half a price: power is half price at night | at night it costs 50 % less
ordinal: in the 2nd year | the second year it was
how often: 2x a week at the pool | twice weekly we swim
clock: at half past five | 17:30 is the time
spoken hour: los jueves a las siete de la tarde | los jueves a las 19:00
chinese clock: 每周三晚上七点半上课 | 星期三19:30上课
from and to: 17:00-23:00 in the kitchen | from five until eleven I cook there
date in digits: on 6 May it begins | começa em 06/05
german date: am 11. Oktober | am 11.10. laufen wir
more is known: on 8 May 2023 at noon | it was on May 8
weekday: on Mondays | every Monday it is
plural weekday: los domingos jugamos | cada domingo
path: it lives in apps/web, built with Vite | apps/web is where it lives
number sign: the boat lies at berth 14 | at berth no. 14 lies the boat
nouns with a capital: Unser Server kostet 39 Euro | Für den Server gehen 39 Euro weg
"""

MISSING = """
number: we have two cats at home | three cats are what we have
one of several: server 2 is in the hall | server 1 is in the hall
one word: we have two cats | we have one cat
percent: it rose by 5 € | up 5 % it went
unit: it times out after 30 seconds | after 30 minutes there is a timeout
half of the day: we open at 7 am | 7 pm is when we open
date: the lease ends on 8 May | it is over on 9 May, the lease
year: on May 8 we moved | 8 May 2023 was the day we moved
chinese weekday: 我女儿每周二上课 | 我女儿的课在周五
name: Anna walks the dog of the neighbours | it is walked by Anne, the neighbours' dog
version: runs on 3.2.1 since then | since then 3.2.2 is what runs
identifier: the flag new_cart is on | on is the flag new_checkout
address: staging is at https://a.example/x | you find staging at https://a.example/y
denial: I eat meat at home | I don't eat meat at home
opposite: the pool opens in May | the pool closes in May
question: the shop is open | is the shop open?
first person: I manage Ben in the team | Ben manages me in the team
exchanged: we have 2 designers and 5 developers | the team is 5 designers and 2 developers
exchanged prices: Lunch is 12 € and dinner 18 € | Dinner costs 12 € and lunch 18 €
per what: Ana earns 5000 € per month | Ana's salary is 5000 € per year
pounds: The bag weighs 80 kg | The bag's weight is 80 pounds
a name like a day: Sam leads the design team | The design team is led by Don
trailing zero: Version 1.10 runs | The one we run is 1.1
more: My sister Olu lives in Accra | My sister Olu lives in Accra and has a spare room
"""


@each(("known", "new"), pairs(EQUAL))
def test_what_is_exact_may_be_said_in_any_way(known, new):
    assert holds_all(known, new)


@each(("known", "new"), pairs(MISSING))
def test_what_the_known_one_has_not_keeps_both(known, new):
    assert not holds_all(known, new)


def test_what_only_the_known_one_has_is_not_lost():
    longer = "The nightly backup begins at 02:15 UTC and writes to acme-cold"

    assert holds_all(longer, "Backups are made nightly at 02:15")
    assert not holds_all("Backups are made nightly at 02:15", longer.replace("UTC", "5 times"))


@pytest.mark.parametrize(
    ("one", "other"), [("Anna", "Anne"), ("Paul", "Paula"), ("Martin", "Martina")]
)
def test_two_names_that_differ_are_two_persons(one, other):
    told = f"On Tuesdays the dog of the neighbours is taken to the river by {one}"
    again = f"Every Tuesday, when the neighbours are away, it is {other} who walks their dog"

    assert not holds_all(told, again)
    assert holds_all(told, again.replace(other, one))


def test_whoever_knows_names_says_what_is_one():
    known, new = "Marta hält meine Hand", "Meine Hand hält Marta im Flugzeug"

    assert not holds_all(known, new)
    assert holds_all(known, new, names=lambda text: ["Marta"])
    assert not holds_all(known, "Maria hält sie", names=lambda text: ["Maria"])


@each("unit", ["a", "1", "1 ", "one ", "zwei", "und", "三", "1-", "8/"])
def test_time_grows_with_the_length_only(unit):
    def compared(count: int) -> None:
        text = unit * count
        holds_all(text, text[1:] + "b")

    assert_linear(compared, 16_384 // len(unit))


@each(
    ("said", "digits"),
    [
        ("三点建议", "3点建议"),
        ("他有三点意见", "他有3点意见"),
        ("他有三点", "他有3点"),
        ("得了85点", "得了85点"),
        ("晚上12点关门", "00:00 关门"),
        ("晚上八点关门", "20:00 关门"),
        ("晚上两点", "02:00"),
        ("中午12点", "12:00"),
        ("凌晨十二点半", "00:30"),
        ("下午三点开会", "15:00 开会"),
        ("周三7点开会", "wednesday 07:00 开会"),
        ("三点钟开会", "03:00 开会"),
        ("三点三十分开会", "03:30 开会"),
        ("会议三点，别迟到", "会议 03:00 ，别迟到"),
        ("两三个人", "两三个人"),
        ("十二三岁", "十二三岁"),
        ("二〇二三年", "2023年"),
        ("一百五", "150"),
        ("一百零五", "105"),
        ("三千五块", "3500块"),
        ("两万三", "23000"),
    ],
)
def test_chinese_numbers_and_hours_are_read(said, digits):
    assert spelled_in_digits(said).split() == digits.split()
