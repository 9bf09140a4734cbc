"""What a model's finding rests on, whatever it cites: whose words it has, and if they may count."""

from collections.abc import Sequence

from kinmem.language.orders.instructions import suspicious
from kinmem.text import content_words
from kinmem.turns import Message

CLEARLY = 0.3
"""By how much of its words a finding has to be nearer to a tool's output than to what was said."""


class Grounds:
    """The words of a turn, by whom they come from."""

    def __init__(self, turn: Sequence[Message], before: Sequence[Message]) -> None:
        said = [message for message in (*turn, *before) if message.role != "tool"]
        self._said = _words(said)
        self._by_people = _words([message for message in said if message.role == "user"])
        self._tools = [(message, _words([message])) for message in turn if message.role == "tool"]

    def of(self, content: str, cited: Sequence[Message]) -> list[Message]:
        """The messages it rests on, the main one first: those cited, unless its words are a tool's.

        A page that a tool read may tell the model to say that the user said so.
        """
        tools = self._nearer(content, self._said)
        return tools[:1] if cited and tools else list(cited)

    def doubt(self, content: str, grounds: Sequence[Message]) -> str | None:
        """Why it must not be recalled unseen; None if nothing speaks against it.

        Its words are a tool's and no person's, even if an assistant repeated them, and the tool's
        text, or the finding where it rests on nothing else, reads like an instruction to a model.
        """
        texts = [tool.text for tool in self._nearer(content, self._by_people)]
        if all(message.role == "tool" for message in grounds):
            texts += [content, *(message.text for message in grounds)]
        return next((reason for text in texts if (reason := suspicious(text))), None)

    def _nearer(self, content: str, known: set[str]) -> list[Message]:
        """The tools that have clearly more of its words, the nearest first."""
        words = set(content_words(content))
        least = _share(words, known) + CLEARLY
        shares = [(_share(words, tool), message) for message, tool in self._tools]
        near = sorted((one for one in shares if one[0] >= least), key=lambda one: -one[0])
        return [message for _, message in near]


def _words(messages: Sequence[Message]) -> set[str]:
    """With the names of who spoke, unless it is a tool: "Ana likes tea"."""
    names = [message.who for message in messages if message.role != "tool"]
    return set(content_words(" ".join([*names, *(message.text for message in messages)])))


def _share(words: set[str], known: set[str]) -> float:
    return len(words & known) / len(words) if words else 0.0
