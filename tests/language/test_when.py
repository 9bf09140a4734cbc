"""Intervals named in questions, ISO 8601, durations and ages. A stretch reads `first/after`."""

from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kinmem.clock import age_in_words, parse_duration, parse_expiry, parse_time, spoken_date
from kinmem.language.time.calendar import MEANINGS
from kinmem.language.time.phrases import LANGUAGES, grammar
from kinmem.language.time.when import Dates, Interval
from tests.tables import each

BERLIN = ZoneInfo("Europe/Berlin")
WEDNESDAY = datetime(2023, 6, 14, 15, 0, tzinfo=BERLIN)


def written(edge: datetime | None) -> str:
    """A date, with the time where it is not midnight; nothing for an open end."""
    if edge is None:
        return ""
    return edge.strftime("%Y-%m-%d" if edge.hour == 0 else "%Y-%m-%dT%H")


def stretch(question: str, now: datetime = WEDNESDAY) -> str | None:
    named = Dates(question, now).asked
    return named and f"{written(named[0].start)}/{written(named[0].end)}"


ENGLISH = [
    ("What did I say today?", "2023-06-14/2023-06-15"),
    ("What did I say yesterday about the boat?", "2023-06-13/2023-06-14"),
    ("What did we discuss the day before yesterday?", "2023-06-12/2023-06-13"),
    ("What did I eat yesterday morning?", "2023-06-13T04/2023-06-13T12"),
    ("What was said this morning?", "2023-06-14T04/2023-06-14T12"),
    ("Where was I last night?", "2023-06-13T18/2023-06-14T06"),
    ("What did I do this week?", "2023-06-12/2023-06-19"),
    ("What did I say last week?", "2023-06-05/2023-06-12"),
    ("Where did we go last month?", "2023-05-01/2023-06-01"),
    ("What happened last year?", "2022-01-01/2023-01-01"),
    ("Which books did I read this year?", "2023-01-01/2024-01-01"),
    ("What did I do last weekend?", "2023-06-10/2023-06-12"),
    ("What did I do on the weekend?", "2023-06-10/2023-06-12"),
    ("What have I read in the last three months?", "2023-03-14/2023-06-15"),
    ("What did I note over the past 10 days?", "2023-06-04/2023-06-15"),
    ("What did I note in the past week?", "2023-06-07/2023-06-15"),
    ("Who has visited me in the last year?", "2022-06-14/2023-06-15"),
    ("What did I tell you 5 days ago?", "2023-06-09/2023-06-10"),
    ("What did I say two weeks ago?", "2023-05-29/2023-06-05"),
    ("What did I say three months ago?", "2023-03-01/2023-04-01"),
    ("What did I say a year ago?", "2022-01-01/2023-01-01"),
    ("What did I say on Monday?", "2023-06-12/2023-06-13"),
    ("What did I say on Wednesday?", "2023-06-07/2023-06-08"),
    ("What did I say last Friday?", "2023-06-09/2023-06-10"),
    ("What have I done since March?", "2023-03-01/"),
    ("What has changed since Monday?", "2023-06-12/"),
    ("What have I done since last summer?", "2022-06-01/"),
    ("Where did I live before 2020?", "/2020-01-01"),
    ("What did I say after May 2022?", "2022-06-01/"),
    ("What did I say until 8 May 2023?", "/2023-05-09"),
    ("What had I finished by 8 May 2023?", "/2023-05-09"),
    ("What happened between March and May?", "2023-03-01/2023-06-01"),
    ("What happened between November and February 2023?", "2022-11-01/2023-03-01"),
    ("What was said from August 11 to August 15, 2022?", "2022-08-11/2022-08-16"),
    ("What did I do between 2019 and 2021?", "2019-01-01/2022-01-01"),
    ("What did I do between Monday and yesterday?", "2023-06-12/2023-06-14"),
    ("Where did we go in May?", "2023-05-01/2023-06-01"),
    ("Where did we go in June?", "2023-06-01/2023-07-01"),
    ("Where did we go in July?", "2022-07-01/2022-08-01"),
    ("Where did we go last June?", "2022-06-01/2022-07-01"),
    ("What happened in May 2022?", "2022-05-01/2022-06-01"),
    ("What did we see in mid-August 2022?", "2022-08-01/2022-09-01"),
    ("What happened in 2021?", "2021-01-01/2022-01-01"),
    ("What happened on 8 May 2023?", "2023-05-08/2023-05-09"),
    ("What happened on the 8th of May, 2023?", "2023-05-08/2023-05-09"),
    ("What happened on May 8, 2023?", "2023-05-08/2023-05-09"),
    ("What happened on Monday, May 8, 2023?", "2023-05-08/2023-05-09"),
    ("What happened on Dec 4?", "2022-12-04/2022-12-05"),
    ("What happened on 2023-05-08?", "2023-05-08/2023-05-09"),
    ("On May 8, what did I say?", "2023-05-08/2023-05-09"),
    ("What did Ana do in the spring of 2022?", "2022-03-01/2022-06-01"),
    ("What did Ana do in summer 2022?", "2022-06-01/2022-09-01"),
    ("What did Ana do last summer?", "2022-06-01/2022-09-01"),
    ("dentist last week", "2023-06-05/2023-06-12"),
]

