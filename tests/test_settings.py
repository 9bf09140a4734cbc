"""Where settings come from, which of them win, and what is refused."""

import re
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest

from kinmem.errors import ConfigError, InvalidInput
from kinmem.models import Curve
from kinmem.settings import (
    HOME_VARIABLE,
    RANKING_VARIABLES,
    Settings,
    kin_name,
    knobs,
    load,
    table,
    unread,
)
from kinmem.settings.memory_settings import Prune
from tests.tables import each

VARIABLES = {knob.variable: knob for knob in knobs()}


def value(settings: Settings, variable: str) -> Any:
    knob = VARIABLES[variable]
    return getattr(getattr(settings, knob.section), knob.name)


def file_of(home: Path, text: str) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text, encoding="utf-8")


def loaded(home: Path, environment: Mapping[str, str] = {}, **flags: Any) -> Settings:
    return load({HOME_VARIABLE: home, **flags}, environment=environment)


# which origin wins

ORIGINS = {
    "config.toml": "MEMORY_MAX_RELEVANT = 2\n",
    "config.toml [kin.ana]": "[kin.ana]\nMEMORY_MAX_RELEVANT = 3\n",
    "environment": {"MEMORY_MAX_RELEVANT": "4"},
    "flag": {"MEMORY_MAX_RELEVANT": 5},
}


@pytest.mark.parametrize("count", range(5))
def test_the_nearest_origin_wins_and_is_remembered(home: Path, count: int) -> None:
    """With the first `count` origins set, the last of them decides."""
    names = list(ORIGINS)[:count]
    file_of(home, "".join(str(ORIGINS[name]) for name in names if name.startswith("config")))
    environment = dict(ORIGINS["environment"]) if "environment" in names else {}
    flags = dict(ORIGINS["flag"]) if "flag" in names else {}

    settings = loaded(home, environment, KINMEM_KIN="ana", **flags)

    assert settings.recall.max_relevant == [10, 2, 3, 4, 5][count]
    assert settings.origins.get("MEMORY_MAX_RELEVANT") == (names[-1] if names else None)


@pytest.mark.parametrize(
    "kin_from",
    [
        pytest.param({"flags": {"KINMEM_KIN": "ana"}}, id="flag"),
        pytest.param({"environment": {"KINMEM_KIN": "ana"}}, id="environment"),
        pytest.param({"file": 'KINMEM_KIN = "ana"\n'}, id="file"),
    ],
)
def test_the_section_of_a_kin_counts_wherever_the_kin_is_named(
    home: Path, kin_from: dict[str, Any]
) -> None:
    sections = "[kin.ana]\nMEMORY_RRF_K = 7\n[kin.bob]\nMEMORY_RRF_K = 8\n"
    file_of(home, kin_from.get("file", "") + sections)

    settings = loaded(home, kin_from.get("environment", {}), **kin_from.get("flags", {}))

    assert settings.general.kin == "ana"
    assert settings.recall.rrf_k == 7


def test_without_a_name_the_kin_is_default_and_its_section_counts(home: Path) -> None:
    file_of(home, "[kin.default]\nMEMORY_RRF_K = 7\n")

    assert loaded(home).recall.rrf_k == 7


def test_another_kins_section_does_not_count(home: Path) -> None:
    file_of(home, "[kin.bob]\nMEMORY_RRF_K = 8\n")

    settings = loaded(home, KINMEM_KIN="ana")

    assert settings.recall.rrf_k == 60
    assert "MEMORY_RRF_K" not in settings.origins


def test_a_flag_that_was_not_given_leaves_the_environment_in_force(home: Path) -> None:
    settings = loaded(home, {"KINMEM_PORT": "9000"}, KINMEM_PORT=None)

    assert settings.server.port == 9000


