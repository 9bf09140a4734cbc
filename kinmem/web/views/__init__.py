"""The views of the page, in the order in which they are listed.

To add one: a View in a module here, a template, its words in both catalogues (`view.<name>` is its
title), a drawing of that name in render.py, and a line below.
"""

from kinmem.web.view import View
from kinmem.web.views import (
    history_pages,
    manage_pages,
    memory_list,
    one_memory,
    overview,
    review_queue,
)

VIEWS: tuple[View, ...] = (
    overview.OVERVIEW_VIEW,
    memory_list.VIEW,
    one_memory.VIEW,
    memory_list.SEARCH_VIEW,
    history_pages.TIMELINE_VIEW,
    history_pages.CONVERSATIONS_VIEW,
    overview.TOPOLOGY_VIEW,
    review_queue.VIEW,
    manage_pages.DOCUMENTS_VIEW,
    history_pages.ACTIVITY_VIEW,
    manage_pages.SETTINGS_VIEW,
    manage_pages.KINS_VIEW,
)