GERMAN = [
    ("Was habe ich heute gesagt?", "2023-06-14/2023-06-15"),
    ("Was habe ich gestern Morgen gesagt?", "2023-06-13T04/2023-06-13T12"),
    ("Was habe ich vorgestern gesagt?", "2023-06-12/2023-06-13"),
    ("Was habe ich letzte Woche gesagt?", "2023-06-05/2023-06-12"),
    ("Was war letzten Monat?", "2023-05-01/2023-06-01"),
    ("Was haben wir am letzten Wochenende gemacht?", "2023-06-10/2023-06-12"),
    ("Was habe ich in den letzten drei Monaten gelernt?", "2023-03-14/2023-06-15"),
    ("Was habe ich seit zwei Wochen notiert?", "2023-05-31/2023-06-15"),
    ("Was haben wir vor zwei Wochen besprochen?", "2023-05-29/2023-06-05"),
    ("Was habe ich am Montag gesagt?", "2023-06-12/2023-06-13"),
    ("Was habe ich letzten Freitag gesagt?", "2023-06-09/2023-06-10"),
    ("Was habe ich seit März gelernt?", "2023-03-01/"),
    ("Was habe ich seit maerz gelernt?", "2023-03-01/"),
    ("Wo war ich vor 2020?", "/2020-01-01"),
    ("Was habe ich nach dem 8. Mai 2023 gesagt?", "2023-05-09/"),
    ("Was habe ich bis zum 8. Mai 2023 gesagt?", "/2023-05-09"),
    ("Was geschah im Mai 2022?", "2022-05-01/2022-06-01"),
    ("Was geschah im Jahr 2021?", "2021-01-01/2022-01-01"),
    ("Was geschah am 08.05.2023?", "2023-05-08/2023-05-09"),
    ("Was geschah am 8. Mai 2023?", "2023-05-08/2023-05-09"),
    ("Was war im Frühjahr 2022?", "2022-03-01/2022-06-01"),
    ("Was haben wir letzten Sommer gemacht?", "2022-06-01/2022-09-01"),
    ("Was war zwischen dem 5. Mai und dem 8. Juni 2022?", "2022-05-05/2022-06-09"),
    ("Was war von Mai bis Juli 2022?", "2022-05-01/2022-08-01"),
]

FRENCH = [
    ("Qu'ai-je dit aujourd'hui ?", "2023-06-14/2023-06-15"),
    ("Qu’ai-je dit hier soir ?", "2023-06-13T17/2023-06-14"),
    ("Qu'ai-je dit avant-hier ?", "2023-06-12/2023-06-13"),
    ("Qu'ai-je dit la semaine dernière ?", "2023-06-05/2023-06-12"),
    ("Qu'ai-je dit l'année dernière ?", "2022-01-01/2023-01-01"),
    ("Qu'a dit Marie le week-end dernier ?", "2023-06-10/2023-06-12"),
    ("Qu'ai-je appris ces trois derniers mois ?", "2023-03-14/2023-06-15"),
    ("Qu'a dit Marie il y a deux semaines ?", "2023-05-29/2023-06-05"),
    ("Qu'est-ce que j'ai dit lundi à Paul ?", "2023-06-12/2023-06-13"),
    ("Qu'ai-je dit vendredi dernier ?", "2023-06-09/2023-06-10"),
    ("Depuis mars, qu'ai-je appris ?", "2023-03-01/"),
    ("Où ai-je vécu avant 2020 ?", "/2020-01-01"),
    ("Qu'ai-je dit jusqu'en mai 2023 ?", "/2023-06-01"),
    ("Qu'ai-je fait en mai 2023 ?", "2023-05-01/2023-06-01"),
    ("Qu'ai-je mangé le 8 mai 2023 ?", "2023-05-08/2023-05-09"),
    ("Qu'ai-je mangé le 08/05/2023 ?", "2023-05-08/2023-05-09"),
    ("Qu'ai-je fait au printemps 2022 ?", "2022-03-01/2022-06-01"),
    ("Qu'ai-je fait l'ete dernier ?", "2022-06-01/2022-09-01"),
    ("Qu'ai-je dit de mai à juillet 2022 ?", "2022-05-01/2022-08-01"),
]