@pytest.mark.parametrize(
    ("flags", "environment", "expected"),
    [
        pytest.param({HOME_VARIABLE: "/a"}, {HOME_VARIABLE: "/b"}, "/a", id="flag"),
        pytest.param({}, {HOME_VARIABLE: "/b"}, "/b", id="environment"),
        pytest.param({HOME_VARIABLE: None}, {HOME_VARIABLE: "/b"}, "/b", id="flag not given"),
        pytest.param({}, {}, "~/.kinmem", id="default"),
        pytest.param({}, {HOME_VARIABLE: ""}, "~/.kinmem", id="empty"),
        pytest.param({}, {HOME_VARIABLE: "~/elsewhere"}, "~/elsewhere", id="tilde"),
        pytest.param({}, {HOME_VARIABLE: "here"}, "here", id="relative becomes absolute"),
    ],
)
def test_home(flags: dict[str, Any], environment: dict[str, str], expected: str) -> None:
    home = load(flags, environment=environment).home

    assert home == Path(expected).expanduser().absolute()


def test_the_process_environment_is_read_when_no_other_is_given(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MAX_RELEVANT", "4")

    settings = load()

    assert settings.home == home
    assert settings.recall.max_relevant == 4


# what is refused

UNKNOWN = [
    ("KINMEM_KNI", "KINMEM_KIN"),
    ("KINMEM_PURGE_DAY", "KINMEM_PURGE_DAYS"),
    ("KINMEM_SOMETHING_ELSE_ALTOGETHER", None),
    ("MEMORY_MAX_RELEVENT", "MEMORY_MAX_RELEVANT"),
    ("MEMORY_MAX_RELEVAN", "MEMORY_MAX_RELEVANT"),
    ("MEMORY_RRFK", "MEMORY_RRF_K"),
    ("COMPACTING_BATCH_TURN", "COMPACTING_BATCH_TURNS"),
    ("TOOL_OUTPUT_TTL_HOUR", "TOOL_OUTPUT_TTL_HOURS"),
    ("OBSERVATION_MAX_CHAR", "OBSERVATION_MAX_CHARS"),
    ("HISTORY_TOKEN_BUGDET", "HISTORY_TOKEN_BUDGET"),
]


@pytest.mark.parametrize(("name", "nearest"), UNKNOWN)
def test_an_unknown_name_is_refused_and_the_nearest_is_named(
    home: Path, name: str, nearest: str | None
) -> None:
    with pytest.raises(ConfigError) as refused:
        loaded(home, {name: "1"})

    assert name in str(refused.value)
    assert nearest is None or str(refused.value).endswith(f"did you mean {nearest}?")


@pytest.mark.parametrize(
    "name",
    ["MEMORY_LIMIT", "MEMORY_PRESSURE_WATCH", "TOOL_PATH", "HISTORY_FILE", "kinmem_port", "PATH"],
)
def test_names_of_other_programs_are_left_alone(home: Path, name: str) -> None:
    assert loaded(home, {name: "1"}).origins == {}


@pytest.mark.parametrize("place", ["", "[kin.ana]\n"], ids=["top", "section of the Kin"])
@pytest.mark.parametrize("name", ["MEMORY_LIMIT", "max_relevant", "KINMEM_KNI"])
def test_the_file_is_ours_so_any_unknown_name_in_it_is_refused(
    home: Path, place: str, name: str
) -> None:
    file_of(home, f"{place}{name} = 1\n")

    with pytest.raises(ConfigError, match=rf"config\.toml.*{name}.*did you mean"):
        loaded(home, KINMEM_KIN="ana")


def test_a_setting_of_an_earlier_version_does_nothing(home: Path) -> None:
    file_of(home, "KINMEM_ENTITY_BOOST = 0.1\n")

    assert loaded(home, {"KINMEM_ENTITY_BOOST": "0.2"}).origins == {}


def test_a_blank_model_is_none_wherever_it_is_set(home: Path) -> None:
    file_of(home, 'KINMEM_MODEL = "  "\n[kin.ana]\nMEMORY_EXTRACTION_MODEL = ""\n')

    settings = loaded(home, KINMEM_KIN="ana", KINMEM_REVIEW_MODEL=" ")

    assert [settings.model.named(use) for use in ("extraction", "review")] == [None, None]


def test_a_seeds_name_that_counts_messages_says_what_counts_turns(home: Path) -> None:
    file_of(home, "[kin.ana]\nmessage_threshold = 30\n")

    with pytest.raises(ConfigError, match="Set turn_threshold"):
        loaded(home, KINMEM_KIN="ana")


def test_an_unknown_flag_is_refused(home: Path) -> None:
    with pytest.raises(ConfigError, match="flag sets MEMORY_NO_SUCH"):
        loaded(home, MEMORY_NO_SUCH=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("MEMORY_RRF_K = ", "cannot be read", id="not TOML"),
        pytest.param("MEMORY_RRF_K = 1\nMEMORY_RRF_K = 2", "cannot be read", id="key twice"),
        pytest.param('MEMORY_RRF_K = "many"', "MEMORY_RRF_K", id="wrong type"),
        pytest.param("MEMORY_RRF_K = [1]", "MEMORY_RRF_K", id="list"),
        pytest.param("[providers.x]\nbase_url = 'http://localhost'", "providers.x", id="no type"),
        pytest.param("[providers.x]\ntype = 'ollama'\nurl = 'x'", "providers.x", id="unknown key"),
        pytest.param("providers = 1", "providers", id="providers is no table"),
        pytest.param("kin = 1", "kin", id="kin is no table"),
        pytest.param("[kin]\nana = 1", "kin", id="a Kin is no table"),
        pytest.param("[kin.ana]\nKINMEM_KIN = 'bob'", "KINMEM_KIN", id="a Kin renames itself"),
    ],
)
def test_a_bad_file_is_refused_with_its_reason(home: Path, text: str, said: str) -> None:
    file_of(home, text)

    with pytest.raises(ConfigError, match=re.escape(said)):
        loaded(home, KINMEM_KIN="ana")


