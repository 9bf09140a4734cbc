"""The shapes of models' answers, apart from what asks for them: pydantic is loaded with them."""

from pydantic import BaseModel


class Standalone(BaseModel):
    """The shape of an answer to prompts/rewrite.md."""

    question: str


class Variations(BaseModel):
    """The shape of an answer to prompts/vary.md."""

    questions: list[str]


class Imagined(BaseModel):
    """The shape of an answer to prompts/imagine.md."""

    answer: str
