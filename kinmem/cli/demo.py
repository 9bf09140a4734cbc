"""kinmem demo: two assistants of one person, each with a server process of its own."""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, TextIO

from rich.text import Text

from kinmem.cli.client import Caller, converse, serving
from kinmem.cli.demo_talk import compacting, injecting, moving, talking
from kinmem.cli.pages import short_id
from kinmem.cli.stage import Stage, line

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

and tell it something worth remembering. To look inside: kinmem list, kinmem recall, kinmem stats.
"""


def play(*, keep: bool = False) -> None:
    """Play all scenes in a folder of their own, and clean up."""
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
            stage.say(Text(f"The memories stay in {home}: kinmem list --kin ada --home {home}"))
    finally:
        if not keep:
            shutil.rmtree(home, ignore_errors=True)


def client_settings() -> str:
    """What starts this very kinmem; a package that was installed in passing has no lasting path."""
    script = shutil.which("kinmem", path=str(Path(sys.executable).parent))
    lasting = script and "uv/archive" not in script
    command = {"command": script} if lasting else {"command": "uvx", "args": ["kinmem"]}
    return json.dumps({"mcpServers": {"kinmem": command}})


async def story(stage: Stage, home: Path, errors: TextIO) -> None:
    """The scenes in order. Each `serving` block is the life of one server process."""
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
    """The id of what is shared."""
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
    stage.answer(f"{known['status']} {short_id(known['id'])}, nothing was stored")
    made = await stage.memorize(ada, DENIED, subject="Bob")
    stage.answer(f"{made['status']} {short_id(made['id'])}, stored beside what it contradicts")
    review = await stage.ask(ada, "review_memories")
    for issue in review["issues"]:
        ids = " and ".join(map(short_id, issue["memoryIds"]))
        stage.answer(f"{issue['type']}, {ids}: {issue['description']}", style="yellow")
        shown = f"{issue['id']}, {short_id(known['id'])} stays"
        left = await stage.ask(ada, "review_memories", shown, apply=[issue["id"]], keep=known["id"])
        stage.answer(left["summary"])
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
