"""Every knob, declared once: its variable, default, bounds and one sentence.

The README's table, `kinmem config` and the checks follow from the declarations: one module for
each section, named for what is set there. loading.py says where values come from.
"""

from kinmem.settings.compact import CompactSettings
from kinmem.settings.general import KIN_NAME, kin_name
from kinmem.settings.learn import LearnSettings
from kinmem.settings.loading import load
from kinmem.settings.names import HOME_VARIABLE
from kinmem.settings.recall import RecallSettings
from kinmem.settings.sections import Settings, knobs
from kinmem.settings.server import ServerSettings
from kinmem.settings.telling import RANKING_VARIABLES, table, unread

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
