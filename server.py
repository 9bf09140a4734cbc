"""Start here: settings -> service -> MCP.

    python server.py                                    over stdio, for the Kin in KINMEM_KIN
    python server.py --transport http --port 8765       over HTTP
    python server.py --kin ana --home ~/notes           somebody else's memory, somewhere else

With options it is the same as `kinmem serve`, which also explains them: python server.py --help.
"""

import sys

try:
    import apsw  # noqa: F401  the first that a Python without the dependencies would miss
    import mcp  # noqa: F401

    from kinmem.cli.serve import serve
    from kinmem.errors import KinmemError
    from kinmem.settings import load
except ModuleNotFoundError as missing:
    sys.exit(
        f"kinmem: {sys.executable} has no package {missing.name!r}. Run `make demo` once in this"
        " folder and start server.py with its .venv/bin/python, or use `uv run server.py`."
    )


def main() -> None:
    if len(sys.argv) > 1:
        from kinmem.cli import main as command_line  # late: stdio clients wait for the first answer

        sys.exit(command_line(["serve", *sys.argv[1:]]))
    try:
        settings = load()
        serve(settings)  # opens the Kin's service when a call needs it, and never returns
    except KinmemError as error:
        sys.exit(f"{error.code}: {error}")


if __name__ == "__main__":
    main()
