"""What kinmem does for one Kin, once, for every way in: tools, command line, Python."""

from kinmem.service.care import Care
from kinmem.service.conversations import Conversations
from kinmem.service.memories import Memories
from kinmem.service.views import Stats, Views

__all__ = ["Service", "Stats"]


class Service(Memories, Conversations, Views, Care):
    """One Kin's memory. Every method may be called from any thread.

    Times are aware datetimes or ISO 8601 text, read in KINMEM_TZ. All methods raise InvalidInput
    for arguments that cannot be meant, and StoreError when the database cannot do it.
    Opened by kinmem.open or wiring; close it, or use it in a with statement.
    """
