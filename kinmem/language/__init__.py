"""What texts say: kinmem's one sense of language. Whatever else is in this package is private.

- dates: `relative_dates`, `with_dates`, `day_of_event` and `valid_until` of what is said;
  `interval_in_question`, `past_in_question` and `successor_in_question` of what is asked;
  `named_stretch` of a text that only names a time
- names: `names_in`, `names_by_capitals`; `knowledge`, which has relations as well, and
  `join_knowledge`; `stored_relation`, `inverse_relation` and SYMMETRIC, of relations by name
- statements: `own_prose` and `own_places` of a message, `in_json` of a program's; its `statements`,
  what is `unkept` because its writer asks for it, and the text `without_unkept`
- worth: `appraise` a statement, or the `kinds` of several with what stands around them; `only_asks`
- weight: `evidence`, `importance`, `is_standing`, TIMES
- atoms: `atoms` and `reading`, what must not differ; `normalised`, `content_hash`, `stem`
- relation: a `Pair` of statements, and the `claim` of one without the words that say that it has
  changed; `periods`, `join_periods` and `said_on`, of texts that tell how it was by turns
- proof: why a text is `unproved` to stand for others. Echoes: what only repeats what was shown
- orders: `order_in` a text to a model; `order_hints` and `may_be_orders`, the same at less cost
- secrets: `redact`, `keys_in`; `without_private`
- answers: the `answer_test` of a question
- follow_up: whether a question `is_follow_up`, and the `words_left_out` of it
- summary: `summary`, `keywords`; the `sentences` of any text
- `Wording` is a record of its own: how a sentence is worded

Exact things are code and the data files of lexicon/, one for each language; judgements are those of
the judge (llm/judge.py). Nothing is loaded before it is asked for: a hook needs few of these, and
their tables take time to read.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinmem.language.change.clash import Clash as Clash
    from kinmem.language.change.restating import Claim as Claim
    from kinmem.language.change.restating import Period as Period
    from kinmem.language.change.restating import claim as claim
    from kinmem.language.change.restating import join_periods as join_periods
    from kinmem.language.change.restating import periods as periods
    from kinmem.language.change.restating import said_on as said_on
    from kinmem.language.names.names import join_knowledge as join_knowledge
    from kinmem.language.names.names import knowledge as knowledge
    from kinmem.language.names.names import names_by_capitals as names_by_capitals
    from kinmem.language.names.names import names_in as names_in
    from kinmem.language.names.relation_names import SYMMETRIC as SYMMETRIC
    from kinmem.language.names.relation_names import inverse_relation as inverse_relation
    from kinmem.language.names.relation_names import stored_relation as stored_relation
    from kinmem.language.orders import may_be_orders as may_be_orders
    from kinmem.language.orders import order_hints as order_hints
    from kinmem.language.orders import order_in as order_in
    from kinmem.language.pairs import Pair as Pair
    from kinmem.language.same.atoms import Atoms as Atoms
    from kinmem.language.same.atoms import atoms as atoms
    from kinmem.language.same.clauses import Reading as Reading
    from kinmem.language.same.clauses import reading as reading
    from kinmem.language.same.echo import Echoes as Echoes
    from kinmem.language.same.lexemes import stem as stem
    from kinmem.language.same.proof import unproved as unproved
    from kinmem.language.same.similarity import Kinship as Kinship
    from kinmem.language.same.similarity import Ladder as Ladder
    from kinmem.language.same.similarity import content_hash as content_hash
    from kinmem.language.same.similarity import normalised as normalised
    from kinmem.language.secrets.secrets import keys_in as keys_in
    from kinmem.language.secrets.secrets import redact as redact
    from kinmem.language.secrets.secrets import without_private as without_private
    from kinmem.language.sentence_borders import sentences as sentences
    from kinmem.language.sought import answer_test as answer_test
    from kinmem.language.summaries import summary as summary
    from kinmem.language.talk.features import Setting as Setting
    from kinmem.language.talk.followup import is_follow_up as is_follow_up
    from kinmem.language.talk.followup import words_left_out as words_left_out
    from kinmem.language.talk.prose import own_places as own_places
    from kinmem.language.talk.prose import own_prose as own_prose
    from kinmem.language.talk.statements import Statement as Statement
    from kinmem.language.talk.statements import in_json as in_json
    from kinmem.language.talk.statements import statements as statements
    from kinmem.language.talk.statements import unkept as unkept
    from kinmem.language.talk.statements import without_unkept as without_unkept
    from kinmem.language.talk.wording import Wording as Wording
    from kinmem.language.talk.worth import Chances as Chances
    from kinmem.language.talk.worth import Judgement as Judgement
    from kinmem.language.talk.worth import appraise as appraise
    from kinmem.language.talk.worth import kinds as kinds
    from kinmem.language.talk.worth import only_asks as only_asks
    from kinmem.language.time.dated import RelativeDate as RelativeDate
    from kinmem.language.time.dated import day_of_event as day_of_event
    from kinmem.language.time.dated import named_stretch as named_stretch
    from kinmem.language.time.dated import relative_dates as relative_dates
    from kinmem.language.time.dated import with_dates as with_dates
    from kinmem.language.time.when import Interval as Interval
    from kinmem.language.time.when import interval_in_question as interval_in_question
    from kinmem.language.time.when import past_in_question as past_in_question
    from kinmem.language.time.when import successor_in_question as successor_in_question
    from kinmem.language.time.when import valid_until as valid_until
    from kinmem.language.topics import keywords as keywords
    from kinmem.language.weight import TIMES as TIMES
    from kinmem.language.weight import evidence as evidence
    from kinmem.language.weight import importance as importance
    from kinmem.language.weight import is_standing as is_standing

_MODULES = {
    "time.dated": "RelativeDate day_of_event named_stretch relative_dates with_dates",
    "time.when": "Interval interval_in_question past_in_question successor_in_question valid_until",
    "names.names": "join_knowledge knowledge names_by_capitals names_in",
    "names.relation_names": "SYMMETRIC inverse_relation stored_relation",
    "talk.prose": "own_places own_prose",
    "talk.statements": "Statement in_json statements unkept without_unkept",
    "talk.wording": "Wording",
    "weight": "TIMES evidence importance is_standing",
    "talk.features": "Setting",
    "talk.worth": "Chances Judgement appraise kinds only_asks",
    "same.atoms": "Atoms atoms",
    "same.clauses": "Reading reading",
    "same.lexemes": "stem",
    "change.clash": "Clash",
    "change.restating": "Claim Period claim join_periods periods said_on",
    "pairs": "Pair",
    "same.similarity": "Kinship Ladder content_hash normalised",
    "same.proof": "unproved",
    "same.echo": "Echoes",
    "orders": "may_be_orders order_hints order_in",
    "secrets.secrets": "keys_in redact without_private",
    "sentence_borders": "sentences",
    "sought": "answer_test",
    "talk.followup": "is_follow_up words_left_out",
    "topics": "keywords",
    "summaries": "summary",
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
