"""How likely a statement changes a stored one: what is read of both, and of the message."""

import pytest

from kinmem.errors import ModelError
from kinmem.learn.change_chance import READ_ON, Near, changes, excerpt, signs_of
from kinmem.llm.base import Relation
from kinmem.llm.builtin import BuiltinJudge
from kinmem.llm.relating import LONGEST, Relating


class Scripted:
    """A judge that says of each text how likely it replaces any stored one."""

    name = "scripted"
    ready = True

    def __init__(self, replaces):
        self._replaces = replaces
        self.read = []

    def relations(self, stored, new, *, deadline=None):
        self.read += [(text, new) for text in stored]
        chance = self._replaces.get(new, 0.01)
        return [Relation(0.01, chance, 0.01, 0.01, 0.97 - chance) for _ in stored]


@pytest.fixture(scope="module")
def judge():
    return BuiltinJudge()


class Broken:
    """A judge that fails."""

    name = "broken"
    ready = True
    asked = 0

    def relations(self, stored, new, *, deadline=None):
        self.asked += 1
        raise ModelError("it cannot be loaded")

    def kinds(self, sentence, around="", *, deadline=None):
        raise ModelError("it cannot be loaded")


def near(earlier, later, judge, cosine=0.6):
    [relation] = judge.relations([earlier], later)
    return Near(earlier, later, cosine, cosine, relation)


def test_nothing_is_known_of_a_message_that_the_judge_cannot_read(judge):
    pairs = [near("We use npm.", "We use pnpm.", judge), near("We use yarn.", "Ok, pnpm.", judge)]
    broken = Broken()
    assert changes(pairs, "Well, we use pnpm.", Relating(broken)) == [None, None]
    assert broken.asked == 1, "each question may take the whole patience"
    assert changes([], "x", Relating(judge)) == []


def test_the_message_speaks_for_a_change_that_the_statement_does_not_tell(judge):
    stored, said = "I work on ward 7.", "The lab starts at eight."
    message = f"They put me in the cath lab for good, so ward 7 is behind me. {said}"
    relating = Relating(judge)
    pairs = [near(stored, said, judge), near("The canteen opens at eight.", said, judge, 0.1)]
    alone, _ = changes(pairs, said, relating)
    in_message, _ = changes(pairs, message, relating)
    assert in_message.is_likely
    assert not alone.is_likely


@pytest.mark.parametrize("is_given", [False, True])
def test_what_is_further_away_than_another_is_less_likely_changed(is_given, judge):
    stored, said = "The choir starts at 19:30.", "We start at 19:15 from now on."
    message, relating = None if is_given else said, Relating(judge)
    [alone] = changes([near(stored, said, judge)], message, relating)
    beside = [near(stored, said, judge), near("The choir meets at St Barnabas.", said, judge, 0.9)]
    assert changes(beside, message, relating)[0].chance < alone.chance


def test_where_nothing_else_is_said_or_stored_the_reading_of_both_decides(judge):
    stored, said = "The choir starts at 19:30.", "We start at 19:15 from now on."
    relating = Relating(judge)
    alone = changes([near(stored, said, judge)], said, relating)
    assert alone == changes([near(stored, said, judge)], None, relating)
    beside = [near(stored, said, judge), near("The choir meets at St Barnabas.", said, judge, 0.5)]
    assert changes(beside, said, relating)[0].is_of_talk


@pytest.mark.parametrize(("replaces", "read"), [(READ_ON / 2, False), (2 * READ_ON, True)])
def test_clauses_are_read_only_where_there_is_some_doubt(replaces, read):
    message = "the gate was moved last week, so come to the north side"
    judge = Scripted({message: replaces})
    signs_of([near("The gate is in the south.", message, judge)], message, Relating(judge))
    assert any(text == "so come to the north side" for _, text in judge.read) is read


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_likeliest_clause_counts(language):
    clauses = {
        "en": ("thanks for the plan you made,", "we sold the car in March."),
        "zh": ("谢谢你昨天帮我做的计划，我很喜欢它，", "我们三月份已经把那辆旧的蓝色汽车卖掉了。"),
    }[language]
    message = (" " if language == "en" else "").join(clauses)
    judge = Scripted({message: 0.1, clauses[1]: 0.9})
    [signs] = signs_of([near("We have a car.", message, judge)], message, Relating(judge))
    assert signs.clause_replaces > signs.message_replaces


def test_a_long_message_is_read_around_the_statement():
    content = "The build runs on Node 22."
    message = "a" * 900 + content + "b" * 900
    window = excerpt(message, content)
    assert len(window) == LONGEST and content in window
    assert excerpt(content, content) == content
    assert excerpt(message[:500] + content, content).endswith(content)
    assert excerpt(content + message, content).startswith(content)
    assert excerpt("c" * 900, "Said by a model in other words.") == "c" * LONGEST


@pytest.mark.parametrize(
    ("stored", "given", "is_doubted"),
    [
        ("That pic is gorgeous! Where did you take it?", "It's my new picture of the lake.", False),
        ("I am single and live alone", "I moved in with Jonas in May", True),
    ],
)
def test_what_states_nothing_is_not_changed(stored, given, is_doubted, judge):
    likely = Relation(0.01, 0.9, 0.01, 0.01, 0.07)
    [change] = changes([Near(stored, given, 0.6, 0.6, likely)], None, Relating(judge))
    assert change.is_likely == is_doubted


def test_if_the_judge_cannot_tell_what_states_a_text_counts_as_stating(judge):
    likely = Relation(0.01, 0.9, 0.01, 0.01, 0.07)
    pairs = [Near("That pic is gorgeous!", "It's my new picture.", 0.6, 0.6, likely)]
    [change] = changes(pairs, None, Relating(Broken()))
    assert change.is_likely
