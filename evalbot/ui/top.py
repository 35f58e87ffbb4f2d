"""The line above every page: who is signed in, the other pages, and the way out."""

from __future__ import annotations

from markupsafe import Markup

from evalbot.domain.people import Role, User
from evalbot.ui.guard import LEAD, REVIEW, SIGN_OUT
from evalbot.ui.text import as_text
from evalbot.ui.words import ALL, Words


def top_line(user: User, words: Words = ALL["en"]) -> Markup:
    """For the top of a page; leads can go over to the other app."""
    links = Markup("")
    if user.role is Role.LEAD:
        links = Markup("<a href='{}/'>{}</a><a href='{}/'>{}</a>").format(
            REVIEW, words("review"), LEAD, words("lead_pages")
        )
    return Markup(
        "<div class='row top'><b>evalbot</b><span class='grow'></span>{links}<span>{name}</span>"
        "<form method='post' action='{out}'><button>{word}</button></form></div>"
    ).format(name=as_text(user.name), links=links, out=SIGN_OUT, word=words("sign_out"))
