"""Options and arguments of the commands, declared once."""

from typing import Annotated, Any, Literal

import typer

from kinmem.cli import shell_completion
from kinmem.cli.shell_completion import Complete, among, from_memory


def option(
    names: str,
    metavar: str,
    help: str,
    least: int | None = None,
    offer: Complete | None = None,
) -> Any:
    """An option with a value: option("--limit -n", "N", "At most so many."). A shell may `offer`
    values for it."""
    return typer.Option(
        *names.split(),
        metavar=metavar,
        help=help,
        show_default=False,
        min=least,
        autocompletion=offer,
    )


def flag(names: str, help: str) -> Any:
    """An option without a value."""
    return typer.Option(*names.split(), metavar="", help=help, show_default=False)


def argument(metavar: str, help: str, offer: Complete | None = None) -> Any:
    return typer.Argument(metavar=metavar, help=help, show_default=False, autocompletion=offer)


KINS, IDS = from_memory(shell_completion.kins), from_memory(shell_completion.ids)
SUBJECTS, SESSIONS = from_memory(shell_completion.subjects), from_memory(shell_completion.sessions)


def in_list(text: str) -> Complete:
    """The values that a help text lists before its first stop."""
    listed = text.rpartition(": ")[2].partition(".")[0].replace(";", ",")
    return among(*(value.split()[-1] for value in listed.split(", ") if value))


# before or after every command
Kin = Annotated[
    str | None, option("--kin", "NAME", "Whose memory; else KINMEM_KIN, else default.", offer=KINS)
]
Home = Annotated[
    str | None, option("--home", "FOLDER", "Where it is; else KINMEM_HOME, else ~/.kinmem.")
]
Json = Annotated[bool, flag("--json", "Answer in JSON.")]

# what is meant
Text = Annotated[list[str], argument("TEXT", "One statement; - reads it from stdin.")]
Question = Annotated[list[str], argument("QUESTION", "In your own words.")]
Id = Annotated[
    str, argument("ID", "The memory's id, or its last 8 characters as lists show them.", IDS)
]
KinName = Annotated[str, argument("KIN", "Whose memory it opens.", KINS)]
TokenId = Annotated[str, argument("ID", "As token list shows it.")]

# what a memory is
CATEGORIES = (
    "fact, preference, decision, knowledge; identity, relationship, event, activity, plan,"
    " context, ephemeral."
)
Category = Annotated[
    str | None, option("--category -c", "NAME", CATEGORIES, offer=in_list(CATEGORIES))
]
Subject = Annotated[
    str | None, option("--subject -s", "TEXT", "Who or what it is about.", offer=SUBJECTS)
]
Scope = Annotated[
    Literal["private", "shared"] | None,
    option("--scope", "private|shared", "private: this Kin's alone; shared: for every Kin."),
]
Importance = Annotated[float | None, option("--importance -i", "1-10", "1 mundane, 10 critical.")]
SourceContext = Annotated[
    str | None, option("--source-context", "TEXT", "Where it was learned, in a sentence or two.")
]
OccurredAt = Annotated[
    str | None,
    option("--occurred-at", "TIME", "When it happened or was said: 2026-05-08, yesterday."),
]
Expires = Annotated[
    str | None, option("--expires", "TIME", "When it ends: a time, 30d, tomorrow, in 3 days.")
]
NewTags = Annotated[list[str] | None, option("--tag -t", "TAG", "Repeat for several.")]
Speaker = Annotated[str | None, option("--speaker", "NAME", "Who said it.")]

# documents
Files = Annotated[list[str], argument("FILE...", "Files and folders; - reads stdin.")]
Recursive = Annotated[bool, flag("--recursive -r", "Of folders, the documents in them.")]
Trusted = Annotated[bool, flag("--trust", "Recall what reads like instructions as well.")]
Title = Annotated[str | None, option("--title", "TEXT", "Else its own title, or the file's name.")]
Description = Annotated[str | None, option("--description", "TEXT", "What it is, in a sentence.")]
Ids = Annotated[
    list[str] | None, argument("ID", "Ids of memories, or their last 8 characters.", IDS)
]

