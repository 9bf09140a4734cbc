"""recall, list, show, review, stats."""

import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from kinmem.service import Service
from kinmem.store.memory import Sort
from tests.cli.conftest import Kinmem

Memorized = Callable[..., str]


def test_recall_finds_by_meaning(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("Our friend Bob is allergic to peanuts", "--subject", "Bob")
    memorized("The office closes at six")

    ran = kinmem("recall", "Is", "a", "dessert", "with", "nuts", "safe", "for", "everyone?")

    assert ran.code == 0
    assert ran.out.splitlines()[0].split(maxsplit=1) == [
        "1",
        "Our friend Bob is allergic to peanuts",
    ]
    assert "fact · Bob · private" in ran.out


@pytest.mark.parametrize("mode", ["relevance", "kinbot", "kore", "balanced"])
def test_the_explanation_adds_up_to_the_score(
    kinmem: Kinmem, memorized: Memorized, mode: str
) -> None:
    memorized("Our friend Bob is allergic to peanuts", "--importance", "9")
    memorized("Bob likes peanut butter")

    ran = kinmem("recall", "what about peanuts?", "--explain", "--mode", mode, "--json")

    assert ran.json["memories"]
    for memory in ran.json["memories"]:
        why = memory["why"]
        added = sum(value for name, value in why.items() if name[0] == "+")
        factor = math.prod(value for name, value in why.items() if name[0] == "x")
        assert added * factor == pytest.approx(memory["score"], abs=1e-6)


def test_the_explanation_shows_bars_and_the_sum(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("Our friend Bob is allergic to peanuts", "--importance", "9")

    out = kinmem("recall", "peanuts", "--explain").out

    lines = [line.split() for line in out.splitlines()]
    (words,) = [line for line in lines if line[:1] == ["words"]]
    assert set(words[1]) <= set("█▏▎▍▌▋▊▉")
    assert words[2] == "0.300"
    (total,) = [line for line in out.splitlines() if " = " in line]
    parts, score = re.sub("[a-z]+", "", total.replace("×", "*")).split(" = ")
    assert eval(parts) == pytest.approx(float(score), abs=0.003)  # of numbers shown rounded


def test_a_kin_that_remembers_nothing_is_told_how_to_begin(kinmem: Kinmem) -> None:
    ran = kinmem("recall", "anything", "--kin", "newcomer")

    assert ran.code == 0
    hint = ran.out.removeprefix("newcomer remembers nothing yet. Try: kinmem ").strip()
    assert kinmem(*shlex.split(hint)).code == 0
    assert "Bob likes tea" in kinmem("recall", "tea", "--kin", "newcomer").out


def test_list_goes_page_by_page_or_all_at_once(kinmem: Kinmem, memorized: Memorized) -> None:
    ids = [memorized(f"Statement number {number} of five") for number in range(5)]

    first = kinmem("list", "--limit", "2", "--json").json
    second = kinmem("list", "--limit", "2", "--cursor", first["nextCursor"], "--json").json
    every = kinmem("list", "--all", "--sort", "oldest", "--json").json

    assert [m["id"] for m in first["memories"] + second["memories"]] == ids[:0:-1]
    assert [m["id"] for m in every["memories"]] == ids
    assert f"--cursor {first['nextCursor']}" in kinmem("list", "--limit", "2").out


def test_list_filters(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("Ana drinks tea", "--subject", "Ana", "--category", "preference", "--tag", "food")
    memorized("Bob drinks coffee", "-s", "Bob", "-c", "fact", "--tag", "food", "--scope", "shared")

    def found(*options: str) -> list[str]:
        memories = kinmem("list", *options, "--json").json["memories"]
        return [memory["subject"] for memory in memories]

    assert found("--subject", "ana") == ["Ana"]
    assert found("--category", "fact") == ["Bob"]
    assert found("--scope", "shared") == ["Bob"]
    assert found("--tag", "food") == ["Bob", "Ana"]
    assert found("--until", "2020") == []


def test_list_is_one_line_a_memory_when_piped(kinmem: Kinmem, memorized: Memorized) -> None:
    long = "word " * 100
    id = memorized(f"{long}\nsecond line", "--trust")

    head, line = kinmem("list").out.splitlines()

    assert head.split() == ["id", "age", "category", "subject", "whose", "content"]
    assert line.startswith(id[-8:])
    assert line.endswith("second line")


def test_list_shows_the_project_where_there_is_one(
    kinmem: Kinmem, memorized: Memorized, tmp_path: Path
) -> None:
    (tmp_path / "parcels" / ".git").mkdir(parents=True)
    memorized("The staging port is 5440.", "--place", str(tmp_path / "parcels"))
    memorized("Bob likes tea")

    head, tea, port = kinmem("list").out.splitlines()

    assert head.split() == ["id", "age", "category", "subject", "whose", "place", "content"]
    where = head.index("place")
    assert port[where:].split() == ["parcels", "The", "staging", "port", "is", "5440."]
    assert tea[where:].split() == ["Bob", "likes", "tea"]


def test_review_shows_what_contradicts(kinmem: Kinmem, memorized: Memorized) -> None:
    first = memorized("Our friend Bob is allergic to peanuts", "-s", "Bob", "--scope", "shared")
    second = memorized("Our friend Bob is not allergic to peanuts", "--subject", "Bob")

    ran = kinmem("review")

    (issue,) = kinmem("review", "--json").json["issues"]
    assert f"contradiction {issue['id']}: " in ran.out
    assert f"{first[-8:]}  Our friend Bob is allergic" in ran.out
    assert set(issue["memoryIds"]) == {first, second}


def test_an_issue_is_settled_or_refused_by_its_id(kinmem: Kinmem, memorized: Memorized) -> None:
    shared = memorized("Our friend Bob is allergic to peanuts", "-s", "Bob", "--scope", "shared")
    private = memorized("Our friend Bob is not allergic to peanuts", "--subject", "Bob")
    memorized("Clara is vegetarian", "-s", "Clara", "--scope", "shared")
    memorized("Clara is not vegetarian", "-s", "Clara")
    bob, clara = sorted(
        kinmem("review", "--json").json["issues"], key=lambda issue: private in issue["memoryIds"]
    )[::-1]

    settled = kinmem("review", "--apply", bob["id"], "--keep", shared, "--json").json["issues"]
    refused = kinmem("review", "--refuse", clara["id"], "--json").json["issues"]
    unknown = kinmem("review", "--apply", "nonsense")

    assert [issue["id"] for issue in settled] == [clara["id"]]
    assert refused == []
    assert kinmem("show", private, "--json").json["state"] == "superseded"
    assert unknown.code == 3


def test_what_was_applied_is_told_and_can_be_undone(kinmem: Kinmem, memorized: Memorized) -> None:
    first = memorized("Our friend Bob is allergic to peanuts", "-s", "Bob", "--scope", "shared")
    second = memorized("Our friend Bob is not allergic to peanuts", "--subject", "Bob")
    found = kinmem("review")
    (issue,) = kinmem("review", "--json").json["issues"]

    ran = kinmem("review", "--apply", issue["id"])
    undone = kinmem("undo", f"review {issue['id']}")

    assert "2 memories read: 1 contradiction." in found.out
    assert f"  {first[-8:]}  replaced: Our friend Bob is allergic to peanuts" in ran.out
    assert f"  {second[-8:]}  stays: Our friend Bob is not allergic" in ran.out
    assert f'kinmem undo "review {issue["id"]}" takes it back.' in ran.out
    assert "1 memory read: nothing to mend." in ran.out
    assert undone.code == 0
    assert kinmem("show", first, "--json").json["state"] == "active"


PEANUTS = ("Our friend Bob is allergic to peanuts", "Our friend Bob is not allergic to peanuts")


@pytest.mark.parametrize(
    ("texts", "options", "answer"),
    [
        pytest.param(PEANUTS, ("--subject", "Bob"), "--refuse", id="contradiction refused"),
        pytest.param(PEANUTS, ("--subject", "Bob"), "--apply", id="contradiction settled"),
        pytest.param(("Fine",), (), "--refuse", id="clutter refused"),
        pytest.param(("Fine",), (), "--keep", id="clutter kept"),
        pytest.param(("Fine",), (), "--apply", id="clutter into the bin"),
    ],
)
def test_undo_takes_back_what_was_decided_and_nothing_before_it(
    kinmem: Kinmem,
    memorized: Memorized,
    texts: tuple[str, ...],
    options: tuple[str, ...],
    answer: str,
) -> None:
    ids = [
        memorized(text, *options, "--scope", ("shared", "private")[at])
        for at, text in enumerate(texts)
    ]
    last = memorized("Call me Sam")
    (issue,) = kinmem("review", "--json").json["issues"]
    given = ("--apply", issue["id"], "--keep", ids[0]) if answer == "--keep" else None

    answered = kinmem("review", *(given or (answer, issue["id"])))
    left = kinmem("review", "--json").json["issues"]
    undone = kinmem("undo", "--json")
    again = kinmem("review", "--json").json["issues"]

    assert left == []
    assert f'kinmem undo "review {issue["id"]}" takes it back.' in answered.out
    assert undone.code == 0 and last not in undone.out
    assert [one["id"] for one in again] == [issue["id"]]
    for id in (*ids, last):
        assert kinmem("show", id, "--json").json["state"] == "active"
    redone = kinmem("undo", undone.json["batch"])
    assert redone.code == 0
    assert kinmem("review", "--json").json["issues"] == []
    assert kinmem("show", last, "--json").json["state"] == "active"


@pytest.mark.parametrize(
    ("words", "options"),
    [
        pytest.param("I quit the hospital yesterday.", (), id="about an earlier day"),
        pytest.param(
            "I quit the hospital, I'm a translator now.",
            ("--occurred-at", "today"),
            id="of today, without an hour",
        ),
    ],
)
def test_what_is_told_later_is_suggested_and_stays(
    kinmem: Kinmem, memorized: Memorized, words: str, options: tuple[str, ...]
) -> None:
    home = "I live in Leeds with my wife Mia."
    older = memorized(f"{home} I work as a nurse at the hospital.")
    newer = memorized(words, *options)
    found = kinmem("review")
    (issue,) = kinmem("review", "--json").json["issues"]

    ran = kinmem("review", "--apply", issue["id"])

    assert issue["memoryIds"] == [older, newer]
    assert f'If the later one holds, this stays of the earlier: "{home}"' in found.out
    assert f"suggestion: {newer[-8:]} stays\n" in found.out
    assert f"  {newer[-8:]}  stays: {words}" in ran.out
    assert f"  {older[-8:]}  says now: {home}" in ran.out


def test_a_conflict_that_is_open_is_told_as_a_question(
    kinmem: Kinmem, memorized: Memorized
) -> None:
    older = memorized("I work as a nurse at the hospital.")
    newer = memorized("I quit the hospital yesterday.")
    (issue,) = kinmem("review", "--json").json["issues"]
    chance = re.search(r"\d+ % likely", issue["description"])
    assert chance is not None

    shown = kinmem("show", older)
    recalled = kinmem("recall", "where do I work", "--explain")

    for ran in (shown, recalled):
        (line,) = [line for line in ran.out.splitlines() if f"may contradict  {newer[-8:]}" in line]
        assert "kinmem review asks which holds" in line
        assert chance[0] in line
        assert "sure)" not in line


def test_forgetting_one_of_two_copies_names_the_other(kinmem: Kinmem, memorized: Memorized) -> None:
    gone = memorized("The standup is at 16:30.")
    copy = memorized("Our standup is at 4:30 pm.")
    memorized("The planning is at 16:30.")

    ran = kinmem("forget", gone)

    _, head, *others = ran.out.splitlines()
    assert head == "Still in use, and nearly the same or in conflict with it:"
    assert others == [f"  {copy[-8:]}  Our standup is at 4:30 pm."]


def test_programs_are_told_what_was_settled(kinmem: Kinmem, memorized: Memorized) -> None:
    first = memorized("Our friend Bob is allergic to peanuts", "-s", "Bob")
    second = memorized("Our friend Bob is not allergic to peanuts", "--subject", "Bob")
    (issue,) = kinmem("review", "--json").json["issues"]

    (settled,) = kinmem("review", "--apply", issue["id"], "--json").json["settled"]

    assert settled == {
        "issue": issue["id"],
        "kept": second,
        "changed": {first: "superseded"},
        "undo": f'kinmem undo "review {issue["id"]}"',
    }


def test_where_nothing_is_listed_what_waits_to_be_learned_is_told(
    kinmem: Kinmem, service_of: Callable[..., Service]
) -> None:
    service = service_of("default", resident=False)  # learns nothing by itself
    service.observe("prompt", "talk", "1", "I moved to Porto last spring.")
    empty = kinmem("list")
    service.memorize("Bob likes tea")

    unfitting = kinmem("list", "--subject", "Clara")

    waits = (
        "1 message of a conversation waits to be learned from: kinmem sleep --kin default does it."
    )
    assert empty.out == f"default has learned nothing yet. {waits}\n"
    assert unfitting.out == f"Nothing fits. {waits}\n"


def test_stats_count(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("Ana drinks tea")
    memorized("Bob drinks coffee", "--scope", "shared")

    told = kinmem("stats", "--json").json

    assert told["memories"]["scope"] == {"private": 1, "shared": 1}
    assert told["embedders"][0]["done"] == told["embedders"][0]["total"] == 2
    assert "private 1" in kinmem("stats").out
    assert re.search(r"by tier\s+warm 2", kinmem("stats").out)


def test_kins_share_only_what_is_shared(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("the chest opens with 4711", "--kin", "ana")
    memorized("The office closes at six", "--kin", "ana", "--scope", "shared")

    out = kinmem("list", "--kin", "bob").out

    assert "shared by ana" in out
    assert "4711" not in out


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--kin", "ana", "--home", "{}", "list"], id="before"),
        pytest.param(["list", "--kin", "ana", "--home", "{}"], id="after"),
    ],
)
def test_kin_and_home_may_stand_before_and_after(
    kinmem: Kinmem, tmp_path: Path, words: list[str]
) -> None:
    kinmem(*(word.format(tmp_path) for word in words))

    assert (tmp_path / "kins" / "ana.db").exists()


HOSTILE = "red\u202e\u200b \U000e0041 [bold]not markup[/bold]"


@pytest.mark.parametrize(
    "command", ["list", "recall red", "show {}", "list --json", "show {} --json"]
)
def test_nothing_in_a_memory_acts_on_the_terminal(
    kinmem: Kinmem, memorized: Memorized, command: str
) -> None:
    id = memorized(f"\x1b[31m \x9b31m {HOSTILE}", "--trust")

    out = kinmem(*command.format(id).split()).out

    assert "[bold]not markup[/bold]" in out
    assert not set(out) & set("\x1b\x9b\u202e\u200b\U000e0041")


def test_the_orders_are_the_stores() -> None:
    from typing import get_args

    from kinmem.cli import options

    assert get_args(get_args(options.Sort)[0]) == get_args(Sort)


def test_a_review_whose_model_fails_says_so_by_its_exit_code(
    kinmem: Kinmem, memorized: Memorized, monkeypatch: pytest.MonkeyPatch
) -> None:
    memorized("I live in Bremen.")
    monkeypatch.setenv("KINMEM_MODEL", "nobody/knows-it")

    ran = kinmem("review", "--json")

    assert (ran.code, ran.json["degraded"]) == (1, ["review_model"])


def test_explore_tells_relations_neighbours_and_the_way(
    kinmem: Kinmem, memorized: Memorized
) -> None:
    memorized("My sister Clara works at Nokia")
    memorized("Karen is Clara's manager")
    memorized("Karen founded Blue Kite")

    ran = kinmem("explore", "clara", "--depth", "2", "--to", "Blue Kite")

    assert ran.code == 0
    assert ran.out.splitlines()[0] == "Clara  person"
    for line in ("reports to  Karen", "works at    Nokia", "sibling of  the user"):
        assert line in ran.out
    assert re.search(r"Karen +founded +Blue Kite", ran.out)
    assert "Clara -reports to-> Karen -founded-> Blue Kite" in ran.out
    assert "My sister Clara works at Nokia" in ran.out


def test_explore_says_where_no_way_is_known(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("Clara works at Nokia")
    memorized("Tom lives in Ulm")

    assert "No way of five relations" in kinmem("explore", "clara", "--to", "Ulm").out


def test_explore_tells_aliases_and_what_is_past(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("Anna Schmidt works at Bosch. Anna likes tea.")
    old = memorized("Tom lives in Ulm")
    kinmem("update", old, "--archive")

    known, past = kinmem("explore", "anna"), kinmem("explore", "Tom")

    assert "also called Anna, merged into this name: " in known.out
    assert kinmem("explore", "anna", "--json").json["aliases"] == ["Anna"]
    assert "Nothing told here holds now" in past.out
    assert re.search(r"lives in +Ulm +\S+ +until 20", past.out)
    assert "(archived) Tom lives in Ulm" in past.out
    assert kinmem("explore", "Tom", "--json").json["past"] is True


def test_explore_of_nobody_names_the_next_step(kinmem: Kinmem) -> None:
    ran = kinmem("explore", "Zora")

    assert ran.code != 0
    assert "nothing is known by the name 'Zora'; try another spelling" in ran.err


def test_options_take_times_in_words(kinmem, memorized):
    told = kinmem(
        *("memorize", "The boiler was serviced"),
        *("--occurred-at", "3 days ago", "--expires", "in 3 days"),
    ).out
    (one,) = kinmem("list", "--json").json["memories"]
    shown = re.search(r"expires at +(\S+ \S+) \(in 3d\)", kinmem("show", one["id"]).out)

    assert shown and f"ends {shown[1]}" in told
    assert kinmem("list", "--since", "last week").out
    assert kinmem("list", "--since", "tomorrow").out == "Nothing fits.\n"
    assert kinmem("timeline", "--day", "3 days ago", "--json").json["memories"]
    assert kinmem("recall", "boiler", "--as-of", "today").code == 0


def test_no_answer_is_told_as_impossible_or_certain(kinmem: Kinmem, memorized: Memorized) -> None:
    memorized("Clara plays the cello in Lyon")
    memorized("The dishwasher is repaired by Mr. Novak")

    told = [
        kinmem("recall", question, *more).out
        for question in ("Who repairs the dishwasher?", "What is the name of my dog?")
        for more in ((), ("--explain",))
    ]

    assert "under 1%" in "".join(told) and "Novak" in told[0]
    assert not any(re.search(r"(?<![\d.])(0|100)%", one) for one in told)
