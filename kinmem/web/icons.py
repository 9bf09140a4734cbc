"""The drawings of the page: one line of SVG each, in the colour of the text beside it."""

from functools import cache

from markupsafe import Markup

OTHER = '<circle cx="12" cy="12" r="3"/>'
DRAWN = {
    "overview": '<path d="M4 13h6V4H4zM14 20h6v-9h-6zM14 4v3h6V4zM4 20h6v-3H4z"/>',
    "memories": '<path d="M5 5h14v5H5zM5 14h14v5H5z"/>',
    "search": '<circle cx="11" cy="11" r="6.5"/><path d="m20 20-4.2-4.2"/>',
    "review": '<path d="m5 13 4 4L19 7"/>',
    "timeline": '<path d="M4 12h16M7 8v8M13 5v14M18 9v6"/>',
    "conversations": '<path d="M4 5h16v11H10l-4 4v-4H4z"/>',
    "topology": (
        '<circle cx="6" cy="6" r="2.5"/><circle cx="18" cy="9" r="2.5"/><circle cx="9" '
        'cy="18" r="2.5"/><path d="m8.3 7 7.3 1.5M6.6 8.5 8.4 15.6M16.5 11l-5.7 5.3"/>'
    ),
    "documents": '<path d="M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6"/>',
    "activity": '<path d="M3 12h4l3-8 4 16 3-8h4"/>',
    "settings": (
        '<path d="M4 7h10M18 7h2M4 17h2M10 17h10"/><circle cx="16" cy="7" r="2"/><circle '
        'cx="8" cy="17" r="2"/>'
    ),
    "kins": (
        '<circle cx="9" cy="8" r="3.5"/><path d="M3 20c0-4 3-6 6-6s6 2 6 6M15.5 5a3.5 '
        '3.5 0 0 1 0 6.5M17 14.5c2.5.7 4 2.6 4 5.5"/>'
    ),
    "pin": '<path d="M9 4h6l-1 6 3 3v1H7v-1l3-3zM12 14v6"/>',
    "share": (
        '<circle cx="12" cy="12" r="8.5"/><path d="M3.5 12h17M12 3.5c3 2.5 3 14.500 0 '
        '17M12 3.5c-3 2.500-3 14.500 0 17"/>'
    ),
    "lock": '<path d="M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3"/>',
    "archive": '<path d="M4 5h16v4H4zM6 9v10h12V9M10 13h4"/>',
    "forget": '<path d="M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13"/>',
    "edit": '<path d="m5 19 1-4L16 5l3 3L9 18z"/>',
    "undo": '<path d="M9 6 5 10l4 4M5 10h9a5 5 0 0 1 0 10h-3"/>',
    "close": '<path d="m6 6 12 12M18 6 6 18"/>',
    "previous": '<path d="m15 5-7 7 7 7"/>',
    "next": '<path d="m9 5 7 7-7 7"/>',
    "logout": '<path d="M10 4H5v16h5M15 8l4 4-4 4M19 12H9"/>',
    "theme-auto": (
        '<circle cx="12" cy="12" r="7.500"/><path d="M12 4.500v15A7.500 7.500 0 0 0 12 '
        '4.500" fill="currentColor"/>'
    ),
    "theme-light": (
        '<circle cx="12" cy="12" r="4"/><path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.600 '
        '5.600 7 7M17 17l1.400 1.400M5.600 18.400 7 17M17 7l1.400-1.400"/>'
    ),
    "theme-dark": (
        '<path d="M19 14.500A7.500 7.500 0 0 1 9.500 5a7.500 7.500 0 1 0 9.500 9.500z"/>'
    ),
}


@cache
def icon(name: str) -> Markup:
    """Return the drawing of that name; a dot if there is none."""
    drawn = DRAWN.get(name, OTHER)
    return Markup(f'<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">{drawn}</svg>')
