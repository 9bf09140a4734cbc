"""What is learned from a conversation by rules still answers, and learning never looks ahead."""

from dataclasses import replace

import pytest

from benchmarks import data
from benchmarks.baselines import Remembering
from benchmarks.replay import extracted, replayed, scored
from kinmem.llm.builtin import BuiltinEmbedder
from tests.sweeps import sample

CONVERSATIONS = sample(data.own_set()["everyday"], 2)


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_what_people_said_is_found_in_what_was_learned(conversation):
    result = replayed(conversation, Remembering(BuiltinEmbedder()))
    assistants = frozenset(
        id
        for id, note in zip(conversation.ids, conversation.notes, strict=True)
        if note["speaker"] == "assistant"
    )

    scores = scored(result, assistants)

    # What is not learned is found in the talk; of some twenty questions one may fall behind.
    assert sum(scores.of_both) >= 0.94 * sum(scores.of_turns)
    assert sum(scores.of_memories) >= 0.75 * sum(scores.of_turns)
    assert result.kept < 0.8 * result.said
    assert all(len(turns) <= 3 for hits in result.of_memories for turns in hits)


@pytest.mark.parametrize("conversation", CONVERSATIONS, ids=lambda one: one.name)
def test_extraction_sees_only_the_past(conversation):
    half = len(conversation.ids) // 2
    first = replace(
        conversation,
        ids=conversation.ids[:half],
        notes=conversation.notes[:half],
        sessions=conversation.sessions[:half],
    )

    notes, everything = extracted(first)[0], extracted(conversation)[0]

    assert notes == everything[: len(notes)]
    assert all(note.turns[0] not in first.ids for note in everything[len(notes) :])
