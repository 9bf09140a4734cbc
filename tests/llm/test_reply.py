"""What a model says, read as what it means."""

import json
from typing import Annotated

import pytest
from pydantic import BaseModel, BeforeValidator, Field

from kinmem.errors import ModelError
from kinmem.llm.reply import Unfit, fitted, fitting, schema_of
from tests.scripted import ScriptedModel
from tests.tables import each


class Drink(BaseModel):
    """What to bring."""

    name: str
    cups: int = Field(1, description="How many.", ge=0)
    title: str | None = None


class Loose(BaseModel):
    """Every field may be missing."""

    items: list[str] = []


TEA = '{"name": "tea", "cups": 2}'


@each(
    "reply",
    [
        pytest.param(TEA, id="alone"),
        pytest.param(f"\ufeff\n {TEA}\n", id="with space around it"),
        pytest.param(f"Sure! Here it is: {TEA} Enjoy.", id="amid prose"),
        pytest.param(f"```json\n{TEA}\n```", id="in a code fence"),
        pytest.param(f"As {{you}} [asked], see [1]: {TEA}", id="behind brackets of prose"),
        pytest.param(f"a {TEA} and {{'name': 1}}", id="before something broken"),
        pytest.param(f'{{"type": "object", "properties": {{}}}}\n{TEA}', id="behind the schema"),
        pytest.param(f'<think>{{"name": "beer"}} or not?</think>{TEA}', id="behind thinking"),
        pytest.param(f'Hm, {{"name": "beer"}}?</think>{TEA}', id="thinking begun in the template"),
        pytest.param(f"<THINKING>a < b</THINKING> {TEA}", id="thinking in capitals"),
        pytest.param(f"<think> never ends {TEA}", id="thinking that does not end"),
        pytest.param(f'{{"name": "beer", "cups": }} no: {TEA}', id="behind a broken one"),
        pytest.param(f"{{{{{TEA}}}}}", id="in too many braces"),
        pytest.param(
            '{"name": "tea", "cups": 2, "more": [NaN, Infinity]}', id="numbers of no JSON"
        ),
    ],
)
def test_the_value_is_found(reply: str) -> None:
    assert fitted(reply, Drink) == Drink(name="tea", cups=2)


@pytest.mark.parametrize(
    "name",
    [
        "} ] { [",
        'a "quoted" \\ one',
        "two\nlines",
        "<think>of me</think>",
        "```",
        "naïve 茶 🍵",
        "no opening</think>",
    ],
)
def test_a_string_stays_as_it_is(name: str) -> None:
    reply = "Well: " + json.dumps({"name": name}, ensure_ascii=False)

    assert fitted(reply, Drink).name == name
    assert fitted(reply.replace("\\n", "\n"), Drink).name == name


@each(
    ("written", "read"),
    [
        pytest.param(r"When does Tom start \ud800?", "When does Tom start \ufffd?", id="surrogate"),
        pytest.param(r"tea \ud83c\udf75", "tea 🍵", id="a pair of them"),
        pytest.param(r"te\u0000a\u001b[2J", "tea[2J", id="control characters"),
        pytest.param(r"\u202eaet\u202c \u2066x\u2069", "aet x", id="marks of direction"),
        pytest.param(r"tea\udb40\udc41\udb40\udc42", "tea", id="tags"),
        pytest.param(
            "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", None, id="flag"
        ),
        pytest.param("👩\u200d🍳 نمی\u200cخواهم \u200fא", None, id="joiners and right to left"),
        pytest.param(r"cafe\u0301\r\n", "café\n", id="composed, lines ended as here"),
    ],
)
def test_what_a_model_writes_is_cleaned_as_what_users_write_is(
    written: str, read: str | None
) -> None:
    found = fitted(f'{{"name": "{written}"}}', Drink)

    assert found.name == (read or written)
    assert fitted(f'{{"items": ["{written}"]}}', Loose).items == [found.name]


