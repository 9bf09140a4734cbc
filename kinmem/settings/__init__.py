"""Settings: each is declared once with its variable, default, bounds and one sentence.

The table in docs/settings.md, `kinmem config` and the checks are generated from the declarations in
the two *_settings.py. loading.py puts them together and decides where each value comes from.
"""

from kinmem.settings.loading import (
    HOME_VARIABLE,
    RANKING_VARIABLES,
    Settings,
    knobs,
    load,
    table,
    unread,
)
from kinmem.settings.memory_settings import CompactSettings, LearnSettings, RecallSettings
from kinmem.settings.server_settings import KIN_NAME, ServerSettings, kin_name

__all__ = [
    "HOME_VARIABLE",
    "KIN_NAME",
    "RANKING_VARIABLES",
    "CompactSettings",
    "LearnSettings",
    "RecallSettings",
    "ServerSettings",
    "Settings",
    "kin_name",
    "knobs",
    "load",
    "table",
    "unread",
]
