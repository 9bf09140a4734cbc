"""How clients reach the server."""

from dataclasses import dataclass
from typing import Literal

from kinmem.errors import InvalidInput
from kinmem.settings.declare import setting

TOOL_SETS = ("turns", "knowledge", "upkeep")


def listed(names: str) -> list[str]:
    """The names of a list with commas."""
    return list(filter(None, map(str.strip, names.split(","))))


def check_tool_sets(names: str) -> None:
    """Raises InvalidInput for a name that is no set's."""
    for name in listed(names):
        if name not in TOOL_SETS:
            raise InvalidInput(
                f"no set of tools is called {name!r}; there are: {', '.join(TOOL_SETS)}"
            )


@dataclass(frozen=True)
class ServerSettings:
    transport: Literal["stdio", "http", "sse", "streamable-http"] = setting(
        "KINMEM_TRANSPORT",
        "stdio",
        "How clients reach the server; http, sse and streamable-http start the same server for both HTTP transports.",
    )
    host: str = setting(
        "KINMEM_HOST", "127.0.0.1", "Address for HTTP; any but a loopback one needs a token."
    )
    port: int = setting("KINMEM_PORT", 8765, "Port for HTTP; 0 takes a free one.", ge=0, le=65535)
    session_minutes: float = setting(
        "KINMEM_SESSION_MINUTES",
        30,
        "An HTTP session that nobody has used for so long is closed; its client opens another.",
        ge=0.01,
        le=10_080,
    )
    allowed_hosts: str = setting(
        "KINMEM_ALLOWED_HOSTS",
        "",
        "More host names that HTTP requests may carry in Host and Origin, separated by commas.",
    )
    tools: str = setting(
        "KINMEM_TOOLS",
        "",
        "Sets of tools that are listed besides the six, separated by commas: turns (record_turn), knowledge (explore, timeline), upkeep (sleep).",
        check=check_tool_sets,
    )

    tool_schemas: Literal["plain", "strict"] = setting(
        "KINMEM_TOOL_SCHEMAS",
        "plain",
        "How tools describe their arguments; strict names each as required, null for none, as agents of OpenAI's kind want it.",
    )

    @property
    def strict_schemas(self) -> bool:
        return self.tool_schemas == "strict"

    @property
    def tool_sets(self) -> frozenset[str]:
        """The names in `tools`."""
        return frozenset(listed(self.tools))