SPANISH = [
    ("¿Qué dije hoy?", "2023-06-14/2023-06-15"),
    ("¿Qué dije ayer por la mañana?", "2023-06-13T04/2023-06-13T12"),
    ("¿Qué hice anoche?", "2023-06-13T18/2023-06-14T06"),
    ("¿Qué dije la semana pasada?", "2023-06-05/2023-06-12"),
    ("¿Qué pasó el año pasado?", "2022-01-01/2023-01-01"),
    ("¿Qué hice el fin de semana pasado?", "2023-06-10/2023-06-12"),
    ("¿Qué he leído en los últimos tres meses?", "2023-03-14/2023-06-15"),
    ("¿Qué hice hace dos semanas?", "2023-05-29/2023-06-05"),
    ("¿Qué dije el lunes?", "2023-06-12/2023-06-13"),
    ("¿Qué dije el viernes pasado?", "2023-06-09/2023-06-10"),
    ("¿Qué he dicho desde marzo?", "2023-03-01/"),
    ("¿Dónde vivía antes de 2020?", "/2020-01-01"),
    ("¿Qué pasó en mayo de 2022?", "2022-05-01/2022-06-01"),
    ("¿Qué paso el 8 de mayo de 2023?", "2023-05-08/2023-05-09"),
    ("¿Qué hice en la primavera de 2022?", "2022-03-01/2022-06-01"),
    ("¿Qué hice el verano pasado?", "2022-06-01/2022-09-01"),
    ("¿Qué dije entre mayo y julio de 2022?", "2022-05-01/2022-08-01"),
]

ITALIAN = [
    ("Cosa ho detto oggi?", "2023-06-14/2023-06-15"),
    ("Cosa ho detto ieri sera?", "2023-06-13T17/2023-06-14"),
    ("Cosa ho detto la settimana scorsa?", "2023-06-05/2023-06-12"),
    ("Cosa ho fatto lo scorso weekend?", "2023-06-10/2023-06-12"),
    ("Cosa ho letto negli ultimi tre mesi?", "2023-03-14/2023-06-15"),
    ("Cosa ho fatto due settimane fa?", "2023-05-29/2023-06-05"),
    ("Che cosa ho detto lunedì?", "2023-06-12/2023-06-13"),
    ("Che cosa ho detto venerdì scorso?", "2023-06-09/2023-06-10"),
    ("Cosa ho imparato da marzo?", "2023-03-01/"),
    ("Dove ero prima del 2020?", "/2020-01-01"),
    ("Cosa ho fatto a maggio?", "2023-05-01/2023-06-01"),
    ("Cosa ho fatto nel maggio del 2022?", "2022-05-01/2022-06-01"),
    ("Cosa ho fatto l'8 maggio 2023?", "2023-05-08/2023-05-09"),
    ("Cosa ho fatto nella primavera del 2022?", "2022-03-01/2022-06-01"),
    ("Cosa ho fatto l'estate scorsa?", "2022-06-01/2022-09-01"),
    ("Dal 5 maggio 2022 all'8 giugno 2022 cosa ho fatto?", "2022-05-05/2022-06-09"),
]

PORTUGUESE = [
    ("O que eu disse hoje?", "2023-06-14/2023-06-15"),
    ("O que eu fiz ontem à noite?", "2023-06-13T18/2023-06-14T06"),
    ("O que eu disse na semana passada?", "2023-06-05/2023-06-12"),
    ("O que eu fiz no fim de semana passado?", "2023-06-10/2023-06-12"),
    ("O que li nos últimos três meses?", "2023-03-14/2023-06-15"),
    ("O que fiz há duas semanas?", "2023-05-29/2023-06-05"),
    ("O que fiz duas semanas atrás?", "2023-05-29/2023-06-05"),
    ("O que eu disse na segunda-feira?", "2023-06-12/2023-06-13"),
    ("O que eu disse na última sexta-feira?", "2023-06-09/2023-06-10"),
    ("O que aprendi desde março?", "2023-03-01/"),
    ("Onde eu estava antes de 2020?", "/2020-01-01"),
    ("O que aconteceu em maio de 2022?", "2022-05-01/2022-06-01"),
    ("O que aconteceu em 8 de maio de 2023?", "2023-05-08/2023-05-09"),
    ("O que fiz na primavera de 2022?", "2022-03-01/2022-06-01"),
    ("O que fiz no verão passado?", "2022-06-01/2022-09-01"),
    ("O que eu disse entre maio e julho de 2022?", "2022-05-01/2022-08-01"),
]


