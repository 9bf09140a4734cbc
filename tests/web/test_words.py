"""The two catalogues of the page, the files that others have written, and their sizes."""

import ast
import hashlib
import re
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from string import Formatter

import pytest

from kinmem.errors import (
    EntityNotFound,
    KeySpent,
    KinmemError,
    LaterChange,
    Overloaded,
    StillWorking,
    StoreError,
    TooLarge,
    TooManyShared,
    VersionConflict,
)
from kinmem.models import CATEGORIES, Issue, State
from kinmem.models.hits import LABELS
from kinmem.settings import knobs
from kinmem.web.views import VIEWS
from kinmem.web.words import LANGUAGES, chosen, language
from tests.tables import each

ROOT = Path(__file__).parents[2]
WEB = ROOT / "kinmem" / "web"
SOURCES = [*WEB.rglob("*.py"), *WEB.rglob("*.html")]
NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
# Families whose keys are put together: of `name`, and of texts that end in what they are about.
FAMILIES = re.compile(r"""name\(\s*["'](\w+)["']|["']((?:\w+\.)+)["']\s*[+~]|f["']((?:\w+\.)+)\{""")


# Behind which argument of an error the case stands.
CASE_AT = {"InvalidInput": 1, "Unreadable": 2}
ERRORS = [
    KeySpent(),
    TooLarge("content", 2, 1),
    EntityNotFound("Ana"),
    VersionConflict("x", 1, 2),
    LaterChange("write 1", ["2", "3"]),
    Overloaded(3, 1),
    StillWorking(45.0, 5),
    TooManyShared(20, 7),
]


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_say_the_same() -> None:
    ours, theirs = (language(code).words for code in LANGUAGES)

    assert ours.keys() == theirs.keys()
    for key, text in ours.items():
        assert fields(text) - {"n"} == fields(theirs[key]) - {"n"}, key


def test_every_text_is_used() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    quoted = set(re.findall(r"""["']([\w.-]+)["']""", text))
    families = {f"{a or b or c}".rstrip(".") for a, b, c in FAMILIES.findall(text)}
    families |= {"scope", "category", "state", "tier", "pinned", "month", "time.ago", "time.ahead"}

    unused = [
        key
        for key in language("en").words
        if not {key, re.sub(r"[.](one|other)$", "", key)} & quoted
        and not any(key.startswith(f"{family}.") for family in families)
    ]
    assert unused == []


def test_every_text_that_is_asked_for_exists() -> None:
    words = language("en").words
    for path in SOURCES:
        for key in re.findall(r"""\b_\(\s*["']([\w.]+)["']""", path.read_text(encoding="utf-8")):
            assert key in words or key.endswith("."), f"{path.name}: {key}"


def test_every_fixed_word_of_a_memory_and_every_view_has_a_name() -> None:
    wanted = {f"view.{view.name}" for view in VIEWS} | {f"group.{view.group}" for view in VIEWS}
    wanted |= {f"category.{one}" for one in CATEGORIES} | {f"state.{one}" for one in State}

    assert wanted - language("de").words.keys() == set()


def test_every_factor_of_a_score_has_a_name() -> None:
    factors = {label.lstrip("+x").replace(" ", "_") for label in LABELS}

    assert {f"why.{one}" for one in factors} - language("de").words.keys() == set()


def test_every_error_can_be_told_in_both_languages() -> None:
    kinds: list[type[KinmemError]] = [KinmemError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    codes = {kind.code for kind in kinds if kind.__module__ == KinmemError.__module__}

    assert {f"error.{code}" for code in codes} <= language("de").words.keys()
    assert "inzwischen geändert" in language("de").error(VersionConflict("x", 1, 2))
    assert "nicht zu benutzen (full)" in language("de").error(StoreError("full", "storage_full"))


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr,de;q=0.5,en;q=0.7", "en"),
        ("fr", "en"),
        (None, "en"),
        ("de;q=x,en", "en"),
        (";;,", "en"),
    ],
)
def test_the_browser_chooses_the_language(accepted: str | None, code: str) -> None:
    assert chosen(accepted).code == code


