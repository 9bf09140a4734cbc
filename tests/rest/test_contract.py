"""What schemathesis makes of the description: every operation, with requests that fit it and that
do not, against a real server. A sixth of what it can think of here, all of it in `make sweeps`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import one_of

from kinmem.web.rest.api_routes import ENDPOINTS, openapi
from kinmem.web.rest.declaration import Endpoint
from tests.rest.conftest import serving
from tests.sweeps import rounds, sample

# What schemathesis breaks in an address may be lost on its way there: a list of one is a value, and
# an empty one nothing. test_rest.py has mistakes in addresses; here they are looked for in bodies.
DESCRIBED = [endpoint for endpoint in ENDPOINTS if endpoint.path != "/settle"]
Validate = Callable[[Any], None]


@pytest.fixture(scope="module")
def described() -> Any:
    """The description as schemathesis reads it, which takes seconds: only whoever asks waits."""
    import schemathesis

    return schemathesis.openapi.from_dict(openapi(ENDPOINTS))


@pytest.fixture(scope="module")
def validate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Validate]:
    """Sends what schemathesis has made, and checks the answer."""
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    # Refused for what they mean (a time, a secret, a cursor), they are as described all the same:
    # that what fits is accepted cannot be checked.
    always = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
        checks.ignored_auth,
    ]
    home: Path = tmp_path_factory.mktemp("contract")
    with serving(home, KINMEM_JUDGE="off") as target, requests.Session() as session:
        for n in range(5):
            target.memory(f"shelf {n} holds {n} jars")

        def check(case: Any) -> None:
            refusing = [checks.negative_data_rejection] if case.method != "GET" else []
            case.call_and_validate(
                base_url=f"{target.server.url}/api/v1",
                headers={"Authorization": f"Bearer {target.server.tokens['admin']}"},
                checks=[*always, *refusing],
                session=session,
            )

        yield check


@pytest.mark.slow
@pytest.mark.parametrize(
    "endpoint", [pytest.param(one, id=f"{one.method} {one.path}") for one in DESCRIBED]
)
def test_it_answers_as_it_is_described(
    endpoint: Endpoint, described: Any, validate: Validate
) -> None:
    from schemathesis import GenerationMode

    operation = described[endpoint.path][endpoint.method]
    both = list(GenerationMode)
    at_borders = described.iter_coverage_cases(
        operation, generation_modes=both, generation_config=described.config.generation
    )
    for case in sample(list(at_borders), 6):
        validate(case)

    @seed(1)
    @settings(
        max_examples=rounds(150, 3),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(one_of(operation.as_strategy(generation_mode=mode) for mode in both))
    def at_random(case: Any) -> None:
        validate(case)

    at_random()
