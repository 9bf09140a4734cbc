"""The benchmarks measure what they say, and recall holds its own on a small set."""

import json
import math
from pathlib import Path

import pytest

from benchmarks import data
from benchmarks.__main__ import run
from benchmarks.report import Table, Target, as_json
from benchmarks.retrieval import BASELINES, KINMEM, MEASURES, Result, asked, means
from benchmarks.scoring import ndcg_at, recall_at, reciprocal_rank
from kinmem.llm.builtin import BuiltinEmbedder


@pytest.mark.parametrize(
    ("k", "ranked", "gold", "share"),
    [
        pytest.param(5, "abcde", "ac", 1.0, id="all found"),
        pytest.param(2, "abcde", "ac", 0.5, id="half of it in time"),
        pytest.param(5, "xyz", "a", 0.0, id="none found"),
        pytest.param(5, "", "a", 0.0, id="nothing returned"),
        pytest.param(10, "aab", "ab", 1.0, id="found twice counts once"),
    ],
)
def test_recall_is_the_share_of_gold_found(k, ranked, gold, share):
    assert recall_at(k, ranked, gold) == share


@pytest.mark.parametrize(
    ("ranked", "gold", "expected"),
    [("abc", "a", 1.0), ("xab", "ab", 1 / 2), ("xyzb", "b", 1 / 4), ("xyz", "b", 0.0)],
)
def test_reciprocal_rank_looks_at_the_first_gold_one(ranked, gold, expected):
    assert reciprocal_rank(ranked, gold) == expected


@pytest.mark.parametrize(
    ("k", "ranked", "gold", "expected"),
    [
        pytest.param(10, "ab", "ab", 1.0, id="best order"),
        pytest.param(10, "ba", "ab", 1.0, id="gold among itself has no order"),
        pytest.param(10, "xa", "a", 1 / math.log2(3), id="second place"),
        pytest.param(10, "xa", "ab", (1 / math.log2(3)) / (1 + 1 / math.log2(3)), id="one missing"),
        pytest.param(1, "ax", "ab", 1.0, id="no more than k could be found"),
        pytest.param(10, "xyz", "a", 0.0, id="none found"),
    ],
)
def test_ndcg_discounts_by_place(k, ranked, gold, expected):
    assert ndcg_at(k, ranked, gold) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08"),
        ("March-15-2024", "2024-03-15"),
        ("", None),
        ("yesterday", None),
    ],
)
def test_dates_of_the_data_sets_become_iso(text, iso):
    assert data.day(text) == iso


def test_undated_turns_take_the_date_of_their_session_and_neighbours_only_from_it(tmp_path: Path):
    turns = [("a", 1, "May-02-2024"), ("b", 1, ""), ("c" * 300, 2, "May-09-2024"), ("d", 2, "")]
    docs = [
        {"id": str(at), "text": text, "speaker": "user", "session": session, "date": date}
        for at, (text, session, date) in enumerate(turns)
    ]
    file = tmp_path / "talk.json"
    file.write_text(json.dumps({"name": "talk", "docs": docs, "queries": []}))

    notes = data.conversation(file).notes

    days = [note["occurred_at"] for note in notes]
    assert days == ["2024-05-02", "2024-05-02", "2024-05-09", "2024-05-09"]
    assert [note["source_context"] for note in notes] == ["b", "a", "d", "c" * 200]


def test_our_own_set_is_well_formed():
    conversations = data.own_set()["everyday"]

    assert sum(len(one.ids) for one in conversations) >= 60
    assert sum(len(one.questions) for one in conversations) >= 40
    for one in conversations:
        assert all(question.gold <= set(one.ids) for question in one.questions)


def test_recall_finds_more_than_words_or_vectors_alone():
    results: list[Result] = []
    for conversation in data.own_set()["everyday"]:
        results += asked(conversation, BuiltinEmbedder())
    answerable = [result for result in results if result.category != data.ADVERSARIAL]

    scores = {
        way: dict(zip(MEASURES, means(r for r in answerable if r.way == way), strict=True))
        for way in (*BASELINES, KINMEM)
    }

    for measure in ("R@5", "R@10", "nDCG@10"):
        assert scores[KINMEM][measure] >= max(scores[way][measure] for way in BASELINES)
    assert scores[KINMEM]["R@10"] >= 90
    assert scores[KINMEM]["nDCG@10"] >= 75


def test_the_tool_list_fits_its_budget():
    tables, targets = run(["tool-list"], short=True)

    assert [table.title for table in tables] == ["Tool list"]
    assert all(target.met for target in targets)


def test_a_table_is_markdown_and_a_report_json():
    table = Table("Speed", ("what", "ms"), [("recall", 1234.5), ("none", None)], "Quick.")

    assert str(table).splitlines() == [
        *("### Speed", "", "Quick.", "", "| what | ms |", "| --- | --- |"),
        *("| recall | 1,234.5 |", "| none |  |"),
    ]
    report = as_json([table], [Target("speed", 2.0, 3.0), Target("hits", 0.5, 0.8, at_most=False)])
    assert [target["met"] for target in json.loads(json.dumps(report))["targets"]] == [True, False]
