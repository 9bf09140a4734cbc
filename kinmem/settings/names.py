"""Names that are no setting of this version, and what is said of those that nobody knows."""

from collections.abc import Iterable, Mapping

from kinmem.errors import ConfigError

HOME_VARIABLE = "KINMEM_HOME"
BENCH_VARIABLE = "KINMEM_BENCH_DATA"  # read by benchmarks/, which is not part of the package

# Names of the seeds' older documentation, which counted messages.
OUTDATED: Mapping[str, str] = {
    "COMPACTING_BATCH_SIZE": "COMPACTING_BATCH_TURNS",
    "COMPACTING_MIN_KEEP_MESSAGES": "COMPACTING_MIN_KEEP_TURNS",
}
SHARED_PREFIXES = ("MEMORY_", "COMPACTING_", "TOOL_", "OBSERVATION_", "HISTORY_")


def refuse_unknown(
    names: Iterable[str], known: Iterable[str], where: str, *, all_names: bool = False
) -> None:
    """Our own prefix is ours alone; the seeds' prefixes are other programs' too, so only near misses count.

    Raises ConfigError. With `all_names` there is no other program: every name must be known.
    """
    valid = {*known, HOME_VARIABLE, BENCH_VARIABLE}
    for name in names:
        if name in OUTDATED:
            raise ConfigError(
                f"{where} sets {name}, which counts messages; kinmem counts turns: a turn is what"
                f" a person says and everything until they speak again. Set {OUTDATED[name]}"
            )
        if name in valid:
            continue
        if all_names or name.startswith("KINMEM_") or _is_near_miss(name, valid):
            raise _unknown(name, valid, where)


def _unknown(name: str, valid: set[str], where: str) -> ConfigError:
    from difflib import get_close_matches  # late, as every prompt may load the settings

    (nearest,) = get_close_matches(name.upper(), valid, n=1, cutoff=0.0)
    return ConfigError(f"{where} sets {name}, which kinmem does not know; did you mean {nearest}?")


def _is_near_miss(name: str, valid: set[str]) -> bool:
    """Within two letters of a known name (Levenshtein). rapidfuzz is loaded only when a prefix is shared."""
    if not name.startswith(SHARED_PREFIXES):
        return False
    from rapidfuzz.distance import Levenshtein  # late: 45 ms that most starts need not pay

    return any(Levenshtein.distance(name, other, score_cutoff=2) <= 2 for other in valid)
