"""The numbers of the default ranking, together, so that each can be left out and measured.

`python -m benchmarks ablation` does so for every one of them; docs/recall.md has the table.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Formula:
    """How much each part of a recall counts. 0, or False, is without it."""

    # question
    without_names: bool = True
    """Whether names that the store knows are left out of what is embedded."""
    without_phrases: bool = True
    """The same for phrases about the asking ("can you give me a summary of")."""
    without_asking_words: bool = True
    """Whether words about the asking are left out of what is searched word by word."""
    without_stop_words: bool = True

    # search
    nearest: int = 50
    """Candidates by meaning. More only cost time."""
    matching: int = 100
    """Candidates by words. Fewer lose recall."""
    listed: int = 200
    """How far down the word ranks are told: it is also how candidates by meaning match."""
    context: float = 0.3
    """Weight of a word in the source context, beside 1 in content and subject."""

    # fuse
    words: float = 0.3
    """Of the best BM25, beside a cosine that counts whole."""
    first_part: float = 0.7
    """Of a long text's cosine its first part's, which says what it is about; else its best's."""
    per_ln_parts: float = 0.03
    """What further parts cost: a long text has more tries at being near."""

    # join
    expansion: float = 0.7
    """Of what another wording of the question finds, as far as the wording is trusted."""

    # neighbours
    neighbours: float = 0.2
    """Of the score of the better one of the two that stood next to it."""
    answers: float = 0.15
    """Of the score of the question right before it."""

    # weigh: bonuses, added where a candidate is relevant at all
    gate: float = 0.3
    """Relevance below which bonuses fade."""
    named: float = 0.25
    """For what was said by or about the one person named."""
    by_user: float = 0.3
    """For what no assistant said."""
    standing_wish: float = 0.15
    """For an instruction ("always ...") that the question falls under."""
    then: float = 0.2
    """For what was said at the time named."""
    evidence: float = 1.0
    """Times the evidence of the text (rules/evidence.py)."""
    worth: float = 0.25
    """Power of importance x use. Importance 1 to 10 alone spans 0.6 to 1.5; its fourth root spans a
    tenth either way, which is all that may move."""
    age: float = 0.02
    """Power of what age leaves of a score: less than a hundredth goes, so that it orders equals."""
