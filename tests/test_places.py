"""What was learned in one project is not told as if it held in another."""

import cProfile
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kinmem.errors import InvalidInput
from kinmem.hooks.dialects import heard
from kinmem.hooks.local_socket import attend
from kinmem.learn.drafting import judgement
from kinmem.mcp import tool_answers
from kinmem.models.places import compare_places, name_of, place_of, spoken_of, working_in
from kinmem.service import Service
from kinmem.store.sqlite.connection import SqliteDatabase

PNPM = "We use pnpm in this repo, never npm or yarn."
DECIDED = "We decided to write the migrations of this repo by hand."


@pytest.fixture
def projects(tmp_path: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        root = tmp_path / "code" / name
        (root / ".git").mkdir(parents=True, exist_ok=True)
        (root / "src").mkdir(exist_ok=True)
        return root

    return make


def said(service: Service, session: str, folder: Path | None, *prompts: str) -> list[str]:
    """The notes that each prompt got; what was said is learned before the next."""
    notes = []
    for at, prompt in enumerate(prompts):
        place = None if folder is None else str(folder)
        notes.append(service.observe("prompt", session, f"{at}", prompt, place=place).notes)
        service.observe("answer", session, f"{at}", "Noted.", place=place)
        service.sleep(["learn"])
        service.settle(10)
    return notes


def opening(service: Service, folder: Path | None) -> str:
    return service.opening(f"opens {folder}", place=None if folder is None else str(folder))


def test_a_rule_of_one_repository_is_not_told_in_another(
    service: Service, projects: Callable[[str], Path]
) -> None:
    a, b = projects("parcels"), projects("invoices")
    said(service, "1", a / "src", PNPM, DECIDED)

    in_b = said(service, "2", b, "Which package manager does this repo use, pnpm or npm?")
    in_a = said(service, "3", a, "Which package manager does this repo use, pnpm or npm?")

    assert "pnpm in this repo" not in in_b[0]
    assert "by hand" not in opening(service, b)
    assert "pnpm in this repo" in in_a[0]
    assert "by hand" in opening(service, a / "src")
    assert "by hand" in opening(service, None)  # no place known: told


def test_who_somebody_is_and_likes_holds_everywhere(
    service: Service, projects: Callable[[str], Path]
) -> None:
    said(
        service,
        "1",
        projects("parcels"),
        "My name is Nora and I live in Leeds.",
        "I prefer tabs to spaces in every editor.",
        "Always answer in German.",
        "My daughter Mia is allergic to peanuts.",
    )

    told = opening(service, projects("invoices"))

    for what in ("Leeds", "tabs", "German", "peanuts"):
        assert what in told


LIVES = (
    "We are getting married in June.",
    "Our daughter Lena is six.",
    "我喜欢喝绿茶。",
    "Nuestra hija se llama Ana.",
    "Wir ziehen im Herbst nach Graz.",
    "Notre fils joue du violon.",
    "O nosso filho tem asma.",
    "Ci sposiamo a settembre.",
    "我们下个月结婚。",
    "Our neighbour Mrs. Szabo waters the plants.",
    "Nils is allergic to penicillin.",
)
WORK = (
    "Our release train leaves on Wednesdays.",
    "Our customer Palmgren is on the legacy plan.",
    "Unsere Pipeline braucht neun Minuten.",
    "Nuestra base de datos está en Dublín.",
    "Le module de paie appartient à Bastien.",
    "Il nostro server di prova è stg2.",
    "Decidimos usar o chi.",
    "每次提交前都要跑lint。",
    "We got rid of Kafka last spring.",
    "Zuzana owns the payments module.",
)
"""Written before the code that tells them apart, and no part of what it was trained with."""


def test_the_life_of_a_family_holds_everywhere_and_the_work_of_a_team_in_its_project(
    service: Service, projects: Callable[[str], Path]
) -> None:
    parcels = projects("parcels")
    said(service, "1", parcels, *LIVES, *WORK)
    learned = {one.content: one.place for one in service.list_memories(limit=100).memories}
    service.here = place_of(str(projects("invoices")))
    told = {text: service.get(service.memorize(f"{text} ").id or "").place for text in LIVES + WORK}

    here = str(parcels.resolve())
    assert {learned[text] for text in LIVES} == {None}
    assert {learned[text] for text in WORK} == {here}
    assert {told[text] for text in LIVES} == {None}
    assert {told[text] for text in WORK} == {service.here}


def test_how_somebody_works_in_one_repository_is_not_told_in_another(
    service: Service, projects: Callable[[str], Path]
) -> None:
    a, b = projects("parcels"), projects("invoices")
    said(service, "1", a, "I write migrations by hand.", "I'm vegetarian and I live in Bern.")

    places = {one.content: one.place for one in service.list_memories().memories}
    [in_b] = said(service, "2", b, "add a migration for the users table")
    [in_a] = said(service, "3", a, "add a migration for the users table")

    assert places["I write migrations by hand."] == str(a)
    assert places["I'm vegetarian and I live in Bern."] is None
    assert "by hand" in in_a and "by hand" not in in_b


@pytest.mark.parametrize(
    ("question", "is_weak"),
    [
        ("Which package manager here?", True),
        ("Which package manager do we use in this project?", True),
        ("Quel gestionnaire pnpm ici ?", True),
        ("这里用 pnpm 吗？", True),
        ("Qui utilise pnpm ?", False),
        ("Which package manager do we use?", False),
    ],
)
def test_what_is_asked_of_here_is_not_answered_by_another_project(
    service: Service, projects: Callable[[str], Path], question: str, is_weak: bool
) -> None:
    said(service, "1", projects("parcels"), PNPM)

    with working_in(str(projects("invoices"))):
        answer = service.recall(question)

    assert [hit.weak for hit in answer.hits if not hit.is_turn] == [is_weak]
    assert answer.abstained is is_weak


def test_recall_prefers_the_project_at_hand_and_says_what_comes_from_elsewhere(
    service: Service, projects: Callable[[str], Path]
) -> None:
    a, b = projects("parcels"), projects("invoices")
    service.memorize("The default branch is trunk.", place=str(a))
    service.memorize("The default branch is main.", place=str(b))
    service.here = place_of(str(b))

    answer = service.recall("what is the default branch?")
    found = tool_answers.Recalled.of(answer, service, explain=False)
    explained = tool_answers.Recalled.of(answer, service, explain=True)

    assert [(one.place, one.elsewhere) for one in found.memories] == [
        ("invoices", None),
        ("parcels", True),
    ]
    assert [one.place for one in explained.memories] == [str(b.resolve()), str(a.resolve())]
    assert explained.memories[1].why is not None
    assert "xelsewhere" in explained.memories[1].why


def test_a_place_is_a_filter_by_name_or_path(
    service: Service, projects: Callable[[str], Path]
) -> None:
    a, b = projects("parcels"), projects("invoices")
    service.memorize("The default branch is trunk.", place=str(a))
    service.memorize("The default branch is main.", place=str(b / "src"))
    service.memorize("The default branch of everything else is master.")

    for wanted in ("Parcels", str(a), str(a / "src")):
        page = service.list_memories(place=wanted)
        assert [one.content for one in page.memories] == ["The default branch is trunk."]
        hits = service.recall("default branch", place=wanted).hits
        assert [hit.memory.content for hit in hits] == ["The default branch is trunk."]
    assert service.list_memories(place="unheard of").memories == []
    with pytest.raises(InvalidInput, match="no project known"):
        service.memorize("The default branch is dev.", place="unheard of")


def test_a_statement_of_one_project_neither_ends_nor_repeats_that_of_another(
    service: Service, projects: Callable[[str], Path]
) -> None:
    a, b = projects("parcels"), projects("invoices")
    first = service.memorize("The production database is MySQL.", place=str(a))
    same = service.memorize("The production database is MySQL.", place=str(b))
    service.memorize("The production database is Postgres now, not MySQL.", place=str(b))

    assert same.status == "created"
    assert service.get(first.id or "").state == "active"


def test_what_an_agent_memorizes_in_a_project_is_the_projects_unless_it_is_about_the_user(
    service: Service, projects: Callable[[str], Path]
) -> None:
    service.here = place_of(str(projects("parcels")))
    rule = service.memorize("Deploys go through the release train.", category="decision")
    user = service.memorize("The user is vegetarian.")
    set_free = service.update_memory(rule.id or "", place=None)

    assert service.get(user.id or "").place is None
    assert set_free.place is None
    again = service.memorize("Releases are tagged by hand.", category="decision")
    assert service.get(again.id or "").place == service.here


def test_what_is_memorized_before_the_model_is_loaded_is_placed_as_later(home: Path) -> None:
    script = """
import sys
from kinmem.settings import load
from kinmem.wiring.open_memory import open_service

settings = load({"KINMEM_HOME": sys.argv[1], "KINMEM_KIN": "ana"})
with open_service(settings, resident=False) as service:  # nothing loads the model beforehand
    service.here = "/code/parcels"
    told = service.memorize("Our cat Miso needs insulin at 8 am."), service.memorize("We use pnpm.")
    print([service.get(one.id).place for one in told])
"""
    command = [sys.executable, "-c", script, str(home)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)

    assert told.stdout.strip() == "[None, '/code/parcels']"


ALIKE = "Releases are tagged by the release manager."


def learned_alike(service: Service, projects: Callable[[str], Path], *names: str) -> list[str]:
    """Ids of the same statement in several projects."""
    return [
        service.memorize(ALIKE, category="decision", place=str(projects(name))).id or ""
        for name in names
    ]


def test_what_is_learned_alike_in_three_projects_holds_everywhere(
    service: Service, projects: Callable[[str], Path]
) -> None:
    first, *others = learned_alike(service, projects, "parcels", "invoices", "shop")
    assert ALIKE not in opening(service, projects("fourth"))

    service.sleep(["consolidate"])
    told = opening(service, projects("fifth"))
    at_home = opening(service, projects("shop"))
    again = service.memorize(ALIKE, category="decision", place=str(projects("sixth")))

    assert ALIKE in told
    assert at_home.count(ALIKE) == 1
    assert again.status == "duplicate_of"
    event = service.history(first)[0]
    assert (event.action, event.reason) == (
        "everywhere",
        "learned alike in parcels, invoices and shop",
    )
    assert [service.get(id).place is None for id in (first, *others)] == [True, False, False]
    assert len(service.recall("who tags releases?").hits) == 1


def test_what_was_undone_stays_in_its_projects(
    service: Service, projects: Callable[[str], Path]
) -> None:
    first, *_ = learned_alike(service, projects, "parcels", "invoices", "shop")
    service.sleep(["consolidate"])

    service.undo(service.history(first)[0].write)
    service.sleep(["consolidate"])

    assert service.get(first).place == str(projects("parcels").resolve())
    assert ALIKE not in opening(service, projects("fourth"))


def test_what_was_forgotten_does_not_hold_everywhere_by_another_of_the_projects(
    service: Service, projects: Callable[[str], Path]
) -> None:
    first, *others = learned_alike(service, projects, "parcels", "invoices", "shop", "garden")
    service.sleep(["consolidate"])

    service.forget(first)
    service.sleep(["consolidate"])

    assert all(service.get(id).place is not None for id in others)


def test_what_three_projects_say_of_three_people_holds_in_its_project(
    service: Service, projects: Callable[[str], Path]
) -> None:
    whose = zip(("Anna", "Ben", "Tom"), ("parcels", "invoices", "shop"), strict=True)
    told = [
        service.memorize(ALIKE, category="decision", subject=who, place=str(projects(name))).id
        for who, name in whose
    ]

    service.sleep(["consolidate"])

    assert all(service.get(id).place is not None for id in told if id)


def test_undo_takes_back_what_was_told_and_not_that_it_holds_everywhere(
    service: Service, projects: Callable[[str], Path]
) -> None:
    learned_alike(service, projects, "parcels", "invoices", "shop")
    told = service.memorize("The red bicycle is in the cellar.").id or ""
    service.sleep(["consolidate"])

    undone = service.undo()

    assert dict(undone.became) == {told: "gone"}


def test_two_projects_prove_nothing_nor_does_one_that_was_moved(
    service: Service, projects: Callable[[str], Path], tmp_path: Path
) -> None:
    ids = learned_alike(service, projects, "parcels", "invoices")
    moved = tmp_path / "elsewhere" / "parcels"
    (moved / ".git").mkdir(parents=True)
    shutil.rmtree(projects("parcels"))
    ids.append(service.memorize(ALIKE, category="decision", place=str(moved)).id or "")

    service.sleep(["consolidate"])

    assert None not in [service.get(id).place for id in ids]


@pytest.mark.skipif(shutil.which("git") is None, reason="makes a worktree with git")
def test_worktrees_links_and_folders_of_a_repository_are_one_place(tmp_path: Path) -> None:
    main, tree, link = tmp_path / "main", tmp_path / "tree", tmp_path / "link"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(main)]
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True)
    (tree / "deep").mkdir()
    link.symlink_to(main)

    places = {place_of(str(folder)) for folder in (main, tree, tree / "deep", link)}

    assert places == {str(main.resolve())}