def by_question(*tables: list[tuple[str, str]]) -> list[object]:
    return [pytest.param(*row, id=row[0]) for row in chain(*tables)]


@each(
    ("question", "expected"),
    by_question(ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE),
)
def test_asked_on_wednesday_14_june_2023_the_question_names(question, expected):
    assert stretch(question) == expected


NAMES_NO_TIME = {
    "nothing at all": ["", "What is my dentist called?", "???"],
    "a vague time": [
        "What did I say recently?",
        "What did I do lately?",
        "What did I say the other day?",
        "What did I do a few years ago?",
        "What did we discuss in the last few weeks?",
        "Was habe ich neulich gesagt?",
        "Was habe ich vor kurzem gesagt?",
        "Qu'ai-je dit récemment ?",
        "¿Qué dije hace poco?",
        "Cosa ho detto di recente?",
        "O que eu disse recentemente?",
    ],
    "an estimate": [
        "What did I say about two weeks ago?",
        "Where did I live more than two years ago?",
        "What did I say twenty-two days ago?",
        "What did I say twenty two days ago?",
        "Where did I live 2.5 years ago?",
        "What did I buy half a year ago?",
    ],
    "a time that is asked for": [
        "Which year did I move?",
        "What month did Ana plan on going?",
        "How many days ago did I call?",
        "How long ago did I move?",
        "How many days passed between 5 April 2023 and 8 May 2023?",
        "Wie viele Tage war ich im Mai 2023 krank?",
        "Combien de jours ai-je travaillé en mai 2023 ?",
    ],
    "last, but no time": [
        "What did I say last time?",
        "What is my last name?",
        "What was the last book I read?",
        "Was habe ich das letzte Mal gesagt?",
        "¿Qué dije la última vez?",
    ],
    "a word that is also a month": [
        "May I ask what I said?",
        "What did you say may happen?",
        "Who did I march with?",
        "What did I tell April?",
        "Was Mars the planet I talked about?",
        "Who did I call June?",
    ],
    "a word that looks like a weekday": [
        "What did we say?",
        "Who sat in the sun?",
        "What did Mon say?",
        "A segunda pessoa que falou",
        "Quem falou na sexta?",
        "¿Quién dijo el segundo?",
        "What did I buy on Black Friday?",
        "What did Robinson call Friday in the book?",
    ],
    "a word that is also a season": [
        "How did he feel after the fall?",
        "What did I say about tests in Spring Boot?",
    ],
    "a number that looks like a year": [
        "What did I say about Cyberpunk 2077?",
        "What did I play, FIFA 2023?",
        "What did I write in 2000 words?",
        "Where was the year 3023 mentioned?",
    ],
    "a word of another language": [
        "Was habe ich hier gesagt?",
        "Steht das hier im Vertrag?",
    ],
    "a habit": [
        "What did I do every Monday?",
        "What did I do on Mondays?",
        "Was habe ich jeden Montag gemacht?",
        "Was mache ich montags?",
        "Qu'ai-je fait chaque lundi ?",
        "Qu'ai-je fait le lundi ?",
        "¿Qué hice los lunes?",
        "Cosa ho fatto ogni lunedì?",
        "Cosa ho fatto il lunedì?",
        "O que fiz toda segunda-feira?",
    ],
    "a topic": [
        "What did I say about last week?",
        "What did I say about the Friday meeting?",
        "What did I note in yesterday's meeting?",
        "What did I say about the May 2023 report?",
        "What did I think of John's last year?",
        'Who wrote "Yesterday"?',
        "Was habe ich über letzte Woche gesagt?",
        "Qu'ai-je dit de la réunion de lundi ?",
    ],
    "a plan": [
        "What is planned for June 2023?",
        "What did I plan for last weekend?",
        "What did I book for 8 May 2023?",
        "What are the deadlines in May 2023?",
        "Was war für Mai 2023 geplant?",
        "Qu'est-ce qui était prévu en mai 2023 ?",
        "¿Qué plan tenía en mayo de 2023?",
    ],
    "a birth": ["Who was born in May?", "Wer ist im Mai 2020 geboren?", "Est-il né en mai 2020 ?"],
    "the deadline of something": [
        "What did I finish before the deadline?",
        "What did I promise to finish by Friday?",
    ],
    "the future": [
        "What did I say I do tomorrow?",
        "What did I say about next week?",
        "What have I got next month?",
        "What happened in August 2023?",
        "What did I say before 2030?",
        "What did I say after 2030?",
        "What happened on 15 June 2023?",
        "Was mache ich morgen früh?",
        "Was habe ich übermorgen gesagt?",
        "Que dois-je faire demain ?",
        "¿Qué hago mañana?",
        "¿Qué hago pasado mañana?",
        "Cosa faccio domani?",
        "O que faço amanhã?",
    ],
    "the last or the coming one": [
        "What do I have today?",
        "What am I doing on Monday?",
        "Who comes this week?",
        "Do I have time in May?",
        "What is due before Friday?",
        "Was mache ich am Montag?",
        "Que fait Marie lundi ?",
        "¿Qué hago el lunes?",
        "Cosa faccio lunedì?",
        "O que faço na segunda-feira?",
    ],
    "the first or the second winter of a year": ["What did I do in winter 2022?"],
    "the day or the month first": ["What happened on 5/8/2023?"],
    "two times": [
        "What did I say yesterday about last week?",
        "Did I say it last week or this week?",
        "Did I meet her in May or in June 2022?",
        "What did I do last week and on 8 May 2023?",
        "What did I do last weekend before April 10, 2023?",
        "What did I do on Monday of last week?",
    ],
    "a time counted from another": [
        "What did I do two weeks before August 11, 2022?",
        "What did I do the day after 8 May 2023?",
        "What did I do shortly before May 2023?",
        "Was war zwei Tage vor dem 8. Mai 2023?",
        "Qu'ai-je fait deux jours avant le 8 mai 2023 ?",
    ],
    "a part of a stretch": [
        "What did I do in the last week of May?",
        "What was in the week of May?",
    ],
    "no day of any calendar": [
        "What happened on 31 February 2023?",
        "What happened on 2023-13-01?",
    ],
    "before all calendars": ["What did I do in the last 999 years, 999 years ago?"],
}