# which memories
Tags = Annotated[
    list[str] | None, option("--tag -t", "TAG", "Repeat for several; all must be there.")
]
Since = Annotated[
    str | None, option("--since", "TIME", "Not before: 2026-05, 2026-05-08T14:00, yesterday.")
]
Until = Annotated[
    str | None,
    option("--until", "TIME", "Not after, the whole day included: 2026-05-08, last week."),
]
STATES = "active, stale, archived, deleted, superseded; else what is alive."
State = Annotated[
    str | None,
    option(
        "--state",
        "NAME",
        STATES,
        offer=among("active", "stale", "archived", "deleted", "superseded"),
    ),
]

Place = Annotated[
    str | None, option("--place", "NAME", "The project it belongs to: a name, a folder, or .")
]

# explore
Known = Annotated[list[str], argument("NAME", "An entity or a subject; me is the user.", SUBJECTS)]
Depth = Annotated[int, option("--depth -d", "1|2", "2: the relations of its neighbours as well.")]
To = Annotated[str | None, option("--to", "NAME", "How it leads to this one.")]

# timeline
Day = Annotated[
    str | None, option("--day -d", "DAY", "A date, a month or a year: 2026-05, yesterday.")
]

# recall
Limit = Annotated[int | None, option("--limit -n", "1-100", "At most so many.")]
AsOf = Annotated[
    str | None, option("--as-of", "TIME", "Answer from what was true then: 2026-05, last year.")
]
MODES = "Ranking: relevance, recent, important, historical, comprehensive, balanced, kinbot, kore."
Mode = Annotated[str | None, option("--mode", "NAME", MODES, offer=in_list(MODES))]
IncludeArchived = Annotated[bool, flag("--include-archived", "Archived memories too.")]
Explain = Annotated[bool, flag("--explain", "Show why each was found.")]

# list
Sort = Annotated[
    Literal["newest", "oldest", "importance", "used", "said"],
    option("--sort", "ORDER", "newest, oldest, importance, used, said: what comes first."),
]
PageLimit = Annotated[int, option("--limit -n", "1-200", "So many a page; 50 by default.")]
Cursor = Annotated[str | None, option("--cursor", "TEXT", "Go on where the last page ended.")]
All = Annotated[bool, flag("--all", "Every page.")]

# update, forget
CLEARABLE = (
    "subject",
    "importance",
    "tags",
    "source-context",
    "occurred-at",
    "expires",
    "priority",
    "place",
)
Content = Annotated[
    str | None, option("--content", "TEXT", "What it says from now on; - reads it from stdin.")
]
Pinned = Annotated[bool | None, flag("--pin/--unpin", "Whether it never fades.")]
Priority = Annotated[
    float | None, option("--priority", "0-1", "How much it matters in daily work; sets its tier.")
]
Archived = Annotated[
    bool | None, flag("--archive/--unarchive", "Whether it is kept but not recalled.")
]
Clear = Annotated[
    list[str] | None,
    option("--clear", "FIELD", f"Empty one of: {', '.join(CLEARABLE)}.", offer=among(*CLEARABLE)),
]
LINK = "Link it with another, as part_of, references, ...; related_to by default. Repeatable."
Link = Annotated[list[str] | None, option("--link", "ID[:RELATION]", LINK)]
Unlink = Annotated[list[str] | None, option("--unlink", "ID", "Take back its links with this one.")]
IfVersion = Annotated[
    int | None, option("--if-version", "N", "Only if it is still at this version.")
]
Erase = Annotated[bool, flag("--erase", "For good: it cannot be restored.")]
Yes = Annotated[bool, flag("--yes -y", "Do not ask before erasing.")]

ForgottenId = Annotated[str | None, argument("ID", "One memory, as lists show it.", IDS)]
About = Annotated[
    str | None, option("--about", "NAME", "Erase for good all that names somebody or something.")
]
DryRunAbout = Annotated[bool, flag("--dry-run", "With --about: only show what would be erased.")]

# history, undo
MaybeId = Annotated[str | None, argument("ID", "Of one memory; else what was done to all.", IDS)]
WriteLimit = Annotated[int, option("--limit -n", "N", "At most so many; 20 by default.")]
Before = Annotated[int | None, option("--before", "WRITE", "Go on below this write.")]
AsOfWrite = Annotated[
    int | None, option("--as-of", "WRITE", "The memories as they stood after that write.")
]
What = Annotated[
    str | None,
    argument("WHAT", "Number of a write, name of a batch, or a memory's id; else the last thing."),
]
Last = Annotated[int, option("--last", "N", "So many of the last things; 1 by default.", 1)]
Cascade = Annotated[bool, flag("--cascade", "Undo what was built on it later, too.")]
DryRunUndo = Annotated[bool, flag("--dry-run", "Only show what would be undone.")]

