"""What kinmem promises in numbers, measured: `python -m benchmarks`, or `make bench`."""

import kinmem  # first: it tells numpy to use one thread, which must be said before numpy is loaded

__all__ = ["kinmem"]
