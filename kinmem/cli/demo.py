"""kinmem demo: two assistants of one person, each with its own server process."""

import asyncio
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kinmem.cli.cards import explanation
from kinmem.cli.command_context import short_id
from kinmem.cli.mcp_client import Caller, ToolFailed, converse, serving
from kinmem.cli.terminal import console, one_line, safe, say
from kinmem.http.open_page import show_page

STAGE_WIDTH = 100
COLOURS = {"ada": "magenta", "ben": "cyan"}
# Arguments that the line of a call shows already, or that mean nothing to a reader.
UNSHOWN = frozenset({"memory_id", "content", "query", "explain", "apply", "keep"})
Answer = Mapping[str, Any]
ALLERGY = "Our friend Bob is allergic to peanuts."
DENIED = "Our friend Bob is not allergic to peanuts."
THERAPY = "Maya has an appointment with her therapist on Tuesdays at 5 pm."
HOLIDAY = "Maya is on holiday in Portugal from 12 to 19 June."
MOVED = "Maya is on holiday in Portugal from 19 to 26 June."
MACHINE = "For the dishwasher ask Mr. Novak, contract KX-2291."
OPENING = (
    "Maya has an assistant at home, Ada, and one at work, Ben. Each runs its own kinmem server, as"
    " Claude Desktop, Claude Code or Cursor would start it. Nothing is staged: real processes, a"
    " real MCP client, an empty folder. No key, no network, no model to download."
)
LEGEND = "Below, `ada  recall  ...` is a tool call that her model makes; → is what it gets back."
CLOSING = """
Make it yours: put this into the MCP settings of your client (Claude Desktop, Cursor, VS Code),

    {settings}

and tell it something worth remembering. To look inside: kinmem list, kinmem recall, kinmem stats,
or in the browser: kinmem web
"""
LOOK = "See what Ada remembers in your browser, until you press Enter:"
MONDAY, FRIDAY, NEXT = "monday", "friday", "next-week"
LIVES = "I live in Lyon. My sister Clara visits me every spring."
TURNS = [
    (LIVES, "Nice! I can help to plan it."),
    (
        "I prefer trains to planes, remember that when you book something.",
        "Noted: trains rather than planes.",
    ),
    ("Thanks, that's great!", "You are welcome."),
]
MOVED_HOUSE = ("I no longer live in Lyon, I live in Berlin now.", "How is the new flat?")
LATER = "Shall I take trains or planes to see my sister Clara?"
SMALL_TALK = 36


class Stage:
    """Shows calls and answers, and counts the calls."""

    def __init__(self) -> None:
        self.calls = 0
        self._scenes = 0
        self._width = min(STAGE_WIDTH, console().width)

    def scene(self, title: str, comment: str) -> None:
        """Show a numbered headline and what to look for."""
        self._scenes += 1
        self.say(Text(f"{self._scenes}. {title}", style="bold"), above=2)
        self.say(Text(comment, style="dim"), indent=3)

    async def ask(self, caller: Caller, tool: str, shown: str = "", **arguments: Any) -> Answer:
        """Show a call, make it, and return the answer."""
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
        """Ask, and show what comes back; for the best hit also why it was found."""
        answer = await self.ask(caller, "recall", question, query=question, explain=True)
        for place, memory in enumerate(answer["memories"]):
            self.answer(line(memory))
            if explained and not place:
                self.say(explanation(memory["why"], memory["score"], memory["score"]), indent=10)
        if not answer["memories"]:
            self.answer("(nothing)", style="yellow")

    async def refused(self, caller: Caller, tool: str, shown: str, **arguments: Any) -> None:
        """Show a call that must fail, and how it fails."""
        try:
            await self.ask(caller, tool, shown, **arguments)
        except ToolFailed as error:
            self.answer(str(error), style="yellow")

    def quote(self, who: str, text: str) -> None:
        """Show what somebody says in a conversation."""
        self.say(Text.assemble((f"{who}: ", "bold"), safe(text)), indent=3, above=1)

    def answer(self, text: str, style: str = "green") -> None:
        """Show an answer of kinmem."""
        grid = Table.grid(padding=(0, 1))
        grid.add_row(Text("→", style=style), Text(safe(text), style=style))
        self.say(grid, indent=8)

    def say(self, shown: RenderableType, indent: int = 0, above: int = 0) -> None:
        say(Padding(shown, (above, 0, 0, indent), expand=False), width=self._width)


def line(memory: Answer) -> str:
    """Return one memory in a line."""
    author = memory.get("authorKinName")
    whose = f"shared by {author}" if author else memory["scope"]
    whose = f"weak, {whose}" if memory.get("weak") else whose
    return f"{one_line(memory['content'])}  [{whose}, {short_id(memory['id'])}]"


