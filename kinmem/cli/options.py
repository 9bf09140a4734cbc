"""Options and arguments of the commands, declared once."""

from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import typer

from kinmem import models
from kinmem.cli import command_context
from kinmem.cli.command_context import KINS, Complete, among, flag, from_memory, option


def argument(metavar: str, help: str, offer: Complete | None = None) -> Any:
    return typer.Argument(metavar=metavar, help=help, show_default=False, autocompletion=offer)


IDS = from_memory(command_context.ids)
SUBJECTS, SESSIONS = from_memory(command_context.subjects), from_memory(command_context.sessions)


def in_list(text: str) -> Complete:
    """Offer the values that a help text lists before its first period."""
    listed = text.rpartition(": ")[2].partition(".")[0].replace(";", ",")
    return among(*(value.split()[-1] for value in listed.split(", ") if value))


# arguments
Text = Annotated[list[str], argument("TEXT", "One statement; - reads stdin.")]
Question = Annotated[list[str], argument("QUESTION", "In your own words.")]
Id = Annotated[
    str, argument("ID", "The memory's id, or its last 8 characters as lists show them.", IDS)
]
KinName = Annotated[str, argument("KIN", "The Kin whose memory it opens.", KINS)]
OtherKin = Annotated[str, argument("KIN", "Name of the other Kin.", KINS)]
MaybeOtherKin = Annotated[str | None, argument("KIN", "Name of the other Kin.", KINS)]
TokenId = Annotated[str, argument("ID", "Id, as `kinmem token list` shows it.")]

# the fields of a memory
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
    option("--scope", "private|shared", "private: for this Kin only; shared: for every Kin."),
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
IdempotencyKey = Annotated[
    str | None,
    option("--idempotency-key", "KEY", "The same call with the same key is done once."),
]

# documents
Files = Annotated[list[str], argument("FILE...", "Files and folders; - reads stdin.")]
Recursive = Annotated[bool, flag("--recursive -r", "Read the documents in folders.")]
Trusted = Annotated[bool, flag("--trust", "Allow recall of what reads like orders to a model.")]
Title = Annotated[
    str | None, option("--title", "TEXT", "Title; by default the document's own, or the file name.")
]
Description = Annotated[str | None, option("--description", "TEXT", "What it is, in a sentence.")]
Ids = Annotated[
    list[str] | None, argument("ID", "Ids of memories, or their last 8 characters.", IDS)
]

# filters
Tags = Annotated[
    list[str] | None, option("--tag -t", "TAG", "Repeat for several; a memory must have them all.")
]
Since = Annotated[
    str | None,
    option("--since", "TIME", "From this time on: 2026-05, 2026-05-08T14:00, yesterday."),
]
Until = Annotated[
    str | None,
    option("--until", "TIME", "Up to and including this time: 2026-05-08, last week."),
]
STATES = f"{', '.join(models.State)}; by default {' and '.join(models.LIVE)}."
State = Annotated[
    str | None,
    option(
        "--state",
        "NAME",
        STATES,
        offer=among(*models.State),
    ),
]

Place = Annotated[
    str | None, option("--place", "NAME", "The project it belongs to: a name, a folder, or .")
]

# explore
Known = Annotated[
    list[str], argument("NAME", "An entity or a subject; `me` is the user.", SUBJECTS)
]
Depth = Annotated[int, option("--depth -d", "1|2", "2 adds the relations of its neighbours.")]
To = Annotated[str | None, option("--to", "NAME", "Also show how it is connected with this one.")]

# timeline
Day = Annotated[
    str | None, option("--day -d", "DAY", "A date, a month or a year: 2026-05, yesterday.")
]

# recall
Limit = Annotated[int | None, option("--limit -n", "1-100", "Most results.")]
AsOf = Annotated[
    str | None,
    option("--as-of", "TIME", "Answer with what was true at that time: 2026-05, last year."),
]
MODES = "Ranking: relevance, recent, important, historical, comprehensive, balanced, kinbot, kore."
Mode = Annotated[str | None, option("--mode", "NAME", MODES, offer=in_list(MODES))]
IncludeArchived = Annotated[bool, flag("--include-archived", "Include archived memories.")]
Explain = Annotated[bool, flag("--explain", "Show why each memory was found.")]

