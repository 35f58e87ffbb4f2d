"""The page's icon, inside the page itself: nothing more has to be fetched."""

from __future__ import annotations

from urllib.parse import quote

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">'
    '<rect width="16" height="16" rx="4" fill="#2457c5"/>'
    '<path d="M4 9l3 3 5-8" fill="none" stroke="#fff" stroke-width="2"/></svg>'
)
ICON_LINK = f'<link rel="icon" href="data:image/svg+xml,{quote(SVG)}">'
