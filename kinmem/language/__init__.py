"""What texts say: kinmem's one sense of language. Whatever else is in this package is private.

- dates: `Dates` of a text, by the moment at which it was said or asked
- names: `knowledge`, whom and what a text names and how that stands to each other, and
  `join_knowledge`; `names_in` a text, `names_by_capitals`; `introduced_in` it, who speaks;
  `stored_relation`, `inverse_relation`
- talk: the `Prose` of a message, its sentences; the `Wording` of a sentence
- worth: `appraise` a statement, or the `kinds` of several with what stands around them; KEPT, those
  of what is worth it; STATED_BESIDE, from which a part of a question is; `only_asks` a whole text
- weight: the `Weight` of a text by its words, TIMES among them; UNIMPORTANT, for hearsay
- atoms: `atoms`, what must not differ; `normalised`, `content_hash`
- relation: a `Pair` of statements; the `claim` of one without the words that say that it has
  changed; `Periods`, of texts that tell how it was by turns
- proof: why a text is `unproved` to stand for others. `Echoes`: what only repeats what was shown
- orders: `order_in` a text to a model; `order_hints` and `may_be_orders`, the same at less cost
- secrets: `redact`, `secret_kinds`; `without_private`
- answers: the `answer_test` of a question. follow_up: a question as a `FollowUp`
- summary: `summary`, `keywords`
- cutting: the `sentences` of any text; the `pieces` of it that fit a `Window`; `before_letter`

Exact things are code and the data files of lexicon/, one for each language; judgements are those of
the judge (llm/builtin.py). Nothing is loaded before it is asked for: a hook needs few of these, and
their tables take time to read.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinmem.language.change.clash import Clash
    from kinmem.language.change.vetoes import Period, Periods, claim
    from kinmem.language.orders import may_be_orders, order_hints, order_in
    from kinmem.language.pairs import Pair, unproved
    from kinmem.language.relations import (
        inverse_relation,
        join_knowledge,
        knowledge,
        stored_relation,
    )
    from kinmem.language.salience import TIMES, UNIMPORTANT, Weight, keywords, summary
    from kinmem.language.same.echo import Echoes
    from kinmem.language.same.lexemes import content_hash, normalised
    from kinmem.language.same.similarity import Kinship, Ladder, atoms
    from kinmem.language.secrets.secrets import redact, secret_kinds, without_private
    from kinmem.language.sentence_borders import Window, before_letter, pieces, sentences
    from kinmem.language.sought import FollowUp, answer_test
    from kinmem.language.talk.prose import Prose, Wording
    from kinmem.language.talk.statements import (
        Statement,
        introduced_in,
        names_by_capitals,
        names_in,
    )
    from kinmem.language.talk.worth import (
        KEPT,
        STATED_BESIDE,
        Judgement,
        Setting,
        appraise,
        kinds,
        only_asks,
    )
    from kinmem.language.time.when import Dates, Interval

_MODULES = {
    "time.when": "Dates Interval",
    "relations": "inverse_relation join_knowledge knowledge stored_relation",
    "talk.prose": "Prose Wording",
    "talk.statements": "Statement introduced_in names_by_capitals names_in",
    "talk.worth": "KEPT STATED_BESIDE Judgement Setting appraise kinds only_asks",
    "salience": "TIMES UNIMPORTANT Weight keywords summary",
    "same.lexemes": "content_hash normalised",
    "same.similarity": "Kinship Ladder atoms",
    "change.clash": "Clash",
    "change.vetoes": "Period Periods claim",
    "pairs": "Pair unproved",
    "same.echo": "Echoes",
    "orders": "may_be_orders order_hints order_in",
    "secrets.secrets": "redact secret_kinds without_private",
    "sentence_borders": "Window before_letter pieces sentences",
    "sought": "FollowUp answer_test",
}
"""Where each name is defined."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

if not TYPE_CHECKING:  # a type checker is to know each name, and no other

    def __getattr__(name: str) -> object:
        """A name of the face, its module loaded when it is first asked for."""
        if name not in _MODULE_OF:
            raise AttributeError(f"kinmem.language has no {name!r}")
        found = getattr(import_module(f"kinmem.language.{_MODULE_OF[name]}"), name)
        globals()[name] = found
        return found
