"""What models answer to recall's questions and when they summarise: pydantic is loaded with it."""

from pydantic import BaseModel, Field


class Standalone(BaseModel):
    """The shape of an answer to prompts/rewrite.md."""

    question: str


class Variations(BaseModel):
    """The shape of an answer to prompts/vary.md."""

    questions: list[str]


class Imagined(BaseModel):
    """The shape of an answer to prompts/imagine.md."""

    answer: str


class Summary(BaseModel):
    """The shape of an answer to prompts/summarize.md and prompts/fold.md."""

    summary: str = Field(min_length=1)
