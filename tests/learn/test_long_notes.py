"""What takes many vectors is stored before they are made."""

import random
import string
import threading

from kinmem.llm.builtin import BuiltinEmbedder
from kinmem.service import Service

LONG = "".join(random.Random(1).choices(string.ascii_lowercase + string.digits, k=6_000))


def test_nobody_waits_for_the_vectors_of_a_long_text_without_spaces(
    service: Service, monkeypatch
) -> None:
    service.memorize("The office closes at six")
    service.settle()
    read: list[tuple[str, threading.Thread]] = []
    embed = BuiltinEmbedder.embed

    def counted(self, texts, **options):
        read.extend((text, threading.current_thread()) for text in texts)
        return embed(self, texts, **options)

    monkeypatch.setattr(BuiltinEmbedder, "embed", counted)
    stored = service.memorize(LONG)
    here = [text for text, thread in read if thread is threading.current_thread()]

    assert stored.status == "created"
    assert len(here) < 5  # before: as many as chunks
    assert service.settle()
    assert len(read) - len(here) > 16
    assert service.get(stored.id).content == LONG