def play(*, keep: bool = False) -> None:
    """Play all scenes in a temporary folder, and clean up."""
    home = Path(tempfile.mkdtemp(prefix="kinmem-demo-"))
    stage, started = Stage(), time.monotonic()
    try:
        stage.say(Text("kinmem: two assistants, one person, a memory that lasts", style="bold"))
        stage.say(Text(f"{OPENING}\n{LEGEND}", style="dim"))
        converse(lambda errors: story(stage, home, errors))
        took = f"{stage.calls} calls through 3 servers in {time.monotonic() - started:.1f} seconds."
        stage.say(Text(took, style="bold"), above=2)
        stage.say(Text(CLOSING.format(settings=client_settings())))
        if keep:
            there = f"--kin ada --home {home}"
            stage.say(Text(f"The memories stay in {home}: kinmem list {there}"))
            stage.say(Text(f"In the browser: kinmem web {there}"))
        elif sys.stdin.isatty() and sys.stdout.isatty():
            stage.say(Text(LOOK, style="bold"), above=1)
            show_page(home, "ada")
    finally:
        if not keep:
            shutil.rmtree(home, ignore_errors=True)


def client_settings() -> str:
    """Return the settings that start this installation of kinmem.

    A temporary one has no lasting path.
    """
    script = shutil.which("kinmem", path=str(Path(sys.executable).parent))
    lasting = script and "uv/archive" not in script
    command = {"command": script} if lasting else {"command": "uvx", "args": ["kinmem"]}
    return json.dumps({"mcpServers": {"kinmem": command}})


async def story(stage: Stage, home: Path, errors: TextIO) -> None:
    """Play the scenes in order. Each `serving` block is the life of one server process."""
    async with serving("ada", home, errors) as ada:
        holiday = await learning(stage, ada)
    async with serving("ada", home, errors) as ada:
        await ada.model_loaded()
        await remembering(stage, ada)
        await judging(stage, ada)
        async with serving("ben", home, errors) as ben:
            await ben.model_loaded()
            await sharing(stage, ben, holiday)
            await correcting(stage, ada, ben, holiday)
        await looking(stage, ada)
        await talking(stage, ada)
        await moving(stage, ada)
        await compacting(stage, ada)
        await injecting(stage, ada)


async def learning(stage: Stage, ada: Caller) -> str:
    """Play the scene, and return the id of the memory that is shared."""
    stage.scene("Ada learns", "Maya plans a dinner and talks. Ada keeps what will matter later.")
    notes: list[tuple[str, dict[str, Any]]] = [
        (ALLERGY, {"subject": "Bob", "importance": 9}),
        (THERAPY, {"subject": "Maya"}),
        (MACHINE, {"category": "knowledge"}),
        (HOLIDAY, {"subject": "Maya", "scope": "shared"}),
    ]
    for content, details in notes:
        made = await stage.memorize(ada, content, **details)
        told = "for every assistant" if "scope" in details else "private, for Ada alone"
        stage.answer(f"{made['status']} {short_id(made['id'])}, {told}")
    return str(made["id"])


async def remembering(stage: Stage, ada: Caller) -> None:
    stage.scene(
        "Days later, in a new conversation: recall by meaning",
        "Ada's first process has ended, this is a new one. Question and memory do not have one word"
        " in common. The bars say why it was found; together they are its score.",
    )
    await stage.recall(ada, "Is a dessert with nuts safe for everyone?", explained=True)
    stage.scene(
        "Recall by words",
        "Every question also goes through a word index, for what meaning leaves vague: names,"
        " numbers and codes.",
    )
    await stage.recall(ada, "KX-2291", explained=True)


async def judging(stage: Stage, ada: Caller) -> None:
    stage.scene(
        "The same again, or the opposite?",
        "What is known is not stored twice. But one word can turn a statement around: to a model"
        " these two are 93 % alike. kinmem compares negations, numbers, dates and names as well;"
        " where it is not clear which of two holds, it asks.",
    )
    known = await stage.memorize(ada, "our friend Bob is allergic to peanuts!")
    is_known = known["status"] == "duplicate_of"
    kept = "nothing was stored" if is_known else "stored beside what it repeats"
    stage.answer(f"{known['status']} {short_id(known['id'])}, {kept}")
    made = await stage.memorize(ada, DENIED, subject="Bob")
    stage.answer(f"{made['status']} {short_id(made['id'])}, stored beside what it contradicts")
    review = await stage.ask(ada, "review_memories")
    while review["issues"]:
        issue = review["issues"][0]
        ids = " and ".join(map(short_id, issue["memoryIds"]))
        stage.answer(f"{issue['type']}, {ids}: {issue['description']}", style="yellow")
        shown = f"{issue['id']}, {short_id(known['id'])} stays"
        keep = known["id"] if known["id"] in issue["memoryIds"] else None
        review = await stage.ask(ada, "review_memories", shown, apply=[issue["id"]], keep=keep)
        stage.answer(review["summary"])
    gone = await stage.ask(ada, "forget", short_id(made["id"]), memory_id=made["id"])
    stage.answer(f"{gone['status']}; until {gone['restorableUntil'][:10]} it can be restored")


