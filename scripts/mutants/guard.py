"""pytest as a mutant is tried with it: it ends when the worker that has started it is gone."""

import os
import signal
import sys
import threading
import time

import pytest


def _end_with_the_worker(worker: int) -> None:
    while os.getppid() == worker:
        time.sleep(1)
    os.killpg(0, signal.SIGKILL)  # with the servers that a test has started


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_worker, args=(os.getppid(),), daemon=True).start()
    sys.exit(pytest.main(sys.argv[1:]))
