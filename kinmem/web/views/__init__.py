"""The views of the page, in the order in which they are listed.

To add one: a module here with a View called VIEW, a template, its words in both catalogues
(`view.<name>` is its title), a drawing of that name in render.py, and a line below.
"""

from kinmem.web.view import View
from kinmem.web.views import (
    activity,
    documents_page,
    memory_list,
    one_memory,
    overview,
    owner,
    review_queue,
    talks,
    timeline_view,
    topology,
)

VIEWS: tuple[View, ...] = (
    overview.VIEW,
    memory_list.VIEW,
    one_memory.VIEW,
    memory_list.SEARCH_VIEW,
    timeline_view.VIEW,
    talks.VIEW,
    topology.VIEW,
    review_queue.VIEW,
    documents_page.VIEW,
    activity.VIEW,
    owner.SETTINGS_VIEW,
    owner.KINS_VIEW,
)