@each(
    "question",
    [
        pytest.param(question, id=f"{reason}: {question}")
        for reason, questions in NAMES_NO_TIME.items()
        for question in questions
    ],
)
def test_no_interval_comes_from(question):
    assert stretch(question) is None


AT_AN_EDGE = {
    "yesterday at new year": ("2024-01-01T10", "yesterday", "2023-12-31/2024-01-01"),
    "last week on a Monday": ("2024-01-01T10", "last week", "2023-12-25/2024-01-01"),
    "last week on a Sunday": ("2023-12-31T10", "last week", "2023-12-18/2023-12-25"),
    "weeks ago across a year": ("2024-01-03T10", "two weeks ago", "2023-12-18/2023-12-25"),
    "last month in January": ("2024-01-15T10", "last month", "2023-12-01/2024-01-01"),
    "December in January": ("2024-01-15T10", "in December", "2023-12-01/2024-01-01"),
    "last month in December": ("2024-12-15T10", "last month", "2024-11-01/2024-12-01"),
    "this month in December": ("2023-12-15T10", "this month", "2023-12-01/2024-01-01"),
    "months ago on a 31st": ("2023-05-31T10", "in the last three months", "2023-02-28/2023-06-01"),
    "a year before a leap day": ("2024-02-29T10", "in the last year", "2023-02-28/2024-03-01"),
    "yesterday is a leap day": ("2024-03-01T10", "yesterday", "2024-02-29/2024-03-01"),
    "the latest leap day": ("2023-06-14T10", "on February 29", "2020-02-29/2020-03-01"),
    "the latest leap day, eight years back": (
        "1903-06-14T10",
        "on February 29",
        "1896-02-29/1896-03-01",
    ),
    "last winter in winter": ("2023-02-10T10", "last winter", "2021-12-01/2022-03-01"),
    "this winter in February": ("2023-02-10T10", "this winter", "2022-12-01/2023-03-01"),
    "winter in December": ("2023-12-24T10", "in winter", "2023-12-01/2024-03-01"),
    "last summer in winter": ("2023-12-24T10", "last summer", "2023-06-01/2023-09-01"),
    "last weekend on a Sunday": ("2023-06-18T10", "last weekend", "2023-06-10/2023-06-12"),
    "this weekend on a Sunday": ("2023-06-18T10", "this weekend", "2023-06-17/2023-06-19"),
    "the weekend on a Sunday": ("2023-06-18T10", "on the weekend", "2023-06-17/2023-06-19"),
    "a date that is today": ("2023-06-14T10", "on 14 June", "2023-06-14/2023-06-15"),
    "a date that is tomorrow": ("2023-06-14T10", "on 15 June", "2022-06-15/2022-06-16"),
    "last night before dawn": ("2023-06-14T02", "last night", "2023-06-13T18/2023-06-14T06"),
    "on the first day of the calendar": ("0001-01-01T10", "yesterday", None),
    "on the last day of the calendar": ("9999-12-31T10", "today", None),
}


