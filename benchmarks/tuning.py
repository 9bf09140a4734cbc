"""What the settings of injection and compaction do, which no ranking shows: for docs/tuning.md."""

from collections.abc import Mapping, Sequence
from itertools import count
from statistics import mean

from benchmarks.asking import Told, told
from benchmarks.baselines import Remembering
from benchmarks.data import Conversation, data_sets, own_set
from benchmarks.kins import quiet_kin
from benchmarks.report import Row, Table, Target
from kinmem.conversation.compact import Compact
from kinmem.conversation.context import turns_of
from kinmem.conversation.notes import Inject
from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.settings import load
from kinmem.text import estimated_tokens

TOLD: Sequence[Mapping[str, object]] = (
    {},
    {"MEMORY_MAX_RELEVANT": 5},
    {"MEMORY_MAX_RELEVANT": 20},
    {"MEMORY_TOKEN_BUDGET": 200},
    {"MEMORY_TOKEN_BUDGET": 400},
    {"MEMORY_TOKEN_BUDGET": 800},
    {"MEMORY_TOKEN_BUDGET": 1600},
)
COMPACTED: Sequence[Mapping[str, object]] = (
    {},
    {"COMPACTING_BATCH_TURNS": 5},
    {"COMPACTING_BATCH_TURNS": 20},
    {"COMPACTING_MIN_KEEP_TURNS": 5},
    {"COMPACTING_MIN_KEEP_TURNS": 30},
)
SESSION = "s"
_sessions = count()


def measure(short: bool) -> tuple[list[Table], list[Target]]:
    """On the shared sets, or with `short` on the own one."""
    sets = own_set() if short else data_sets()
    tables = [_told(name, conversations) for name, conversations in sets.items()]
    tables += [_compacted(name, conversations) for name, conversations in sets.items()]
    return tables, []


def _told(name: str, conversations: Sequence[Conversation]) -> Table:
    embedder = Remembering(BuiltinEmbedder())
    found: dict[str, list[tuple[float, int]]] = {}
    for conversation in conversations:
        with told(conversation, embedder) as kin:
            for variables in TOLD:
                found.setdefault(_named(variables), []).extend(notes(kin, variables))
    rows: list[Row] = [
        (
            named,
            round(100 * mean(share for share, _ in part), 1),
            round(mean(tokens for _, tokens in part)),
        )
        for named, part in found.items()
    ]
    columns = ("", "evidence told, %", "tokens a prompt")
    note = (
        "Each question is the first prompt of a session; tokens are estimated, with the block's"
        " head. A prompt that nothing fits is told nothing."
    )
    return Table(f"What a turn is told, {name}", columns, rows, note)


def notes(kin: Told, variables: Mapping[str, object]) -> list[tuple[float, int]]:
    """For each question the share of its evidence in the notes, and the notes' tokens."""
    settings = load({**variables, "KINMEM_KIN": kin.kin.kin}, environment={})
    shown = kin.kin.store.shown
    inject = Inject(shown, settings, kin.kin.clock)
    found = []
    for question in kin.questions:
        session = f"{next(_sessions)}"
        text = inject.for_prompt(session, "1", kin.answer(question.text, settings))
        turns = {kin.turns[id] for id in shown.versions(session)}
        share = len(turns & question.gold) / len(question.gold)
        found.append((share, estimated_tokens(text)))
    return found


def _compacted(name: str, conversations: Sequence[Conversation]) -> Table:
    rows: list[Row] = []
    for variables in COMPACTED:
        parts = [compacted(one, variables) for one in conversations]
        calls, whole, tokens, all_tokens = (sum(column) for column in zip(*parts, strict=True))
        count = len(parts)
        share = round(100 * tokens / all_tokens, 1)
        rows.append((_named(variables), calls / count, whole / count, tokens // count, share))
    columns = (
        "",
        "summaries made",
        "turns as they were said",
        "tokens of the context",
        "% of all said",
    )
    note = (
        "Each conversation as one session; the mean of the conversations at their ends. Every"
        " summary made is one call of COMPACTING_MODEL, those that replace two older ones too; here"
        " sentences are chosen, without a model."
    )
    return Table(f"Compaction, {name}", columns, rows, note)


def compacted(
    conversation: Conversation, variables: Mapping[str, object]
) -> tuple[int, int, int, int]:
    """Summaries made, turns left whole, tokens of the context and of all that was said."""
    with quiet_kin(**variables) as kin:
        notes = [str(note["content"]) for note in conversation.notes]
        for at in range(0, len(notes) - 1, 2):
            kin.record_turn(SESSION, notes[at], notes[at + 1], turn=str(at))
        done = Compact(kin.store, None, kin.settings, kin.clock).summarise(SESSION)
        return (
            done["snapshots"] + done["folded"],
            len(turns_of(kin.store.turns.messages(SESSION, uncompacted=True))),
            estimated_tokens(kin.context(SESSION)),
            sum(map(estimated_tokens, notes)),
        )


def _named(variables: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in variables.items()) or "as shipped"
