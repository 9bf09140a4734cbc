"""The service: everything kinmem does for one Kin, for tools, command line and Python alike."""

from kinmem.service.care import Care
from kinmem.service.conversations import Conversations
from kinmem.service.memories import Memories
from kinmem.service.views import Stats, Views

__all__ = ["Service", "Stats"]


class Service(Memories, Conversations, Views, Care):
    """One Kin's memory. Every method may be called from any thread.

    Times are aware datetimes or ISO 8601 text, read in KINMEM_TZ. All methods raise InvalidInput
    for arguments that are not valid, and StoreError if the database operation fails. Opened by
    kinmem.open or wiring; close it, or use it in a with statement.
    """