# list
Sort = Annotated[
    Literal["newest", "oldest", "importance", "used", "said"],
    option("--sort", "ORDER", "What comes first: newest, oldest, importance, used, said."),
]
PageLimit = Annotated[int, option("--limit -n", "1-200", "Memories per page; 50 by default.")]
Cursor = Annotated[str | None, option("--cursor", "TEXT", "Continue where the last page ended.")]
All = Annotated[bool, flag("--all", "Show every page.")]

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
Content = Annotated[str | None, option("--content", "TEXT", "New content; - reads stdin.")]
Pinned = Annotated[bool | None, flag("--pin/--unpin", "Pinned memories never fade.")]
Priority = Annotated[
    float | None,
    option("--priority", "0-1", "How much it matters in daily work; affects its tier."),
]
Archived = Annotated[
    bool | None, flag("--archive/--unarchive", "Archived memories are kept but not recalled.")
]
Clear = Annotated[
    list[str] | None,
    option("--clear", "FIELD", f"Empty one of: {', '.join(CLEARABLE)}.", offer=among(*CLEARABLE)),
]
LINK = "Link it to another memory: part_of, references, ...; related_to by default. Repeatable."
Link = Annotated[list[str] | None, option("--link", "ID[:RELATION]", LINK)]
Unlink = Annotated[list[str] | None, option("--unlink", "ID", "Remove its links with this memory.")]
IfVersion = Annotated[
    int | None, option("--if-version", "N", "Change it only if it is still at this version.")
]
Erase = Annotated[bool, flag("--erase", "Erase it for good; it cannot be restored.")]
Yes = Annotated[bool, flag("--yes -y", "Do not ask before erasing.")]

ForgottenId = Annotated[str | None, argument("ID", "Id of one memory, as lists show it.", IDS)]
About = Annotated[
    str | None,
    option("--about", "NAME", "Erase for good everything that names this person or thing."),
]
DryRunScrub = Annotated[bool, flag("--dry-run", "Only show where secrets are stored.")]
DryRunAbout = Annotated[bool, flag("--dry-run", "With --about, only show what would be erased.")]

# store migrate
ToStore = Annotated[
    str, option("--to", "PLACE", "Where to: postgresql://HOST/DATABASE, or the folder of a home.")
]
FromStore = Annotated[
    str | None, option("--from", "PLACE", "Where from; by default where memories are kept now.")
]
OnlyKin = Annotated[
    list[str] | None, option("--only", "KIN", "Only this Kin. Repeatable; all by default.")
]

# history, undo
MaybeId = Annotated[str | None, argument("ID", "Only the history of this memory.", IDS)]
WriteLimit = Annotated[int, option("--limit -n", "N", "Most entries; 20 by default.")]
Before = Annotated[
    int | None, option("--before", "WRITE", "Continue with the writes before this one.")
]
AsOfWrite = Annotated[
    int | None, option("--as-of", "WRITE", "Show the memories as they were after this write.")
]
What = Annotated[
    str | None,
    argument(
        "WHAT", "Number of a write, name of a batch, or id of a memory; by default the last change."
    ),
]
Last = Annotated[
    int,
    option("--last", "N", "Number of changes to undo, from the last one back; 1 by default.", 1),
]
Cascade = Annotated[bool, flag("--cascade", "Also undo later changes that depend on it.")]
DryRunUndo = Annotated[bool, flag("--dry-run", "Only show what would be undone.")]

# conversations
Session = Annotated[
    str | None,
    argument(
        "SESSION", "Name, as `kinmem sessions` lists it; by default the latest session.", SESSIONS
    ),
]
SessionLimit = Annotated[int, option("--limit -n", "N", "Most entries; 20 by default.")]
Parked = Annotated[bool, flag("--parked", "Show what learning has given up on, and why.")]
Retry = Annotated[bool, flag("--retry", "Let the worker try again what has failed.")]
STEPS = "Run only these steps: learn, embed, tag, link, prune and so on; all by default."
Steps = Annotated[list[str] | None, argument("STEP", STEPS, from_memory(command_context.steps))]
DryRun = Annotated[bool, flag("--dry-run", "Count what would be done, and change nothing.")]
Due = Annotated[bool, flag("--due", "Learn; do the rest only if KINMEM_SLEEP_EVERY has passed.")]
Compress = Annotated[bool, flag("--compress", "Merge similar memories without a model.")]
Linger = Annotated[
    bool,
    flag(
        "--linger",
        "Afterwards, answer hooks for KINMEM_LINGER_MINUTES; not with KINMEM_LOCKING=lockfile.",
    ),
]
Quiet = Annotated[bool, flag("--quiet", "Print nothing.")]
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
        "claude, codex, gemini, cursor or vscode; by default recognised from the input.",
        among("claude", "codex", "gemini", "cursor", "vscode"),
    ),
]
Write = Annotated[bool, flag("--write", "Make the change instead of only showing it.")]
Remove = Annotated[
    bool,
    flag("--remove", "Remove what install has added; without --write, only show it."),
]
Project = Annotated[
    str | None,
    option("--project", "FOLDER", "Change this project's settings instead of the user's."),
]
ServerAddress = Annotated[
    str | None,
    option(
        "--http",
        "URL",
        "Use the server that runs there, as http://127.0.0.1:8765/mcp, with a token of its own.",
    ),
]

