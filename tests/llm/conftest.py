"""What tests through litellm share."""

import gc
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from kinmem.llm.litellm_models import LitellmEmbedder
from tests.llm.fault_provider import FaultProvider
from tests.networks import Remembered

KEY = "sk-secretsecretsecret1234"
Way = TypeVar("Way")

# What litellm warns of when it builds its types, which it does at the first use of each.
TYPES_BUILT = [
    pytest.mark.filterwarnings(
        "ignore:Items? '.+' on TypedDict class:UserWarning",
        "ignore:Pydantic serializer warnings:UserWarning",
    ),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def connecting(kind: Callable[..., Way], server: FaultProvider, model: str) -> Callable[..., Way]:
    """Makes models of that kind, which fail as they are told; each has ten seconds by default."""

    def to(mode: str, model: str = model, **options: Any) -> Way:
        options = {"deadline_seconds": 10.0, **options}
        return kind(model, api_base=server.base(mode), api_key=KEY, **options)

    return to


@pytest.fixture(autouse=True)
def run_each_time(remembered: Remembered, monkeypatch: pytest.MonkeyPatch) -> None:
    """The networks are what is tested here."""
    monkeypatch.setattr(remembered, "is_used", False)


@pytest.fixture(scope="session")
def litellm_imported() -> None:
    """Once for all tests: it takes seconds, and warns of its own affairs. So does the first
    request, for which it builds its types."""
    name = "openai/text-embedding-3-small"
    with warnings.catch_warnings(action="ignore"), FaultProvider() as provider:
        LitellmEmbedder(name, api_base=provider.base("ok"), api_key=KEY).embed(["a"])
    gc.collect()
    gc.freeze()  # see tests/conftest.py: as much again, and it stays as well
