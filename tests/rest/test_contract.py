"""What schemathesis makes of the description: every operation, with requests that fit it and that
do not, against a real server. A quarter of a minute here, longer in `make sweeps`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from kinmem.rest.api_routes import ENDPOINTS
from kinmem.rest.openapi import openapi
from tests.rest.conftest import Api, serving
from tests.sweeps import rounds

EXAMPLES = rounds(150, 3)
# Refused for what they mean (a time, a secret, a cursor), they are as described all the same:
# that what fits is accepted cannot be checked. The stream goes on for as long as it is asked to.
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
    ignored_auth,
]
# What schemathesis breaks in an address may be lost on its way there: a list of one is a value, and
# an empty one nothing. test_rest.py has mistakes in addresses; here they are looked for in bodies.
described = schemathesis.openapi.from_dict(openapi(ENDPOINTS))
operations = described.exclude(path="/changes/stream").exclude(path="/settle")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    home: Path = tmp_path_factory.mktemp("contract")
    with serving(home, KINMEM_JUDGE="off") as it:
        for n in range(5):
            it.memory(f"shelf {n} holds {n} jars")
        yield it


@pytest.mark.slow
@seed(1)
@operations.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_it_answers_as_it_is_described(case: schemathesis.Case, target: Api) -> None:
    checks = [
        check for check in CHECKS if case.method != "GET" or check is not negative_data_rejection
    ]
    case.call_and_validate(
        base_url=f"{target.server.url}/api/v1",
        headers={"Authorization": f"Bearer {target.server.tokens['admin']}"},
        checks=checks,
    )
