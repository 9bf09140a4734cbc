"""The views of the page, in the order in which they are listed.

To add one: a View in a module here, a template, its words in both catalogues (`view.<name>` is its
title), a drawing of that name in render.py, and a line below.
"""

from kinmem.web.view import View
from kinmem.web.views import (
    documents_page,
    history_pages,
    memory_list,
    one_memory,
    overview,
    owner,
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
    documents_page.VIEW,
    history_pages.ACTIVITY_VIEW,
    owner.SETTINGS_VIEW,
    owner.KINS_VIEW,
)