def test_a_file_that_is_not_utf8_is_refused(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_bytes(b"KINMEM_TZ = '\xff'")

    with pytest.raises(ConfigError, match="cannot be read"):
        loaded(home)


def test_a_folder_in_place_of_the_file_is_refused(home: Path) -> None:
    (home / "config.toml").mkdir(parents=True)

    with pytest.raises(ConfigError, match="cannot be read"):
        loaded(home)


def test_no_file_is_no_error(home: Path) -> None:
    assert loaded(home / "not" / "there").origins == {}


# bounds: variable, accepted texts, refused texts

BOUNDS = [
    ("KINMEM_KIN", ["a", "7", "ana-2_b", "a" * 64], ["Ana", "-a", "a_", "../x", "a" * 65, "con"]),
    ("KINMEM_LOCKING", ["system", "lockfile"], ["none"]),
    (
        "KINMEM_STORE",
        ["postgresql://db.example.org/kinmem", "postgres://ana@/kinmem?host=/run/postgresql"],
        ["mysql://db/kinmem", "kinmem.db", "postgresql://ana:hidden@db/kinmem"],
    ),
    ("KINMEM_TZ", ["UTC", "Europe/Berlin"], ["Mars/Base", "../etc/passwd", "/etc/localtime"]),
    ("KINMEM_LOG_LEVEL", ["DEBUG", "INFO", "WARNING", "ERROR"], ["info!", "TRACE", "1"]),
    ("KINMEM_PURGE_DAYS", ["0", "90", "36500"], ["-1", "36501", "1.5", "soon"]),
    ("KINMEM_BACKUP_DAILY", ["on", "off"], ["yes", "weekly"]),
    ("KINMEM_BACKUP_DAYS", ["1", "7", "3660"], ["0", "3661", "-1", "1.5"]),
    ("KINMEM_BACKUP_WEEKS", ["0", "4", "520"], ["-1", "521", "soon"]),
    ("KINMEM_TRANSPORT", ["stdio", "http", "sse", "streamable-http"], ["ws", "HTTP"]),
    ("KINMEM_TOOL_SCHEMAS", ["plain", "strict"], ["Strict", "openai"]),
    ("KINMEM_SESSION_MINUTES", ["0.01", "30", "10080"], ["0", "10081", "nan", "soon"]),
    ("KINMEM_CALL_SECONDS", ["0.1", "45", "86400"], ["0", "86401", "nan", "soon"]),
    ("KINMEM_LOCAL_ONLY", ["true", "on", "off", "0"], ["2", "never"]),
    ("KINMEM_INSECURE_LOCAL", ["true", "on", "off", "0"], ["2", "local"]),
    ("KINMEM_WEB", ["true", "on", "off", "0"], ["2", "local"]),
    ("KINMEM_PORT", ["0", "1", "65535"], ["-1", "65536", "http"]),
    ("MEMORY_EMBEDDING_DIMENSION", ["8", "1536", "4096"], ["7", "4097", "0", "wide"]),
    ("KINMEM_EMBEDDING_DEADLINE", ["0.1", "600"], ["0", "601", "nan", "-1"]),
    ("KINMEM_DUPLICATE_SIMILARITY", ["0.5", "0.95", "1"], ["0.49", "1.01", "nan"]),
    ("MEMORY_MAX_RELEVANT", ["1", "20"], ["0", "21", "ten", "1.5"]),
    ("KINMEM_TOOLS", ["turns", " turns ,knowledge"], ["everything", "turns,knowing"]),
    ("KINMEM_MODEL_DEADLINE", ["0.1", "3600"], ["0", "3601", "nan"]),
    ("KINMEM_LEARN", ["true", "false", "0", "1", "off"], ["2", "maybe"]),
    (
        "KINMEM_CONFLICT_MODE",
        ["keep_existing", "use_new", "merge", "ask", "temporal"],
        ["newest", "ASK"],
    ),
    ("KINMEM_SECRETS", ["refuse", "redact", "keep", "allow"], ["hide", "0"]),
    ("KINMEM_INJECT", ["true", "false", "0", "off"], ["2", "sometimes"]),
    ("MEMORY_TOKEN_BUDGET", ["0", "500", "1000000"], ["-1", "1000001", "many"]),
    ("KINMEM_LINGER_MINUTES", ["0", "0.5", "1440"], ["-1", "1441", "nan"]),
    ("KINMEM_OPENING_TOKENS", ["0", "1500"], ["-1", "1000001"]),
    ("COMPACTING_BATCH_TURNS", ["1", "10", "1000"], ["0", "1001", "-1", "1.5"]),
    ("COMPACTING_MIN_KEEP_TURNS", ["1", "15", "10000"], ["0", "10001"]),
    ("KINMEM_TURN_THRESHOLD", ["2", "25", "11000"], ["1", "11001"]),
    ("COMPACTING_MAX_SNAPSHOTS", ["1", "10", "1000"], ["0", "1001"]),
    ("COMPACTING_THRESHOLD_PERCENT", ["0", "75", "100"], ["-1", "101"]),
    ("KINMEM_CONTEXT_WINDOW", ["1000", "200000"], ["999", "100000001"]),
    ("TOOL_RESULT_MASK_KEEP_LAST", ["0", "2", "1000"], ["-1", "1001"]),
    ("OBSERVATION_COMPACTION_WINDOW", ["0", "10", "1000"], ["-1", "1001"]),
    ("OBSERVATION_MAX_CHARS", ["0", "200", "100000"], ["-1", "100001"]),
    ("HISTORY_TOKEN_BUDGET", ["0", "100000"], ["-1", "100000001"]),
    ("TOOL_OUTPUT_SPILL_THRESHOLD", ["0", "10000"], ["-1", "1000000001"]),
    ("TOOL_OUTPUT_PREVIEW_LINES", ["0", "200"], ["-1", "100001"]),
    ("TOOL_OUTPUT_TTL_HOURS", ["0", "0.5", "24"], ["-1", "1000001", "nan"]),
    ("MEMORY_CONSOLIDATION_SIMILARITY", ["0", "0.85", "1"], ["-0.1", "1.1", "nan"]),
    ("MEMORY_CONSOLIDATION_MAX_GEN", ["0", "5", "1000"], ["-1", "1001"]),
    ("KINMEM_TURNS_DAYS", ["0", "365", "36500"], ["-1", "36501", "soon"]),
    ("KINMEM_COMPRESS", ["true", "on", "off", "0"], ["2"]),
    ("KINMEM_RETENTION_CURVE", [*get_args(Curve)], ["ebbinghaus", "Kin"]),
    ("KINMEM_PRUNE", [*get_args(Prune)], ["on", "kore"]),
    ("KINMEM_JUDGE", ["on", "off"], ["maybe", "gpt-4.1"]),
    ("KINMEM_STALE_BELOW", ["0", "0.3", "1"], ["-0.1", "1.1", "nan"]),
    ("KINMEM_ARCHIVE_BELOW", ["0", "0.1", "1"], ["-0.1", "1.1"]),
    ("KINMEM_ARCHIVE_STALE_DAYS", ["0", "30", "36500"], ["-1", "36501", "1.5"]),
    ("KINMEM_DELETE_BELOW", ["0", "0.01", "1"], ["-0.1", "1.1"]),
    ("KINMEM_COMPRESS_SIMILARITY", ["0", "0.88", "1"], ["-0.1", "1.1"]),
    (
        "MEMORY_RANKING_PROFILE",
        [*get_args(VARIABLES["MEMORY_RANKING_PROFILE"].kind)],
        ["best", "Relevance"],
    ),
    ("MEMORY_FUSION", ["score", "rrf"], ["sum"]),
    ("MEMORY_SIMILARITY_THRESHOLD", ["0", "0.7", "1"], ["-0.1", "1.1", "nan", "inf"]),
    ("MEMORY_RRF_K", ["1", "60", "10000"], ["0", "10001"]),
    ("MEMORY_FTS_BOOST", ["0", "1.2", "100"], ["-1", "101", "nan"]),
    ("MEMORY_SUBJECT_BOOST", ["0", "1", "100"], ["-1", "101"]),
    ("MEMORY_CATEGORY_BOOST", ["0", "1", "100"], ["-1", "101"]),
    ("MEMORY_TEMPORAL_DECAY_LAMBDA", ["0", "0.01", "100"], ["-0.01", "inf", "nan"]),
    ("MEMORY_TEMPORAL_DECAY_FLOOR", ["0", "0.7", "1"], ["-0.1", "1.1"]),
    ("MEMORY_RECENCY_BOOST", ["true", "false", "0", "1", "off", "on"], ["perhaps", "2"]),
    ("KINMEM_WORKERS", ["1", "4", "64"], ["0", "65", "many"]),
    ("KINMEM_DRAIN_SECONDS", ["0", "20", "3600"], ["-1", "3601", "long"]),
    ("MEMORY_ADAPTIVE_K", ["true", "false", "0", "1"], ["perhaps"]),
    ("MEMORY_ADAPTIVE_K_MIN_SCORE_RATIO", ["0", "0.3", "1"], ["-0.1", "1.1"]),
    ("MEMORY_CONTEXTUAL_REWRITE_THRESHOLD", ["0", "80", "8192"], ["-1", "8193", "short"]),
    ("KINMEM_RECALL_DEADLINE", ["0.1", "600"], ["0", "601", "nan"]),
    ("KINMEM_RECALL_TURNS", ["true", "off", "0"], ["some"]),
    ("KINMEM_ABSTAIN", ["true", "false", "0", "1"], ["perhaps"]),
    ("KINMEM_ABSTAIN_BELOW", ["0", "0.05", "1"], ["-0.01", "1.01"]),
    ("KINMEM_SLEEP_EVERY", ["0", "60", "10080"], ["-1", "10081", "often"]),
    ("KINMEM_RECALL_TOKENS", ["200", "6000", "200000"], ["199", "200001"]),
]
FREE = {
    "MEMORY_EMBEDDING_MODEL",
    "KINMEM_MODEL",
    "MEMORY_EXTRACTION_MODEL",
    "COMPACTING_MODEL",
    "MEMORY_CONSOLIDATION_MODEL",
    "KINMEM_REVIEW_MODEL",
    "KINMEM_SUMMARY_MODEL",
    "MEMORY_CONTEXTUAL_REWRITE_MODEL",
    "MEMORY_MULTI_QUERY_MODEL",
    "MEMORY_HYDE_MODEL",
    "MEMORY_RERANK_MODEL",
    "KINMEM_HOST",
    "KINMEM_KEY",
    "KINMEM_ALLOWED_HOSTS",
}


def test_every_setting_has_its_bounds_tested() -> None:
    assert {variable for variable, _, _ in BOUNDS} | FREE == set(VARIABLES)


@each(("variable", "text"), [(variable, text) for variable, good, _ in BOUNDS for text in good])
def test_accepted(home: Path, variable: str, text: str) -> None:
    loaded(home, {variable: text})
    loaded(home, **{variable: text})


@each(("variable", "text"), [(variable, text) for variable, _, bad in BOUNDS for text in bad])
def test_refused_and_the_variable_named(home: Path, variable: str, text: str) -> None:
    with pytest.raises(ConfigError, match=variable):
        loaded(home, **{variable: text})


@each("text", ["", "  ", "\t"], ids=repr)
@each("variable", sorted(VARIABLES))
def test_an_empty_variable_is_as_good_as_none(home: Path, variable: str, text: str) -> None:
    settings = loaded(home, {variable: text})

    assert value(settings, variable) == VARIABLES[variable].default
    assert variable not in settings.origins


@pytest.mark.parametrize(
    ("variable", "text", "expected"),
    [
        ("MEMORY_RECENCY_BOOST", "false", False),
        ("MEMORY_ADAPTIVE_K", "0", False),
        ("MEMORY_TEMPORAL_DECAY_LAMBDA", "0", 0.0),
        ("MEMORY_ADAPTIVE_K_MIN_SCORE_RATIO", "0", 0.0),
    ],
)
def test_false_and_zero_switch_off_as_documented(
    home: Path, variable: str, text: str, expected: object
) -> None:
    assert value(loaded(home, {variable: text}), variable) == expected


def test_settings_cannot_be_changed_afterwards(home: Path) -> None:
    settings = loaded(home)

    with pytest.raises(AttributeError, match="rrf_k"):
        settings.recall.rrf_k = 1  # type: ignore[misc]


# names, zones, providers

NAMES = [
    *[pytest.param(name, True, id=name) for name in ("a", "0", "ana", "a-b", "a_b", "console")],
    pytest.param("a" * 64, True, id="64 characters"),
    pytest.param("a" * 65, False, id="65 characters"),
    pytest.param("", False, id="empty"),
    pytest.param("ana\n", False, id="line break at the end"),
    pytest.param("ａna", False, id="wide letter"),
    pytest.param("ana\0", False, id="NUL"),
    *[pytest.param(n, False, id=n) for n in ("Ana", "-a", "a-", "_a", "a_", "a b", "a.b", "../x")],
    *[
        pytest.param(n, False, id=f"device {n}")
        for n in ("con", "nul", "prn", "aux", "com1", "lpt9")
    ],
]


@each(("name", "good"), NAMES)
def test_names_of_kins(name: str, good: bool) -> None:
    if good:
        assert kin_name(name) == name
    else:
        with pytest.raises(InvalidInput):
            kin_name(name)


def test_a_named_zone(home: Path) -> None:
    assert loaded(home, KINMEM_TZ="Asia/Tokyo").general.zone == ZoneInfo("Asia/Tokyo")


@pytest.mark.parametrize(
    ("tz", "zone"),
    [("Asia/Tokyo", ZoneInfo("Asia/Tokyo")), (":UTC", ZoneInfo("UTC")), ("No/Zone", UTC)],
)
def test_the_systems_zone(
    home: Path, monkeypatch: pytest.MonkeyPatch, tz: str, zone: object
) -> None:
    monkeypatch.setenv("TZ", tz)

    assert loaded(home, KINMEM_KIN="ana").general.zone == zone


def test_providers(home: Path) -> None:
    file_of(home, '[providers.desk]\ntype = "ollama"\nbase_url = "http://127.0.0.1:11434"\n')

    desk = loaded(home).providers["desk"]

    assert (desk.type, desk.base_url, desk.api_key_env) == (
        "ollama",
        "http://127.0.0.1:11434",
        None,
    )


# what is set and has no effect

READS_ALL: frozenset[str] = RANKING_VARIABLES


@pytest.mark.parametrize(
    ("environment", "reads", "expected"),
    [
        pytest.param({}, READS_ALL, [], id="nothing set"),
        pytest.param({"MEMORY_RRF_K": "7"}, READS_ALL, [], id="read"),
        pytest.param({"MEMORY_RRF_K": "7"}, frozenset(), ["MEMORY_RRF_K"], id="not in the profile"),
        pytest.param({"MEMORY_MAX_RELEVANT": "7"}, frozenset(), [], id="not a ranking one"),
        pytest.param(
            {"MEMORY_RRF_K": "7", "MEMORY_RERANK_MODEL": "x", "MEMORY_FTS_BOOST": "1"},
            frozenset({"MEMORY_FTS_BOOST"}),
            ["MEMORY_RRF_K"],
            id="one of them",
        ),
    ],
)
def test_unread(
    home: Path, environment: dict[str, str], reads: frozenset[str], expected: list[str]
) -> None:
    assert unread(loaded(home, environment), reads) == expected


def test_unread_in_the_file(home: Path) -> None:
    file_of(home, 'MEMORY_RRF_K = 7\nMEMORY_HYDE_MODEL = "x"\n')

    assert unread(loaded(home), frozenset()) == ["MEMORY_RRF_K"]


def test_the_ranking_variables_are_declared() -> None:
    assert set(VARIABLES) >= RANKING_VARIABLES


# the table


def test_the_table_has_a_line_for_every_setting() -> None:
    lines = table().splitlines()

    assert len(lines) == len(VARIABLES) + 3
    for variable in [HOME_VARIABLE, *VARIABLES]:
        assert sum(line.startswith(f"| `{variable}` |") for line in lines) == 1


@each("knob", list(knobs()), ids=lambda knob: knob.variable)
def test_every_setting_is_described_in_one_sentence(knob: Any) -> None:
    assert re.fullmatch(
        r"(?:KINMEM|MEMORY|COMPACTING|TOOL|OBSERVATION|HISTORY)_[A-Z_]+", knob.variable
    )
    assert re.fullmatch(r"[A-Z].{10,200}\.", knob.description)
    assert "|" not in knob.description


# chat models, and what a Kin may set for itself


@pytest.mark.parametrize(
    ("environment", "asked"),
    [
        pytest.param({}, [None, None, None, None], id="none: rules"),
        pytest.param({"KINMEM_MODEL": "m"}, ["m", "m", None, "m"], id="the provider's default"),
        pytest.param(
            {"KINMEM_MODEL": "m", "MEMORY_EXTRACTION_MODEL": "x", "KINMEM_REVIEW_MODEL": "off"},
            ["x", "m", None, None],
            id="one of its own, one switched off",
        ),
        pytest.param(
            {"MEMORY_CONSOLIDATION_MODEL": "c", "COMPACTING_MODEL": "false"},
            [None, None, "c", None],
            id="only what is named",
        ),
    ],
)
def test_a_model_is_asked_for_what_it_is_named_for(
    home: Path, environment: dict[str, str], asked: list[str | None]
) -> None:
    settings = loaded(home, environment).model

    assert [
        settings.named("extraction"),
        settings.named("compacting"),
        settings.named("consolidation"),
        settings.named("review"),
    ] == asked


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("COMPACTING_BATCH_SIZE", "COMPACTING_BATCH_TURNS"),
        ("COMPACTING_MIN_KEEP_MESSAGES", "COMPACTING_MIN_KEEP_TURNS"),
    ],
)
def test_names_that_count_messages_are_refused_with_those_that_count_turns(
    home: Path, old: str, new: str
) -> None:
    with pytest.raises(ConfigError, match=f"{old}.*counts messages.*{new}"):
        loaded(home, {old: "20"})


