"""How the demo looks: scenes, calls and answers, in colour on a terminal and plain elsewhere."""

from collections.abc import Mapping
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kinmem.cli.client import Caller, ToolFailed
from kinmem.cli.explain import explanation
from kinmem.cli.pages import short_id
from kinmem.cli.terminal import console, one_line, safe, say

WIDTH = 100
COLOURS = {"ada": "magenta", "ben": "cyan"}
# Arguments that the line of a call shows already, or that say nothing to a reader.
UNSHOWN = frozenset({"memory_id", "content", "query", "explain", "apply", "keep"})
Answer = Mapping[str, Any]


class Stage:
    """Shows what is asked and what is answered; counts the calls."""

    def __init__(self) -> None:
        self.calls = 0
        self._scenes = 0
        self._width = min(WIDTH, console().width)

    def scene(self, title: str, comment: str) -> None:
        """A numbered headline and what to look for."""
        self._scenes += 1
        self.say(Text(f"{self._scenes}. {title}", style="bold"), above=2)
        self.say(Text(comment, style="dim"), indent=3)

    async def ask(self, caller: Caller, tool: str, shown: str = "", **arguments: Any) -> Answer:
        """Show a call, make it, give back its answer."""
        self.calls += 1
        told = Text.assemble((caller.kin, COLOURS[caller.kin]), f"  {tool}  ", (shown, "bold"))
        for name, value in arguments.items():
            if name not in UNSHOWN:
                told.append(f"  {name}={value}", style="dim")
        self.say(told, indent=3, above=1)
        return await caller(tool, **arguments)

    async def memorize(self, caller: Caller, content: str, **details: Any) -> Answer:
        return await self.ask(caller, "memorize", content, content=content, **details)

    async def recall(self, caller: Caller, question: str, *, explained: bool = False) -> None:
        """Ask, and show what comes back; for the best hit also why."""
        answer = await self.ask(caller, "recall", question, query=question, explain=True)
        for place, memory in enumerate(answer["memories"]):
            self.answer(line(memory))
            if explained and not place:
                self.say(explanation(memory["why"], memory["score"], memory["score"]), indent=10)
        if not answer["memories"]:
            self.answer("(nothing)", style="yellow")

    async def refused(self, caller: Caller, tool: str, shown: str, **arguments: Any) -> None:
        """Show a call that must fail, and how it does."""
        try:
            await self.ask(caller, tool, shown, **arguments)
        except ToolFailed as error:
            self.answer(str(error), style="yellow")

    def quote(self, who: str, text: str) -> None:
        """Something that somebody says in a conversation."""
        self.say(Text.assemble((f"{who}: ", "bold"), safe(text)), indent=3, above=1)

    def answer(self, text: str, style: str = "green") -> None:
        """Something that kinmem answered."""
        grid = Table.grid(padding=(0, 1))
        grid.add_row(Text("→", style=style), Text(safe(text), style=style))
        self.say(grid, indent=8)

    def say(self, shown: RenderableType, indent: int = 0, above: int = 0) -> None:
        say(Padding(shown, (above, 0, 0, indent), expand=False), width=self._width)


def line(memory: Answer) -> str:
    """One memory in a line."""
    author = memory.get("authorKinName")
    whose = f"shared by {author}" if author else memory["scope"]
    whose = f"weak, {whose}" if memory.get("weak") else whose
    return f"{one_line(memory['content'])}  [{whose}, {short_id(memory['id'])}]"