def test_a_home_folder_and_no_repository_are_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".git").mkdir(parents=True)
    (home / "notes").mkdir()
    (tmp_path / "plain").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))

    for folder in (home, home / "notes", tmp_path / "plain", Path("/"), Path("src")):
        assert place_of(str(folder)) is None
    assert place_of(None) is None
    assert place_of("/gone/and\0away") is None


def test_a_repository_that_was_moved_keeps_its_rules(
    service: Service, projects: Callable[[str], Path], tmp_path: Path
) -> None:
    a = projects("parcels")
    service.memorize("We decided to use trunk-based development.", place=str(a))
    moved = tmp_path / "work"
    moved.mkdir()
    shutil.move(a, moved / "parcels")

    assert "trunk-based" in opening(service, moved / "parcels")
    assert "trunk-based" not in opening(service, projects("other"))


@pytest.mark.parametrize("parent", ["aaa", "zzz"])
def test_what_a_repository_that_may_have_moved_says_otherwise_is_asked_about_and_both_stay(
    service: Service, projects: Callable[[str], Path], tmp_path: Path, parent: str
) -> None:
    before, moved = projects("parcels"), tmp_path / parent / "parcels"
    first = service.memorize("The API listens on port 8080.", place=str(before))
    (moved / ".git").mkdir(parents=True)
    shutil.rmtree(before)
    service.here = place_of(str(moved))
    second = service.memorize("The API now listens on port 9090.")

    issues = service.review_memories().issues

    assert (first.status, second.status) == ("created", "created")
    assert [set(one.memory_ids) for one in issues] == [{first.id, second.id}]


