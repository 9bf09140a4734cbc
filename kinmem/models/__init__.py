"""The nouns of kinmem: the data types that its parts share, without behaviour beyond their fields.

Most are named here; what belongs to conversations (turns), links and projects (places) is imported
from its file.
"""

from kinmem.models.draft import Chunks as Chunks
from kinmem.models.draft import ConflictMode as ConflictMode
from kinmem.models.draft import Draft as Draft
from kinmem.models.draft import Entity as Entity
from kinmem.models.draft import EntityType as EntityType
from kinmem.models.draft import Knowledge as Knowledge
from kinmem.models.draft import Note as Note
from kinmem.models.draft import Passage as Passage
from kinmem.models.draft import Pending as Pending
from kinmem.models.draft import Relation as Relation
from kinmem.models.hits import ADDED as ADDED
from kinmem.models.hits import ADDED_LINEARLY as ADDED_LINEARLY
from kinmem.models.hits import FETCHED as FETCHED
from kinmem.models.hits import LABELS as LABELS
from kinmem.models.hits import MULTIPLIED as MULTIPLIED
from kinmem.models.hits import STOOD_FOR as STOOD_FOR
from kinmem.models.hits import Answer as Answer
from kinmem.models.hits import Aside as Aside
from kinmem.models.hits import Asked as Asked
from kinmem.models.hits import Candidate as Candidate
from kinmem.models.hits import Found as Found
from kinmem.models.hits import Hit as Hit
from kinmem.models.hits import Part as Part
from kinmem.models.hits import Reasons as Reasons
from kinmem.models.hits import Scored as Scored
from kinmem.models.record import CATEGORIES as CATEGORIES
from kinmem.models.record import CONVERSATION as CONVERSATION
from kinmem.models.record import HELD_BACK as HELD_BACK
from kinmem.models.record import LIVE as LIVE
from kinmem.models.record import OF_ITS_TIME as OF_ITS_TIME
from kinmem.models.record import ROLES as ROLES
from kinmem.models.record import THE_USER as THE_USER
from kinmem.models.record import TOLD_AT as TOLD_AT
from kinmem.models.record import TURN as TURN
from kinmem.models.record import Category as Category
from kinmem.models.record import Channel as Channel
from kinmem.models.record import Curve as Curve
from kinmem.models.record import Event as Event
from kinmem.models.record import Fate as Fate
from kinmem.models.record import Filters as Filters
from kinmem.models.record import Living as Living
from kinmem.models.record import Memory as Memory
from kinmem.models.record import Mode as Mode
from kinmem.models.record import Place as Place
from kinmem.models.record import Progress as Progress
from kinmem.models.record import Scope as Scope
from kinmem.models.record import State as State
from kinmem.models.record import Tier as Tier
from kinmem.models.record import TierChange as TierChange
from kinmem.models.record import Vector as Vector
from kinmem.models.record import Vectors as Vectors
from kinmem.models.reports import Coverage as Coverage
from kinmem.models.reports import Damaged as Damaged
from kinmem.models.reports import ErasedFromBackups as ErasedFromBackups
from kinmem.models.reports import Forgotten as Forgotten
from kinmem.models.reports import Health as Health
from kinmem.models.reports import Issue as Issue
from kinmem.models.reports import IssueKind as IssueKind
from kinmem.models.reports import Page as Page
from kinmem.models.reports import Review as Review
from kinmem.models.reports import Settled as Settled
from kinmem.models.reports import Stored as Stored
