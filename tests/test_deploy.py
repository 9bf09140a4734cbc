"""What deploy/ tells Docker Compose and Kubernetes fits their schemas, and this kinmem."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.version import Version
from typer.main import get_command

from kinmem.cli.app import app
from kinmem.http.workers import END_SECONDS
from kinmem.settings import knobs, load
from tests import postgres
from tests.test_workers import working

ROOT = Path(__file__).parent.parent
COMPOSE, KUBERNETES = ROOT / "deploy/compose.yaml", ROOT / "deploy/kubernetes.yaml"
OF_THE_DRIVER = {"PGPASSWORD"}


def composed() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load(COMPOSE.read_text("utf-8"))["services"]
    return services


def manifests() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(KUBERNETES.read_text("utf-8")))


def pod() -> dict[str, Any]:
    [deployment] = [one for one in manifests() if one["kind"] == "Deployment"]
    template: dict[str, Any] = deployment["spec"]["template"]
    return template


def seconds(told: str) -> int:
    return int(told.removesuffix("s"))


def environment(of: str) -> dict[str, str]:
    """What kinmem is started with."""
    if of == "compose":
        given: dict[str, str] = composed()["kinmem"]["environment"]
        return given
    [container] = pod()["spec"]["containers"]
    own = {one["name"]: one.get("value", "") for one in container["env"]}
    if pod()["spec"].get("enableServiceLinks") is False:
        return own
    services = [one["metadata"]["name"].upper() for one in manifests() if one["kind"] == "Service"]
    return {f"{name}_PORT": "tcp://10.0.0.1:80" for name in services} | own


def test_compose_takes_its_file() -> None:
    compose_spec = pytest.importorskip("compose_spec")

    compose_spec.PyCompose.from_yaml(COMPOSE.read_text("utf-8")).validate()

    wrong = COMPOSE.read_text("utf-8").replace("stop_grace_period", "grace_period")
    with pytest.raises(ValueError, match="grace_period"):
        compose_spec.PyCompose.from_yaml(wrong)


@pytest.mark.parametrize("manifest", manifests(), ids=lambda one: one["kind"])
def test_kubernetes_takes_its_manifests(manifest: dict[str, Any]) -> None:
    validating = pytest.importorskip("kubernetes_validate")

    for version in ("1.28", validating.latest_version()):
        validating.validate(manifest, version, strict=True)

    manifest["spec"]["unknown"] = 1
    with pytest.raises(validating.ValidationError, match="unknown"):
        validating.validate(manifest, validating.latest_version(), strict=True)


@pytest.mark.parametrize("of", ["compose", "kubernetes"])
def test_what_kinmem_is_started_with_are_settings(of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(of).items():
        monkeypatch.setenv(name, value)

    assert set(environment(of)) - OF_THE_DRIVER <= {knob.variable for knob in knobs()}
    settings = load({})
    assert settings.general.store.startswith("postgresql://")
    assert settings.server.host == "0.0.0.0"


def test_the_image_starts_what_there_is() -> None:
    dockerfile = (ROOT / "deploy/Dockerfile").read_text("utf-8")
    [command] = re.findall(r"^CMD (.*)", dockerfile, re.MULTILINE)
    program, verb, *options = yaml.safe_load(command)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

    assert program in project["scripts"]
    with get_command(app).commands[verb].make_context(verb, options) as context:  # type: ignore[attr-defined]
        assert context.params["transport"] == "http"
    [extras] = re.findall(r"\.whl\)\[([\w,]+)\]", dockerfile)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    [python] = re.findall(r"^FROM python:(\S+)-slim$", dockerfile, re.MULTILINE)
    assert Version(python) >= Version(project["requires-python"].removeprefix(">="))


def test_nobody_is_killed_who_ends_in_order() -> None:
    drain = load({}).server.drain_seconds
    [container] = pod()["spec"]["containers"]
    before = int(container["lifecycle"]["preStop"]["exec"]["command"][1])

    assert pod()["spec"]["terminationGracePeriodSeconds"] > before + drain
    assert seconds(composed()["kinmem"]["stop_grace_period"]) > drain + END_SECONDS


def test_probes_are_answered_at_the_ports_that_are_named(tmp_path: Path) -> None:
    [container] = pod()["spec"]["containers"]
    [port] = [one["containerPort"] for one in container["ports"]]
    [service] = [one for one in manifests() if one["kind"] == "Service"]
    probes = [container[f"{of}Probe"]["httpGet"] for of in ("liveness", "readiness")]
    own = environment("kubernetes") | {"KINMEM_STORE": postgres.database_url()}

    assert port == load({}).server.port
    assert {probe["port"] for probe in probes} == {port}
    assert service["spec"]["ports"][0]["targetPort"] == port
    assert pod()["metadata"]["annotations"]["prometheus.io/port"] == str(port)
    assert composed()["kinmem"]["ports"] == [f"127.0.0.1:{port}:{port}"]
    with working(tmp_path, **own | {"KINMEM_WORKERS": "1"}) as server:
        for probe in probes:
            headers = {one["name"]: one["value"] for one in probe["httpHeaders"]}
            assert server.status("GET", probe["path"], **headers) == 200
    postgres.empty()