def test_places_are_the_same_perhaps_the_same_or_others(
    projects: Callable[[str], Path], tmp_path: Path
) -> None:
    here, other = str(projects("parcels")), str(projects("invoices"))
    gone, fork = str(tmp_path / "gone" / "parcels"), tmp_path / "fork" / "parcels"
    fork.mkdir(parents=True)

    assert compare_places(here, here) == compare_places(None, here) == "same"
    assert compare_places(here, gone) == compare_places(gone, here) == "perhaps"
    assert compare_places(here, str(fork)) == compare_places(here, other) == "other"


def test_a_hook_tells_the_clients_folder(service: Service, projects: Callable[[str], Path]) -> None:
    a = projects("parcels")
    base = {"session_id": "s", "cwd": str(a / "src"), "prompt_id": "p"}
    prompt = {**base, "hook_event_name": "UserPromptSubmit", "prompt": DECIDED}
    answer = {**base, "hook_event_name": "Stop", "last_assistant_message": "Noted."}
    attend(service, heard(prompt))
    attend(service, heard(answer))
    service.sleep(["learn"])

    [one] = service.list_memories().memories

    assert one.place == str(a.resolve())


def test_memories_of_an_earlier_version_get_the_place_of_their_turn(
    service_of: Callable[..., Service], projects: Callable[[str], Path], home: Path
) -> None:
    a = projects("parcels")
    first = service_of("bob")
    said(first, "1", a, DECIDED, "I prefer tabs to spaces.")
    first.close()
    database = SqliteDatabase(home / "kins" / "bob.db")
    with database.writing() as db:  # as the migration leaves them
        db.run("UPDATE memories SET place = '?' || ?", (str(a / "src"),))
    database.close()

    places = {one.category: one.place for one in service_of("bob").list_memories().memories}

    assert places == {"decision": str(a.resolve()), "preference": None}