def test_numbers_and_times_are_written_as_people_write_them() -> None:
    en, de = language("en"), language("de")
    day = timedelta(days=1)

    assert (en.number(12345.6, 1), de.number(12345.6, 1)) == ("12,345.6", "12.345,6")
    assert en.ago(NOW - timedelta(seconds=50), NOW, UTC) == "just now"
    assert en.ago(NOW - timedelta(minutes=61), NOW, UTC) == "an hour ago"
    assert de.ago(NOW + 2 * day, NOW, UTC) == "in 2 Tagen"
    assert de.ago(NOW - 20 * day, NOW, UTC) == "4. Nov. 2026"
    assert 'title="2026-11-24 12:00:00 UTC"' in en.time(NOW, NOW, UTC)


def test_what_others_wrote_is_as_they_published_it() -> None:
    """Name, version, licence and checksum of each file that is not ours."""
    told = tomllib.loads((WEB / "static" / "vendored.toml").read_text(encoding="utf-8"))
    for name, file in told.items():
        path = ROOT / file["path"]
        assert hashlib.sha256(path.read_bytes()).hexdigest() == file["sha256"], name
        assert file["version"] and file["licence"] and file["source"].startswith("https://")
    known = {ROOT / file["path"] for file in told.values()}
    found = {*WEB.rglob("*.min.js"), *Path(__file__).parent.glob("*.min.js")}
    assert found == known


def test_all_static_files_together_are_small() -> None:
    size = sum(path.stat().st_size for path in (WEB / "static").rglob("*") if path.is_file())

    assert size < 700_000


def test_a_german_page_says_details_in_german() -> None:
    german = language("de")

    assert german.error(TooLarge("content", 70_000, 65_536)) == (
        "Text hat 70.000 Bytes, erlaubt sind 65.536. Kürzen oder teilen Sie es."
    )
    assert german.reason("on the page") == "auf der Seite"
    assert german.reason("as_he_said") == "as_he_said"
    expired = Issue(
        "x", "expired", ("1",), "expired", "delete", None, "expired", {"day": "2026-05-03"}
    )
    assert german.finding(expired) == "Abgelaufen am 3. Mai 2026."
    said_by_a_model = Issue("x", "stale", ("1",), "said long ago", "keep")
    assert german.finding(said_by_a_model) == "said long ago"
    for knob in knobs():
        assert german.setting(knob.variable, "") != "", knob.variable


@each("error", ERRORS, ids=lambda error: type(error).__name__)
def test_what_an_error_names_is_in_its_text(error: KinmemError) -> None:
    text = language("de").words[f"wrong.{type(error).__name__}"]
    assert fields(text) <= error.details.keys()
    assert "{" not in language("de").error(error)


def test_every_case_of_an_error_has_words_for_its_details() -> None:
    cases: dict[str, set[str]] = {}
    for path in (ROOT / "kinmem").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(call.func, "id", "") if isinstance(call, ast.Call) else ""
            if isinstance(call, ast.Call) and name in CASE_AT:
                details = {str(one.arg) for one in call.keywords} or {"file"}
                cases |= dict.fromkeys(_texts(call.args[CASE_AT[name] :]), details)

    words = language("de").words
    told = {key.removeprefix("wrong.") for key in words if key.startswith("wrong.")}
    assert cases.keys() == {case for case in told if case.islower()}
    for case, details in cases.items():
        assert fields(words[f"wrong.{case}"]) <= details, case


def _texts(nodes: list[ast.expr]) -> set[str]:
    return {
        one.value
        for node in nodes
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


def test_every_finding_of_a_review_has_words() -> None:
    review = (ROOT / "kinmem" / "upkeep" / "review.py").read_text(encoding="utf-8")
    codes = set(re.findall(r'finding="(\w+)"|, "(\w+)"\)$', review, re.MULTILINE))
    known = {
        key.removeprefix("finding.") for key in language("en").words if key.startswith("finding.")
    }
    assert {a or b for a, b in codes} - {"kin"} <= known
    assert {"conflict", "same", "faded", "replaced"} <= known
