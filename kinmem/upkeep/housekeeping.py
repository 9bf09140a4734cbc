"""A step of upkeep: the files are kept in order, whatever is in them."""

from collections import Counter

from kinmem.store.base import Store
from kinmem.upkeep.allowance import Allowance


def housekeeping(store: Store, allowance: Allowance, counts: Counter[str]) -> None:
    """Fill half-empty blocks of vectors, give free space back, empty the logs; counts blocks and
    freed_kib."""
    counts.update(store.keep_house(allowance.is_over, allowance.dry_run))