@each(("now", "phrase", "expected"), AT_AN_EDGE.values(), ids=list(AT_AN_EDGE))
def test_at_an_edge_of_the_calendar(now, phrase, expected):
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)

    assert stretch(f"What did I say {phrase}?", moment) == expected


@pytest.mark.parametrize(
    ("now", "hours"),
    [
        pytest.param(datetime(2023, 3, 27, 12, tzinfo=BERLIN), 23, id="clocks went forward"),
        pytest.param(datetime(2023, 10, 30, 12, tzinfo=BERLIN), 25, id="clocks went back"),
    ],
)
def test_yesterday_is_a_whole_day_of_the_zone_when(now, hours):
    named = Dates("What did I say yesterday?", now).asked

    assert named is not None and named[0].start is not None and named[0].end is not None
    assert named[0].start.tzinfo is now.tzinfo
    assert named[0].end.timestamp() - named[0].start.timestamp() == hours * 3600


@each(
    ("question", "phrase"),
    [
        ("What did I say LAST  Week, then?", "LAST  Week"),
        ("What did Ana do in the spring of 2022?", "in the spring of 2022"),
        ("What have I done since March?", "since March"),
        ("What happened between March and May?", "between March and May"),
        ("Qu’ai-je dit l’année dernière ?", "l’année dernière"),
        ("¿Qué hice el año pasado?", "el año pasado"),
        ("¿Que\u0301 hice el an\u0303o pasado?", "el an\u0303o pasado"),
        ("Was habe ich bis zum 8. Mai 2023 gesagt?", "bis zum 8. Mai 2023"),
        ("Cosa ho fatto dall'8 maggio 2023?", "dall'8 maggio 2023"),
    ],
)
def test_the_phrase_is_as_the_question_has_it(question, phrase):
    named = Dates(question, WEDNESDAY).asked

    assert named is not None
    assert named[1] == phrase


VOCABULARY = sorted(
    {
        word
        for language in LANGUAGES
        for name in ("months", "weekdays", "units", "numbers")
        for words in language.table[name]
        for word in words.split("|")
    }
    | {
        "since",
        "before",
        "between",
        "and",
        "from",
        "to",
        "in",
        "on",
        "last",
        "ago",
        "vor",
        "il y a",
    }
    | {"hace", "fa", "did", "war", "yesterday", "2023", "8", "2023-05-08", "31.02.2023", "?", "'s"}
)
QUESTIONS = st.text() | st.lists(st.sampled_from(VOCABULARY)).map(" ".join)
ZONES = st.sampled_from([UTC, BERLIN, ZoneInfo("Pacific/Kiritimati"), ZoneInfo("America/New_York")])
MOMENTS = st.datetimes(timezones=ZONES)


@given(QUESTIONS, MOMENTS)
@example("did I say it in the last 999 years", datetime(1, 1, 1, tzinfo=UTC))
@example("did I say it today", datetime(9999, 12, 31, tzinfo=UTC))
def test_whatever_is_asked_an_interval_has_a_length_and_its_phrase(question, now):
    named = Dates(question, now).asked

    if named is not None:
        interval, phrase = named
        assert phrase and phrase in question
        assert interval != Interval(None, None)
        if interval.start and interval.end:
            assert interval.start < interval.end
        assert all(edge.tzinfo is now.tzinfo for edge in (interval.start, interval.end) if edge)


def patterns() -> list[object]:
    return [
        pytest.param(pattern.pattern, id=f"{language.name}: {name} {number}")
        for language in LANGUAGES
        for number, (name, pattern) in enumerate(
            [
                *((name, pattern) for name, _, pattern in grammar(language).templates),
                ("link", grammar(language).link),
                ("not before", grammar(language).not_before),
                ("refused", grammar(language).refused_phrases),
                *(("past", phrase) for phrase in grammar(language).past_phrases),
                *(("pair", part) for pair in grammar(language).pairs for part in pair),
            ]
        )
    ]