@each(
    ("reply", "fault"),
    [
        ("", "no complete JSON"),
        ("no", "no complete JSON"),
        (TEA[:-3], "no complete JSON"),
        ("{" * 100_000, "no complete JSON"),
        ('{"name": [' * 20_000, "no complete JSON"),
        ("<think>" * 50_000, "no complete JSON"),
        ("[" * 5_000 + "]" * 5_000, "valid dictionary|no complete JSON"),
        ('{"name": 3}', "name: Input should be a valid string"),
        ('{"name": "tea", "cups": ' + "9" * 5000 + "}", "no complete JSON"),
        (json.dumps([TEA]), "valid dictionary"),
    ],
)
def test_what_does_not_fit_is_told_in_short(reply: str, fault: str) -> None:
    with pytest.raises(Unfit, match=fault) as caught:
        fitted(reply, Drink)

    assert len(str(caught.value)) < 300


def test_an_object_from_inside_of_a_broken_answer_is_no_empty_answer() -> None:
    with pytest.raises(Unfit):
        fitted('{"items": ["tea" {"other": 1}]}', Loose)

    assert fitted('{"items": []}', Loose) == Loose()


class Round(BaseModel):
    """One list, as of findings or scores."""

    items: Annotated[list[Drink], BeforeValidator(fitting(Drink))]


ONE = '{"name": "tea", "cups": 2}'


@each(
    ("reply", "count"),
    [
        pytest.param(f"[{ONE}]", 1, id="the list alone"),
        pytest.param(f"```json\n[{ONE}, {ONE}]\n```", 2, id="the list alone in a fence"),
        pytest.param("[]", 0, id="nothing"),
        pytest.param('{"items": null}', 0, id="null for nothing"),
        pytest.param(ONE, 1, id="one item alone"),
        pytest.param(f'{{"items": [{ONE},],}}', 1, id="commas before brackets"),
        pytest.param(f'{{"items": [{ONE[:-1]}, "title": 7}}]}}', 1, id="a bad field"),
        pytest.param(f'{{"items": [{ONE}, 7]}}', 1, id="a bad item"),
        pytest.param("{}", None, id="an empty object"),
        pytest.param('{"drinks": []}', None, id="another key"),
        pytest.param(f'{{"items": [{ONE}, {{"na', None, id="broken off"),
        pytest.param('{"items": [{"name": 7}]}', None, id="no item that fits"),
    ],
)
def test_a_list_is_understood_however_it_is_wrapped(reply: str, count: int | None) -> None:
    if count is None:
        with pytest.raises(Unfit):
            fitted(reply, Round)
    else:
        assert len(fitted(reply, Round).items) == count


def test_a_field_that_may_be_missing_costs_nothing_else() -> None:
    assert fitted('{"name": "tea", "cups": "many"}', Drink) == Drink(name="tea", cups=1)


def test_a_comma_in_a_text_stays() -> None:
    assert fitted('{"name": "tea,}", "cups": 2,}', Drink).name == "tea,}"


def test_the_schema_is_told_without_noise() -> None:
    assert json.loads(schema_of(Drink)) == {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "cups": {"type": "integer", "description": "How many.", "minimum": 0},
            "title": {"type": ["string", "null"]},
        },
        "required": ["name"],
    }


def test_a_script_is_said_line_by_line() -> None:
    model = ScriptedModel([TEA, Drink(name="milk"), {"name": "wine"}, ModelError("down"), "no"])

    names = [model.answer(f"question {n}", Drink).name for n in range(3)]

    assert names == ["tea", "milk", "wine"]
    for words in ("down", "gave no Drink as answer 5", "nothing more to say"):
        with pytest.raises(ModelError, match=words):
            model.answer("more", Drink)
    assert model.prompts == ["question 0", "question 1", "question 2", "more", "more", "more"]


def test_a_function_may_answer() -> None:
    model = ScriptedModel(lambda prompt: {"name": prompt.upper()}, name="shouting")

    assert model.answer("tea", Drink).name == "TEA"
    assert model.name == "shouting"
