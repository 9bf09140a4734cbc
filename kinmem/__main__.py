"""Run the command line as `python -m kinmem`."""

from kinmem.cli import main

raise SystemExit(main())
