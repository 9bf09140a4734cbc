"""Stage 1 of learning, without a model: the notes that a turn contains, as they were said.

A note is a slice of a message: one sentence, or several in a row. Nothing within it is reworded,
inserted or left out. The question that it answers and the dates that it means are in its source
context. What assistants and tools say is context, never fact. worth_keeping.py decides which
sentences are kept; benchmarks/talk.py and replay.py measure the result.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from kinmem.language import (
    Prose,
    Setting,
    Statement,
    Weight,
    Wording,
    appraise,
    introduced_in,
    names_in,
    sentences,
)
from kinmem.learn.drafting import with_dates
from kinmem.learn.worth_keeping import (
    MOST,
    KeptSentence,
    Question,
    Sentence,
    Talk,
    is_about_speaker,
    judgements,
    kept,
    worth_keeping,
)
from kinmem.llm.base import Embedder, Judge
from kinmem.llm.naming import Naming
from kinmem.llm.relating import LONGEST
from kinmem.models import CATEGORIES, ROLES, Entity, Note
from kinmem.models.turns import Message
from kinmem.text import asks, count_content_words, words

# Characters at the end of the message before: a question comes last.
LOOKED_AT = 800
# Characters of a question that are kept; a longer one is cut at a word.
QUESTION = 120
# Messages before a turn in which the month of a bare day may have been named.
SPOKEN_OF = 3
# Characters of what precedes a statement and shows what it is about.
CONTEXT = 160
# Characters after which a new note begins; embedders read about 800 at once.
LONG = 600
# Kinds of what a program writes, and of what nobody claims.
NOT_SAID = frozenset({"error", "log", "table", "paste", "hypothetical"})
# Confidence in what is learned only because it changes what is stored.
DOUBTFUL = 0.5
# Characters between two sentences of a person's turn that are kept with them.
BRIDGED = 80


def extract(
    turn: Sequence[Message],
    before: Sequence[Message],
    zone: tzinfo,
    judge: Judge | None = None,
    embedder: Embedder | None = None,
) -> list[Note]:
    """Return what the people of a turn say that will matter later, in order; usually none or one.

    `before` is what was said last in the session, oldest first. Relative dates are read in `zone`.
    Without a `judge`, or if it fails, rules decide alone; the same holds of a weekday without an
    `embedder` that tells a day to come from one of every week.
    """
    heard = [by_its_speaker(message, judge) for message in turn]
    speakers = (message.speaker for message in (*before, *heard))
    names = frozenset(name for name in speakers if name and name not in ROLES)
    notes: list[Note] = []
    last = before[-1] if before else None
    earlier = [message.text for message in before if message.role == "user"]
    for message, own in zip(turn, heard, strict=True):
        if message.role == "user":
            for note in _notes(own, last, names, judge, is_introduced=own is not message):
                here = own.text[: max(0, own.text.find(note.content))]
                leading = "\n".join([*earlier[-SPOKEN_OF:], here])
                if isinstance(said := note.occurred_at, datetime):
                    note = with_dates(note, said.astimezone(zone), embedder, leading)
                notes.append(note)
            earlier.append(own.text)
        last = own
    return notes


def by_its_speaker(message: Message, judge: Judge | None) -> Message:
    """Return the message under the name of whoever introduces himself at its start ("Robin here:
    ..."), without that; the same message if nobody does, or if its speaker is known.

    Several people may share a Kin. What one says of himself must not be told of another.
    """
    if message.role != "user" or message.speaker not in (None, *ROLES):
        return message
    if (found := introduced_in(message.text)) is None:
        return message
    name, start = found
    heard, naming = message.text[: start + CONTEXT], Naming(judge)
    read = [*(naming.names(heard) or ()), *(naming.names(heard[heard.index(name) :]) or ())]
    if not any(one.type == "person" and f" {one.name}".endswith(f" {name}") for one in read):
        return message
    return replace(message, speaker=name, text=message.text[start:])


def _notes(
    message: Message,
    last: Message | None,
    names: frozenset[str],
    judge: Judge | None,
    *,
    is_introduced: bool,
) -> Iterator[Note]:
    """Yield what is worth keeping of one message."""
    if (texts := Prose(message.text).of_program) is not None:
        yield from _of_program(message, texts, names, judge)
        return
    parts = Prose(message.text).statements
    question = _asked(last) if last and last.who != message.who else None
    talk = Talk(message, parts, last, question, names, Prose(message.text).unkept, is_introduced)
    groups = list(_groups(list(worth_keeping(talk, judge)), talk))
    for group in groups:
        yield _note(talk, group, judge)
    if not groups and judge is not None and (said := _said_at_all(talk, judge)):
        yield replace(_note(talk, said, judge), only_as_change=True)


def _said_at_all(talk: Talk, judge: Judge) -> list[KeptSentence]:
    """Return what an assistant's user says in a message of which nothing is worth learning by
    itself: "Which box do I tick, now that I have left the party?" may change what is stored."""
    if not talk.parts or talk.unkept or talk.among_people:
        return []
    wordings = [Wording(part.text) for part in talk.parts]
    if any(one.is_quotation for one in wordings) or all(one.is_bare_request for one in wordings):
        return []
    said = [
        KeptSentence(part, at, "fact", DOUBTFUL, begins_unnamed=True)
        for at, part in enumerate(talk.parts)
    ]
    start, end = said[0].statement.start, said[-1].statement.end
    text = talk.message.text[start:end]
    if len(text) > LONGEST or not words(text):
        return []
    whole = Sentence(Statement(text, start), Setting())
    [judgement] = judgements([whole], talk.message, talk.last, judge)
    return [] if judgement.kind in NOT_SAID else said


def _of_program(
    message: Message,
    texts: Sequence[tuple[str, str | None]],
    names: frozenset[str],
    judge: Judge | None,
) -> Iterator[Note]:
    """Take each text in a program's message as one statement, with the category that it names."""
    statements = [
        (Statement(text.strip(), max(0, message.text.find(text.strip()))), type)
        for text, type in texts
        if not asks(text)
    ][:MOST]
    sentences = [Sentence(part, Setting()) for part, _ in statements]
    judged = judgements(sentences, message, None, judge)
    for (part, type), judgement in zip(statements, judged, strict=True):
        category = next((category for category in CATEGORIES if category == type), None)
        if judgement.is_worth or category:
            talk = Talk(message, [part], None, None, names)
            yield _note(talk, [kept(part, 0, judgement, category)], judge)


def _asked(last: Message) -> Question | None:
    """Return the question at the end of a message, unless it is mere politeness or an offer."""
    if last.role not in ("user", "assistant"):
        return None
    end = last.text[-LOOKED_AT:]
    if len(end) < len(last.text):
        end = "".join(sentences(end)[1:])
    parts = Prose(end).statements
    asked = next((part.text for part in reversed(parts) if asks(part.text)), None)
    if asked is None or Wording(asked).is_small_question:
        return None
    if last.role == "assistant" and Wording(asked).is_offer:
        return None
    return Question(_cut(asked, QUESTION), last.turn)


def _groups(sentences: Sequence[KeptSentence], talk: Talk) -> Iterator[list[KeptSentence]]:
    """Yield the sentences of each note: in a row, and for a user of one kind and subject."""
    group: list[KeptSentence] = []
    for sentence in sentences:
        if group and not _belongs(sentence, group, talk):
            yield group
            group = []
        group.append(sentence)
    if group:
        yield group


def _belongs(sentence: KeptSentence, group: Sequence[KeptSentence], talk: Talk) -> bool:
    last, first = group[-1], group[0]
    if sentence.is_sequel:
        return True
    if sentence.statement.end - first.statement.start > LONG:
        return False
    if talk.among_people:
        between = range(last.at + 1, sentence.at)
        gap = sentence.statement.start - last.statement.end
        is_parted = any(at in talk.unkept or asks(talk.parts[at].text) for at in between)
        return gap <= BRIDGED and not is_parted
    if sentence.at != last.at + 1 or sentence.category != last.category:
        return False
    return Wording(sentence.statement.text).refers_back or sentence.subject == last.subject


def _note(talk: Talk, group: Sequence[KeptSentence], judge: Judge | None) -> Note:
    message = talk.message
    content = _content(talk, group)
    best = max(group, key=lambda sentence: sentence.confidence)
    category = best.category
    context = _context(talk, group)
    named = names_in(content, talk.names)
    return Note(
        content=content,
        category=category,
        subject=_subject(content, group, talk, named, judge),
        importance=Weight(content).importance(category),
        source_context=context.text if context else None,
        occurred_at=message.said_at,
        speaker=message.who,
        channel="user",
        session=message.session,
        client=message.client,
        confidence=round(best.confidence, 2),
        turns=_turns(message, context),
        entities=named,
    )


def _content(talk: Talk, group: Sequence[KeptSentence]) -> str:
    """Return the slice of the message, without words that ask to keep it: "Remember that ..."."""
    first, last = group[0].statement, group[-1].statement
    if first is last and talk.parts == [first]:
        text = first.text
    else:
        text = talk.message.text[first.start : last.end]
    asking = Wording(text).request_length
    if asking in (0, len(text)):
        return text
    return text[asking:].rstrip("? ").strip()


def _context(talk: Talk, group: Sequence[KeptSentence]) -> Question | None:
    """Return what shows what a statement is about: the question it answers; what the same message
    asks or says before it; or, if "she" or "it" needs it, what somebody else said before."""
    first, parts = group[0], talk.parts
    if first.at == 0 and talk.question:
        return talk.question
    if not talk.among_people:
        told = {*talk.unkept, *range(first.at, group[-1].at + 1)}
        texts = (part.text for at, part in enumerate(parts) if at not in told)
        if request := next(filter(_asks_help, texts), None):
            return Question(_cut(request, CONTEXT), talk.message.turn)
    if first.at - 1 in talk.unkept:
        return None
    if first.at and (not talk.among_people or Wording(first.statement.text).refers_back):
        return Question(_cut(parts[first.at - 1].text, CONTEXT), talk.message.turn)
    if first.at or talk.last is None or talk.last.role not in ("user", "assistant"):
        return talk.question
    if not Wording(first.statement.text).refers_back:
        return None
    end = Prose(talk.last.text).kept[-LOOKED_AT:]
    # "Understood." does not say who "she" is.
    earlier = [one for one in sentences(Prose(end).own) if count_content_words(one) > 1]
    return Question(_cut(earlier[-1].strip(), CONTEXT), talk.last.turn) if earlier else None


def _asks_help(text: str) -> bool:
    return asks(text) or appraise(text).asks_help


def _turns(message: Message, context: Question | None) -> tuple[str, ...]:
    if context is None or context.turn == message.turn:
        return (message.turn,)
    return (message.turn, context.turn)


def _subject(
    content: str,
    group: Sequence[KeptSentence],
    talk: Talk,
    named: Collection[Entity],
    judge: Judge | None,
) -> str | None:
    """Return the speaker, if known by name, of what people say about themselves; else whom or what
    the statement begins with. A user without a name is no subject; the memory names the speaker."""
    own = any(is_about_speaker(sentence.statement.text) for sentence in group)
    if talk.person and (own or _is_fragment(talk, group)):
        return talk.person
    if (about := _begins_with(group[0], talk, judge)) is not None or own:
        return about
    return next((entity.name for entity in named if content.startswith(entity.name)), None)


def _begins_with(sentence: KeptSentence, talk: Talk, judge: Judge | None) -> str | None:
    """Return whom or what a sentence begins with.

    Its first word has a capital in any case ("Locally postgres is on 5440", "Next release is 4.2"),
    so it is a name only if the judge reads it as one, or as ending in one ("Usually Tom").
    """
    about = sentence.subject
    if about is None or about in talk.names or about == sentence.certain_subject:
        return about
    named = Naming(judge).names(sentence.statement.text)
    if named is None:
        return about
    names = [entity.name for entity in named]
    if any(name.startswith(about) for name in names):
        return about
    return next((name for name in names if about.endswith(f" {name}")), None)


def _is_fragment(talk: Talk, group: Sequence[KeptSentence]) -> bool:
    """Return whether it answers a question about the speaker."""
    return (
        group[0].at == 0
        and talk.question is not None
        and Wording(talk.question.text).addresses_somebody
        and group[0].subject is None
    )


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit].rsplit(" ", 1)[0] + " …"