# serve, demo, doctor, config, token
Transport = Annotated[
    Literal["stdio", "http", "sse", "streamable-http"] | None,
    option(
        "--transport",
        "NAME",
        "stdio, http, sse or streamable-http; the last three start the same server.",
    ),
]
Host = Annotated[
    str | None,
    option("--host", "ADDRESS", "Address for HTTP; 127.0.0.1 by default."),
]
Port = Annotated[
    int | None, option("--port", "N", "Port for HTTP; 8765 by default, 0 takes a free one.")
]
Workers = Annotated[
    int | None,
    option("--workers", "N", "Processes that answer HTTP together, on PostgreSQL; 1 by default."),
]
PagePort = Annotated[int | None, option("--port", "N", "Port for the page; a free one by default.")]
NoBrowser = Annotated[bool, flag("--no-browser", "Only print the link.")]
InsecureLocal = Annotated[
    bool, flag("--insecure-local", "Ask no token; on a loopback address only.")
]
Keep = Annotated[bool, flag("--keep", "Keep the folder with the memories.")]
Strict = Annotated[bool, flag("--strict", "Exit with code 4 if there are warnings.")]
Repair = Annotated[
    bool,
    flag("--repair", "Mend what is damaged, after a backup; shows it and asks first."),
]
DryRunRepair = Annotated[
    bool, flag("--dry-run", "Show what an upgrade and --repair would do; changes nothing.")
]
YesRepair = Annotated[bool, flag("--yes -y", "Do not ask before repairing.")]
Deep = Annotated[
    bool, flag("--deep", "Compare everything with its sum, words and vectors with the memories.")
]
Online = Annotated[bool, flag("--online", "Try the configured embedding provider too.")]
Which = Annotated[
    list[str] | None, argument("WHICH", "retrieval, latency, throughput ...; all by default.")
]
EmbedderNames = Annotated[
    list[str] | None,
    option("--embedder", "NAME", "One or two, as MEMORY_EMBEDDING_MODEL names them, or builtin."),
]
Short = Annotated[
    bool, flag("--short", "Use few memories and our own questions; takes about a minute.")
]
Drop = Annotated[
    str | None, option("--drop", "EMBEDDER", "Remove the vectors of this one instead.")
]
Changed = Annotated[bool, flag("--changed", "Show only settings that are not at their default.")]
Label = Annotated[str | None, option("--note", "TEXT", "A note by which to recognise it later.")]
Days = Annotated[
    int | None, option("--days", "N", "Days for which it is valid; by default until revoked.")
]
KeyPlace = Annotated[
    str | None,
    argument("WHERE", "Where the key is kept: keyring, the default, or the path of a file."),
]
TokenScope = Annotated[
    Literal["read", "write", "admin"],
    option(
        "--scope",
        "SCOPE",
        "What it may do: read; write, the default; or admin, which also erases and exports.",
    ),
]
Version = Annotated[bool, flag("--version", "Show the versions of kinmem and its engine.")]

# export, import
ExportFile = Annotated[
    str | None, argument("FILE", "The file to write; without it, or with -, stdout.")
]
ExportFormat = Annotated[
    Literal["jsonl", "markdown"],
    option("--format", "jsonl|markdown", "jsonl: everything; markdown: pages to read and edit."),
]
ExportFolder = Annotated[
    str | None, option("--out", "FOLDER", "For Markdown: the new folder for the pages.")
]
ImportFile = Annotated[
    str, argument("FILE", "A JSONL export; or a Markdown page, or the folder of the pages.")
]
DeleteMissing = Annotated[
    bool, flag("--delete-missing", "Forget memories whose line was deleted from its page.")
]
KeepSecrets = Annotated[bool, flag("--keep-secrets", "Keep keys and passwords as they are.")]
ExportSchema = Annotated[bool, flag("--schema", "Print the JSON schema of a line instead.")]
DryRunImport = Annotated[bool, flag("--dry-run", "Only show what would be stored.")]
YesImport = Annotated[bool, flag("--yes -y", "Do not ask before storing it.")]


class Where(TypedDict, total=False):
    """Which memories are meant."""

    category: Category
    subject: Subject
    scope: Scope
    tags: Tags
    since: Since
    until: Until
    place: Place


class Details(TypedDict, total=False):
    """What may be said of a memory besides its content."""

    category: Category
    subject: Subject
    importance: Importance
    scope: Scope
    source_context: SourceContext
    occurred_at: OccurredAt
    tags: NewTags
    expires: Expires
    place: Place


# backup
BackupFolder = Annotated[
    Path | None, argument("[DIR]", "Folder for the backup; by default `backups` in the home.")
]
Encrypt = Annotated[bool, flag("--encrypt", "Encrypt it with a passphrase, in the format of age.")]
PassphraseFile = Annotated[
    Path | None,
    option("--passphrase-file", "FILE", "File with the passphrase; by default it is asked for."),
]
WhichBackup = Annotated[
    str | None, argument("[BACKUP]", "Name or path of a backup; by default the latest in the home.")
]
OnlyKins = Annotated[
    list[str] | None,
    option("--only", "NAME", "Restore only this Kin's own memories; may be repeated.", offer=KINS),
]
RestoreDryRun = Annotated[bool, flag("--dry-run", "Show what would change, and change nothing.")]
RestoreYes = Annotated[bool, flag("--yes -y", "Do not ask.")]