# conversations
Session = Annotated[
    str | None, argument("SESSION", "As sessions lists it; the latest one else.", SESSIONS)
]
SessionLimit = Annotated[int, option("--limit -n", "N", "At most so many; 20 by default.")]
Parked = Annotated[bool, flag("--parked", "What learning has given up, and why.")]
Retry = Annotated[bool, flag("--retry", "Let the worker try again what failed.")]
STEPS = "Only these: learn, embed, tag, link, prune and so on; all by default."
Steps = Annotated[list[str] | None, argument("STEP", STEPS, from_memory(shell_completion.steps))]
DryRun = Annotated[bool, flag("--dry-run", "Count what would be done, and change nothing.")]
Due = Annotated[bool, flag("--due", "Learn, and all else only if KINMEM_SLEEP_EVERY has passed.")]
Compress = Annotated[bool, flag("--compress", "Merge similar memories without a model.")]
Linger = Annotated[bool, flag("--linger", "Then answer hooks for KINMEM_LINGER_MINUTES.")]
Quiet = Annotated[bool, flag("--quiet", "Say nothing.")]
Apply = Annotated[
    list[str] | None, option("--apply", "ISSUE", "Settle this issue as suggested; repeatable.")
]
Refuse = Annotated[
    list[str] | None, option("--refuse", "ISSUE", "Never raise this issue again; repeatable.")
]
KeepMemory = Annotated[str | None, option("--keep", "ID", "The memory that stays.", offer=IDS)]
INSTALLABLE = "claude-code, claude-desktop, codex, gemini, cursor, vscode."
Client = Annotated[str, argument("CLIENT", INSTALLABLE, in_list(INSTALLABLE))]
HookClient = Annotated[
    str | None,
    argument(
        "CLIENT",
        "claude, codex, gemini, cursor or vscode; told by the input else.",
        among("claude", "codex", "gemini", "cursor", "vscode"),
    ),
]
Write = Annotated[bool, flag("--write", "Do it; else it is only shown.")]
Remove = Annotated[
    bool,
    flag("--remove", "Take out what install has added; it, too, is only shown without --write."),
]
Project = Annotated[
    str | None, option("--project", "FOLDER", "Into this project instead of the user's settings.")
]

# serve, demo, doctor, config, token
Transport = Annotated[
    Literal["stdio", "http", "sse", "streamable-http"] | None,
    option(
        "--transport", "NAME", "stdio, or http, sse, streamable-http: one server for all three."
    ),
]
Host = Annotated[
    str | None, option("--host", "ADDRESS", "For HTTP; others than 127.0.0.1 need a token.")
]
Port = Annotated[
    int | None, option("--port", "N", "For HTTP; 8765 by default, 0 takes a free one.")
]
Keep = Annotated[bool, flag("--keep", "Keep the folder with the memories.")]
Strict = Annotated[bool, flag("--strict", "End with exit code 4 if something wants a look.")]
Online = Annotated[bool, flag("--online", "Try the configured embedding provider too.")]
Which = Annotated[
    list[str] | None, argument("WHICH", "retrieval, latency, throughput ...; all by default.")
]
EmbedderNames = Annotated[
    list[str] | None,
    option("--embedder", "NAME", "One or two, as MEMORY_EMBEDDING_MODEL names them, or builtin."),
]
Short = Annotated[bool, flag("--short", "Few memories and own questions: about a minute.")]
Drop = Annotated[
    str | None, option("--drop", "EMBEDDER", "Remove the vectors of this one instead.")
]
Changed = Annotated[bool, flag("--changed", "Only what is not the default.")]
Label = Annotated[str | None, option("--note", "TEXT", "To know it by later.")]
Days = Annotated[int | None, option("--days", "N", "How long it is valid; else until revoked.")]
Version = Annotated[bool, flag("--version", "Show the versions of kinmem and its engine.")]