async def sharing(stage: Stage, ben: Caller, holiday: str) -> None:
    stage.scene(
        "Ben knows what was shared, and nothing else",
        "Every Kin has a file of its own: Ben's process never opens Ada's. What she shared he may"
        " read, but not change.",
    )
    await stage.recall(ben, "When is her next vacation?")
    await stage.recall(ben, "therapist")
    await stage.refused(ben, "forget", short_id(holiday), memory_id=holiday)


async def correcting(stage: Stage, ada: Caller, ben: Caller, holiday: str) -> None:
    stage.scene("Things change", "Ada corrects what she shared; Ben's next question finds it.")
    now = await stage.ask(ada, "update_memory", MOVED, memory_id=holiday, content=MOVED)
    stage.answer(f"{short_id(now['id'])} is now at version {now['version']}; the old text is kept")
    await stage.recall(ben, "When is her next vacation?")


async def looking(stage: Stage, ada: Caller) -> None:
    stage.scene("What Ada knows now", "Nothing is hidden: everything can be listed and changed.")
    listed = await stage.ask(ada, "list_memories")
    for memory in listed["memories"]:
        stage.answer(line(memory))


async def talking(stage: Stage, ada: Caller) -> None:
    """Do what a client's hooks do after `kinmem install`: pass on each prompt and answer."""
    stage.scene(
        "Ada listens: memory that grows by itself",
        "With hooks (kinmem install claude-code) nobody has to call memorize: each turn is stored"
        " first and learned from after, here by rules, without any model.",
    )
    known = {memory["id"] for memory in await since(ada, set())}
    for number, (prompt, answer) in enumerate(TURNS, 1):
        await turn(stage, ada, MONDAY, number, prompt, answer)
    await learned(ada)
    for memory in await since(ada, known):
        stage.answer(f"learned: {line(memory)}")


async def moving(stage: Stage, ada: Caller) -> None:
    stage.scene(
        "What was true gives way to what is",
        "The new fact contradicts an old one: that is kept as history, with the time it held.",
    )
    await turn(stage, ada, FRIDAY, 1, *MOVED_HOUSE)
    await learned(ada)
    gone = await ada("list_memories", state="superseded")
    for memory in gone["memories"]:
        stage.answer(f"superseded: {line(memory)}", style="yellow")
    await stage.recall(ada, "Where do I live?")


async def compacting(stage: Stage, ada: Caller) -> None:
    stage.scene(
        "A long conversation gets short",
        f"Of {SMALL_TALK} turns the oldest twenty become two summaries; the latest stay as they"
        " are.",
    )
    for number in range(SMALL_TALK):
        await observe(ada, FRIDAY, 100 + number, "prompt", f"Step {number}: is the recipe done?")
        await observe(ada, FRIDAY, 100 + number, "answer", f"Step {number} of the recipe is done.")
    await learned(ada)
    text = await context(ada, FRIDAY)
    for shown in [part for part in text.splitlines() if part.strip()][:6]:
        stage.answer(one_line(shown)[:110])
    stage.answer(f"... {len(text):,} characters in all")


async def injecting(stage: Stage, ada: Caller) -> None:
    stage.scene(
        "The next conversation begins with what matters",
        "A new session, a new prompt: the memories that fit it stand beside it, marked as notes.",
    )
    notes = await turn(stage, ada, NEXT, 1, LATER, "")
    for shown in notes.splitlines():
        stage.answer(shown)
    if not notes:
        stage.answer("(nothing fits)", style="yellow")


async def turn(
    stage: Stage, ada: Caller, session: str, number: int, prompt: str, answer: str
) -> str:
    """Pass on a prompt and its answer, and return the notes that came back."""
    stage.quote("Maya", prompt)
    notes = await observe(ada, session, number, "prompt", prompt)
    if answer:
        await observe(ada, session, number, "answer", answer)
    return notes


async def observe(ada: Caller, session: str, number: int, event: str, text: str) -> str:
    told = await ada.said(
        "observe", event=event, session=session, prompt_id=f"{session}-{number}", text=text
    )
    output: dict[str, Any] = json.loads(told)
    return str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))


async def learned(ada: Caller) -> None:
    """Wait until the server has learned from everything it heard."""
    while json.loads(await ada.read("kinmem://stats"))["conversations"]["waiting"]:
        await asyncio.sleep(0.05)


async def since(ada: Caller, known: set[str]) -> list[dict[str, Any]]:
    """Return the memories that are not in `known`, oldest first."""
    listed = await ada("list_memories", sort="oldest")
    return [memory for memory in listed["memories"] if memory["id"] not in known]


async def context(ada: Caller, session: str) -> str:
    return await ada.read(f"kinmem://context/{session}")
