"""The shape of a model's summary, apart from what asks for it: pydantic is loaded with it."""

from pydantic import BaseModel, Field


class Summary(BaseModel):
    """What a model answers to prompts/summarize.md and prompts/fold.md."""

    summary: str = Field(min_length=1)