@each("pattern", patterns())
def test_no_pattern_repeats_without_bound(pattern):
    assert not set("*+{") & set(pattern)


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "piece",
    [
        "last ",
        "last week ",
        "8 ",
        "8. mai ",
        "vor zwei ",
        "between May and ",
        "since before the ",
        "\ufdfa",
    ],
)
def test_a_long_question_is_read_in_time(piece):
    found = Dates((piece * 8192)[:8192], WEDNESDAY).asked

    assert found is None or found[1]


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_phrase_has_a_meaning(language):
    assert set(language.phrases) == set(MEANINGS)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_every_list_of_words_is_complete(language):
    lists = ("months", "short_months", "weekdays", "seasons", "numbers", "units")
    counts = [len(language.table[name]) for name in lists]

    assert counts == [12, 12, 7, 4, 12, 4]
    assert len(language.table["parts"]) == 4


@each(
    ("text", "start", "end"),
    [
        ("2023", "2023-01-01T00:00:00+01:00", "2024-01-01T00:00:00+01:00"),
        ("2023-05", "2023-05-01T00:00:00+02:00", "2023-06-01T00:00:00+02:00"),
        ("2023-12", "2023-12-01T00:00:00+01:00", "2024-01-01T00:00:00+01:00"),
        ("2024-02", "2024-02-01T00:00:00+01:00", "2024-03-01T00:00:00+01:00"),
        ("2023-05-08", "2023-05-08T00:00:00+02:00", "2023-05-09T00:00:00+02:00"),
        ("2023-03-26", "2023-03-26T00:00:00+01:00", "2023-03-27T00:00:00+02:00"),
        ("2024-02-29", "2024-02-29T00:00:00+01:00", "2024-03-01T00:00:00+01:00"),
        (" 2023-05-08 ", "2023-05-08T00:00:00+02:00", "2023-05-09T00:00:00+02:00"),
        ("9998-12-31", "9998-12-31T00:00:00+01:00", "9999-01-01T00:00:00+01:00"),
    ],
)
def test_a_bare_date_is_its_first_moment_or_the_first_after_it(text, start, end):
    assert parse_time(text, BERLIN).isoformat() == start
    assert parse_time(text, BERLIN, end=True).isoformat() == end


def test_a_date_that_utc_has_not_is_no_time():
    with pytest.raises(ValueError, match="is not a date or time"):
        parse_time("0001-01-01", BERLIN)


@each("end", [False, True])
@each(
    ("text", "expected"),
    [
        ("2023-05-08T13:56", "2023-05-08T13:56:00+02:00"),
        ("2023-05-08 13:56", "2023-05-08T13:56:00+02:00"),
        ("2023-05-08T13:56:07.25", "2023-05-08T13:56:07.250000+02:00"),
        ("2023-05-08T13:56Z", "2023-05-08T15:56:00+02:00"),
        ("2023-05-08t13:56z", "2023-05-08T15:56:00+02:00"),
        ("2023-05-08T13:56-04:00", "2023-05-08T19:56:00+02:00"),
        ("2023-05-08T13:56+0530", "2023-05-08T10:26:00+02:00"),
    ],
)
def test_a_time_is_that_moment(text, expected, end):
    assert parse_time(text, BERLIN, end=end).isoformat() == expected


@each(
    "text",
    [
        "",
        "yesterday",
        "08.05.2023",
        "2023-5-8",
        "20230508",
        "2023-W19",
        "23",
        "12023",
        "2023-13",
        "2023-02-29",
        "2023-05-08T25:00",
        "2023-05-08T",
        "13:56",
        "0000",
        "0000-01-01",
        "9999",
        "9999-12",
        "9999-12-31",
        "9999-12-31T10:00",
        "٢٠٢٣",
        "2023-05-08\x00",
    ],
)
def test_what_is_no_time_is_said_so(text):
    with pytest.raises(ValueError, match="is not a date or time"):
        parse_time(text, BERLIN, end=True)


NEARLY_TIMES = st.from_regex(
    r"[0-9]{4}(-[0-9]{2}(-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})?)?)?)?",
    fullmatch=True,
)


@given(st.text() | NEARLY_TIMES, ZONES, st.booleans())
def test_a_text_is_an_aware_time_or_a_value_error(text: str, zone: tzinfo, end: bool):
    try:
        moment = parse_time(text, zone, end=end)
    except ValueError:
        return
    assert moment.tzinfo is zone
    assert moment.astimezone(UTC) == moment