def test_a_kin_has_its_own_threshold_and_model(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(
        'KINMEM_MODEL = "m"\n'
        "[kin.ana]\n"
        "turn_threshold = 50\n"
        'compacting_model = "small"\n'
        'compacting_provider = "local"\n'
    )
    ana, bob = (loaded(home, {"KINMEM_KIN": kin}) for kin in ("ana", "bob"))

    assert ana.compact.turn_threshold == 50
    assert ana.model.named("compacting") == "local:small"
    assert bob.compact.turn_threshold is None
    assert bob.model.named("compacting") == "m"


def test_a_kins_settings_may_be_named_as_kinbot_names_them(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(
        '[kin.ana]\nturnThreshold = 50\ncompactingModel = "small"\ncompactingProviderId = "local"\n'
    )
    ana = loaded(home, {"KINMEM_KIN": "ana"})

    assert ana.compact.turn_threshold == 50
    assert ana.model.named("compacting") == "local:small"


def test_a_name_in_small_letters_is_known_again(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("compacting_batch_turns = 5\n")

    with pytest.raises(ConfigError, match=r"did you mean COMPACTING_BATCH_TURNS\?"):
        loaded(home, {})


def test_a_provider_without_a_model_is_refused(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('[kin.ana]\ncompacting_provider = "local"\n')

    with pytest.raises(ConfigError, match="compacting_model"):
        loaded(home, {"KINMEM_KIN": "ana"})
