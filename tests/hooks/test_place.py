"""A hook finds the same memory as the settings name."""

from pathlib import Path

import pytest

from kinmem.hooks.hook import place_of
from kinmem.settings import load


@pytest.mark.parametrize(
    ("flags", "environment", "written"),
    [
        pytest.param({}, {}, "", id="defaults"),
        pytest.param({}, {"KINMEM_KIN": "ana"}, "", id="environment"),
        pytest.param({}, {"KINMEM_KIN": ""}, 'KINMEM_KIN = "bob"', id="empty environment"),
        pytest.param({}, {}, 'KINMEM_KIN = "bob"', id="file"),
        pytest.param({}, {}, "KINMEM_TZ = 'UTC'\n# KINMEM_KIN = 'x'", id="file without it"),
        pytest.param({}, {"KINMEM_KIN": "ana"}, 'KINMEM_KIN = "bob"', id="environment wins"),
        pytest.param({"KINMEM_KIN": "eve"}, {"KINMEM_KIN": "ana"}, "", id="flag wins"),
    ],
)
def test_as_the_settings_say(
    home: Path, flags: dict[str, str], environment: dict[str, str], written: str
) -> None:
    home.mkdir()
    (home / "config.toml").write_text(written)
    environment = {"KINMEM_HOME": str(home), **environment}

    settings = load(flags, environment=environment)

    assert place_of(flags, environment) == (str(settings.home), settings.general.kin)


@pytest.mark.parametrize("named", ["~/memories", "memories", None])
def test_the_home_as_well(
    named: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    environment = {"KINMEM_HOME": named} if named else {}

    assert place_of({}, environment).home == str(load(environment=environment).home)
    assert place_of({"KINMEM_HOME": "/x"}, environment).home == "/x"


def test_a_broken_file_is_an_error(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("KINMEM_KIN = = 1")

    with pytest.raises(ValueError, match="line 1"):
        place_of({}, {"KINMEM_HOME": str(home)})