@each(
    ("text", "expected"),
    [
        ("90m", timedelta(minutes=90)),
        ("12h", timedelta(hours=12)),
        ("30d", timedelta(days=30)),
        ("2w", timedelta(weeks=2)),
        ("6mo", timedelta(days=180)),
        ("1y", timedelta(days=365)),
        (" 30 D ", timedelta(days=30)),
        ("100y", timedelta(days=36_500)),
        ("P30D", timedelta(days=30)),
        ("PT12H", timedelta(hours=12)),
        ("PT90M", timedelta(minutes=90)),
        ("P6M", timedelta(days=180)),
        ("P2W", timedelta(weeks=2)),
        ("P1Y2M3DT4H5M6S", timedelta(days=428, hours=4, minutes=5, seconds=6)),
    ],
)
def test_a_duration_is_read(text, expected):
    assert parse_duration(text) == expected


@each(
    "text",
    [
        "",
        "30",
        "d",
        "soon",
        "-30d",
        "+30d",
        "1.5d",
        "30 days",
        "P",
        "PT",
        "P1",
        "P1DT",
        "1d12h",
        "0d",
        "P0D",
        "PT0S",
        "101y",
        "P101Y",
        "36501d",
        "999999999y",
        "9999999999d",
        "٣d",
    ],
)
def test_no_duration_is_read_from(text):
    with pytest.raises(ValueError, match="duration"):
        parse_duration(text)


@given(st.text() | st.from_regex(r"P?T?[0-9]{1,12}[a-zA-Z]{1,2}", fullmatch=True))
def test_a_text_is_a_duration_up_to_a_century_or_a_value_error(text):
    try:
        duration = parse_duration(text)
    except ValueError:
        return
    assert timedelta(0) < duration <= timedelta(days=36_500)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("30d", "2023-07-14T15:00:00+02:00", id="a duration from now"),
        pytest.param("PT12H", "2023-06-15T03:00:00+02:00", id="an ISO duration"),
        pytest.param("2023-06-14", "2023-06-15T00:00:00+02:00", id="today lasts until it is over"),
        pytest.param("2023", "2024-01-01T00:00:00+01:00", id="this year lasts until it is over"),
        pytest.param("2023-06-14T15:01", "2023-06-14T15:01:00+02:00", id="a time"),
    ],
)
def test_what_expires_does_so_at(text, expected):
    assert parse_expiry(text, WEDNESDAY, BERLIN).isoformat() == expected


@pytest.mark.parametrize(
    ("text", "now"),
    [
        pytest.param("2023-06-13", WEDNESDAY, id="yesterday"),
        pytest.param("2023-06-14T15:00", WEDNESDAY, id="now"),
        pytest.param("-30d", WEDNESDAY, id="a duration backwards"),
        pytest.param("0d", WEDNESDAY, id="a duration of nothing"),
        pytest.param("101y", WEDNESDAY, id="a duration over a century"),
        pytest.param("sometime", WEDNESDAY, id="neither duration nor time"),
        pytest.param("100y", datetime(9950, 1, 1, tzinfo=UTC), id="beyond the calendar"),
    ],
)
def test_nothing_expires_at(text, now):
    with pytest.raises(ValueError):
        parse_expiry(text, now, BERLIN)


@each(
    ("ago", "expected"),
    [
        (timedelta(seconds=-5), "just now"),
        (timedelta(days=-400), "just now"),
        (timedelta(0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1m ago"),
        (timedelta(minutes=59, seconds=59), "59m ago"),
        (timedelta(hours=1), "1h ago"),
        (timedelta(hours=23, minutes=59), "23h ago"),
        (timedelta(days=1), "1d ago"),
        (timedelta(days=29), "29d ago"),
        (timedelta(days=30), "1mo ago"),
        (timedelta(days=364), "12mo ago"),
        (timedelta(days=365), "1y ago"),
        (timedelta(days=800), "2y ago"),
    ],
)
def test_an_age_is_rounded_down(ago, expected):
    now = WEDNESDAY.astimezone(UTC)

    assert age_in_words(now - ago, now) == expected


def test_an_age_counts_hours_that_passed_not_hours_on_the_clock():
    before, after = (datetime(2023, 3, 26, hour, 30, tzinfo=BERLIN) for hour in (1, 3))

    assert age_in_words(before, after) == "1h ago"


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (datetime(2023, 5, 8, 13, 56, tzinfo=UTC), "8 May 2023"),
        (datetime(2024, 2, 29, tzinfo=BERLIN), "29 February 2024"),
        (datetime(987, 12, 31, tzinfo=UTC), "31 December 987"),
    ],
)
def test_a_date_as_text(moment, expected):
    assert spoken_date(moment) == expected
