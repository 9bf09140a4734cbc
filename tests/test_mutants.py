"""What mutation testing rests on: rows that are true, mutants as meant, and a tree left alone."""

from pathlib import Path

import pytest

from scripts.mutants.scope import CORE, EQUIVALENT, TESTS, files_of
from tests.tables import each

ROOT = Path(__file__).parent.parent


@each("module", TESTS)
def test_a_row_names_a_module_and_tests_that_exist(module: str) -> None:
    missing = [name for name in (module, *files_of(module)) if not (ROOT / name).is_file()]

    assert missing == []


def test_the_whole_core_is_mutated() -> None:
    assert {path for path in CORE if not (ROOT / path).is_file()} == set()
    assert TESTS.keys() >= CORE


def test_what_is_called_equivalent_is_still_there() -> None:
    """A line that has changed is looked at again."""
    for (module, line), why in EQUIVALENT.items():
        assert line in (ROOT / module).read_text(encoding="utf-8"), (module, line)
        assert why


def test_mutants_are_what_people_mistake() -> None:
    pytest.importorskip("cosmic_ray", reason="`make mutants` installs it")
    from cosmic_ray.mutating import mutate_code

    from scripts.mutants.operators import OWN

    for operator in OWN.values():
        for example in operator.examples():
            mutated = mutate_code(example.pre_mutation_code, operator(), 0)
            assert mutated == example.post_mutation_code


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    pytest.importorskip("cosmic_ray", reason="`make mutants` installs it")
    from scripts.mutants.__main__ import of, sampled, told

    mutants = of("kinmem/upkeep/consolidate.py")
    samples = [[told(one) for one in sampled(mutants, 5, seed)] for seed in (1, 1, 2)]

    assert samples[0] == samples[1] != samples[2]
    assert len(set(samples[0])) == 5
