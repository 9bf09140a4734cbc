"""python -m kinmem is the command kinmem."""

from kinmem.cli import main

raise SystemExit(main())
