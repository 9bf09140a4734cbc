"""Settings told to people: the table of all, and which of those that are set have no effect."""

from kinmem.settings.loading import DEFAULT_HOME
from kinmem.settings.names import HOME_VARIABLE
from kinmem.settings.sections import Settings, knobs

RANKING_VARIABLES = frozenset(
    """MEMORY_RRF_K MEMORY_FTS_BOOST MEMORY_SUBJECT_BOOST MEMORY_CATEGORY_BOOST
    MEMORY_TEMPORAL_DECAY_LAMBDA MEMORY_TEMPORAL_DECAY_FLOOR MEMORY_RECENCY_BOOST""".split()
)


def unread(settings: Settings, reads: frozenset[str]) -> list[str]:
    """Ranking variables that are set but have no effect, since the profile in force reads only
    `reads` of them."""
    return sorted(v for v in settings.origins if v in RANKING_VARIABLES and v not in reads)


def table() -> str:
    """The settings as a Markdown table, for the README."""
    lines = ["| variable | default | meaning |", "| --- | --- | --- |"]
    lines.append(
        f"| `{HOME_VARIABLE}` | `{DEFAULT_HOME}` | Folder that holds everything kinmem stores. |"
    )
    for knob in knobs():
        default = "unset" if knob.default is None or knob.default == "" else f"`{knob.default}`"
        lines.append(f"| `{knob.variable}` | {default} | {knob.description} |")
    return "\n".join(lines)