@pytest.mark.parametrize("text", [PNPM, "My daughter Mia is allergic to peanuts."])
def test_a_statement_is_judged_once(
    service: Service, projects: Callable[[str], Path], text: str
) -> None:
    anywhere = service.memorize(text)
    service.forget(anywhere.id, erase=True)
    service.here = place_of(str(projects("parcels")))
    profile = cProfile.Profile()
    with profile:
        stored = service.memorize(text)

    code = judgement.__code__
    calls = [one.callcount for one in profile.getstats() if one.code is code]
    assert calls == [1]
    assert (stored.category, stored.importance) == (anywhere.category, anywhere.importance)
    refused = service.memorize_many([f"{text} " + "AKIA" + "Q7RT2MNB5KJ3LD4W", text])
    assert [one.status for one in refused] == ["refused", "duplicate_of"]


def test_what_names_a_project_belongs_to_it_wherever_it_was_said(
    service: Service, projects: Callable[[str], Path]
) -> None:
    stable, invoices = projects("stallplan"), projects("invoices")
    said(service, "1", stable, "We decided to keep the port of our API at 8000.")
    said(service, "2", invoices, "In this project Postgres listens on port 5440 locally.")

    said(service, "3", invoices, "I switched Stallplan from SQLite to Postgres on port 5439.")

    [switched] = [one for one in service.list_memories().memories if "5439" in one.content]
    assert switched.place == str(stable.resolve())
    assert not service.store.decisions.conflicts()
    assert "5439" not in service.opening("4", place=str(invoices))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Stallplan runs on Postgres", "stallplan"),
        ("the api-gateway is behind nginx", "api-gateway"),
        ("the website is behind nginx", None),
        ("Stallplaner is another word", None),
        ("Stallplan calls api-gateway", None),
        ("see /srv/Stallplan/readme", None),
    ],
)
def test_a_place_is_meant_by_its_name(text: str, meant: str | None) -> None:
    known = ["/code/stallplan", "/code/api-gateway", "/code/website", "/code/web"]

    place = spoken_of(text, known)

    assert (place and name_of(place)) == meant


def test_what_holds_everywhere_questions_no_other_project(
    service: Service, projects: Callable[[str], Path]
) -> None:
    parcels, invoices = projects("parcels"), projects("invoices")
    said(service, "1", parcels, "In this repo our database is Postgres 15.")

    said(service, "2", invoices, "I'm on Postgres 17 everywhere, our database is Postgres 17.")

    assert not service.store.decisions.conflicts()
