"""The files of an export that tell of reviews and votes, read together."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from evalbot.formats.problems import Problems
from evalbot.formats.textfile import read_text
from evalbot.transfer.assignment_reading import AssignmentReader
from evalbot.transfer.campaign_lines import CampaignReader
from evalbot.transfer.export import ASSIGNMENTS, CAMPAIGNS, HELD, VOTES
from evalbot.transfer.head import Head
from evalbot.transfer.held_lines import HeldReader
from evalbot.transfer.reading import Whereabouts
from evalbot.transfer.review_texts import ReviewTexts, texts_in_files
from evalbot.transfer.reviews import Reviews
from evalbot.transfer.vote_lines import check_votes


@dataclass(frozen=True, slots=True)
class ReviewFiles:
    """What the files say; texts: all that campaigns rest on, those in suite/ included."""

    reviews: Reviews
    texts: ReviewTexts


def read_review_files(
    folder: Path, head: Head, answers: Container[Whereabouts], problems: Problems
) -> ReviewFiles:
    """The reviews of an export; those files that it does not hold say nothing."""
    texts = texts_in_files(head.run.suite, head.run.rubric)

    def text(name: str) -> str:
        path = folder / name
        return (read_text(path, name, problems) or "") if path.is_file() else ""

    campaigns = CampaignReader(head, answers, texts, problems).campaigns(text(CAMPAIGNS), CAMPAIGNS)
    reader = AssignmentReader(head, answers, campaigns, texts, problems)
    given = reader.assignments(text(ASSIGNMENTS), ASSIGNMENTS)
    held = HeldReader(head, answers, problems).held(text(HELD), HELD)
    check_votes(text(VOTES), VOTES, head, problems)
    return ReviewFiles(Reviews(campaigns, tuple(given), tuple(held)), texts)
