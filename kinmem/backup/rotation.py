"""Which backups are kept: of those made daily one for each of the last days, then one a week; of
those made before something the last few; of those that a person has made all."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from kinmem.backup.archive import Backup

BEFORE = ("upgrade", "restore", "import")
KEPT_BEFORE = 3
"""Of each kind of backup made before something."""
AHEAD = timedelta(days=1)


def outdated(backups: Sequence[Backup], now: datetime, days: int, weeks: int) -> list[Backup]:
    """Return those to delete.

    Days and weeks are those on which there is a backup, however long ago: no clock that has jumped
    makes a backup old. What a clock that was ahead has dated in the future is counted apart, so
    that it never pushes out what is made today.
    """
    dated = [one for one in backups if one.made_at <= now + AHEAD]
    future = [one for one in backups if one.made_at > now + AHEAD]
    gone: list[Backup] = []
    for group in (dated, future):
        latest_first = sorted(group, key=lambda one: one.made_at, reverse=True)
        daily = [one for one in latest_first if one.reason == "daily"]
        kept = _daily(daily, days, weeks)
        gone += [one for one in daily if one not in kept]
        for reason in BEFORE:
            gone += [one for one in latest_first if one.reason == reason][KEPT_BEFORE:]
    return gone


def _daily(latest_first: Sequence[Backup], days: int, weeks: int) -> list[Backup]:
    """Return the last one of each of the last days, then the last of each of the weeks before."""
    by_day: dict[object, Backup] = {}
    for one in latest_first:
        by_day.setdefault(one.made_at.date(), one)
    of_days = list(by_day.values())[:days]
    covered = {one.made_at.isocalendar()[:2] for one in of_days}
    by_week: dict[object, Backup] = {}
    for one in list(by_day.values())[days:]:
        week = one.made_at.isocalendar()[:2]
        if week not in covered:
            by_week.setdefault(week, one)
    return [*of_days, *list(by_week.values())[:weeks]]
