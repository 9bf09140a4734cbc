"""The demo's second half: a conversation from which the memory grows by itself."""

import asyncio
import json
from typing import Any

from kinmem.cli.client import Caller
from kinmem.cli.stage import Stage, line
from kinmem.cli.terminal import one_line

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
MOVED = ("I no longer live in Lyon, I live in Berlin now.", "How is the new flat?")
LATER = "Shall I take trains or planes to see my sister Clara?"
SMALL_TALK = 36


async def talking(stage: Stage, ada: Caller) -> None:
    """What a client's hooks do after `kinmem install`: they pass on each prompt and answer."""
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
    await turn(stage, ada, FRIDAY, 1, *MOVED)
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
    """Pass on a prompt and its answer; the notes that came back."""
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
    """What is remembered besides what was known, oldest first."""
    listed = await ada("list_memories", sort="oldest")
    return [memory for memory in listed["memories"] if memory["id"] not in known]


async def context(ada: Caller, session: str) -> str:
    return await ada.read(f"kinmem://context/{session}")
