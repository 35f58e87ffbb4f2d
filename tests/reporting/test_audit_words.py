"""What an audit found, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalbot.auditing.audit import Audit, AuditQuery, audit
from evalbot.domain.rubrics import Layer
from evalbot.reporting.audit_words import judge_sentences, stale_sentence
from evalbot.store.database import Database, open_database
from tests.auditing.site import audited_site, give
from tests.building import write_site
from tests.reviewing.site import VERDICTS, ReviewSite, cases

CORRECT, ACCEPTABLE, WRONG = VERDICTS


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(f"sqlite:///{tmp_path}/evalbot.db") as opened:
        yield opened


def audited(site: ReviewSite) -> Audit:
    return audit(site.database, [site.run.id], site.folder, AuditQuery(names=True))


def told(site: ReviewSite) -> str:
    [judge] = audited(site).judges
    return "\n".join(judge_sentences(judge))


def test_a_lenient_judge_is_called_so_with_its_numbers(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 40)
    give(site, Layer.JUDGE, "strong", lambda _, n: VERDICTS[max(0, n % 3 - 1)], family="equine")
    for name in ("ann", "bob"):
        give(site, Layer.HUMAN, name, lambda _, n: VERDICTS[n % 3])
    words = told(site)
    assert words.startswith("Same verdict as people on 35.0 % of 120 answers; beyond chance: kappa")
    assert (
        "\nLenient: +0.33 credits (+0.25 – +0.40); higher than people on 78, lower on 0.\n" in words
    )
    assert "\nMay not stand in for a reviewer: in the alt-test it wins against 0 of 2" in words
    # It says the same wherever people do: no model's answers are treated apart.
    assert "\nOwn family: nothing is left to chance" in words


def test_a_harsh_judge_is_called_so(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 12)
    give(site, Layer.JUDGE, "strong", lambda _, n: VERDICTS[min(2, n % 3 + 1)])
    give(site, Layer.HUMAN, "ann", lambda _, n: VERDICTS[n % 3])
    words = told(site)
    assert "\nHarsh: −0.33 credits" in words
    assert "\nOwn family: the judge's family is not known" in words
    assert "Cannot be told: it needs at least 2 reviewers" in words


def test_a_judge_like_people_shows_no_sign(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 12)
    give(site, Layer.JUDGE, "strong",
         lambda _, n: VERDICTS[n % 3 if n > 1 else 1 - n % 3])  # fmt: skip
    give(site, Layer.HUMAN, "ann", lambda _, n: VERDICTS[n % 3])
    assert "\nNo sign that it is lenient or harsh on average: 0.00 credits" in told(site)


def test_without_a_shared_answer_it_says_only_that(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 2)
    give(site, Layer.JUDGE, "strong", lambda _, n: CORRECT if n == 0 else None)
    give(site, Layer.HUMAN, "ann", lambda _, n: CORRECT if n == 1 else None)
    assert told(site) == (
        "No answer has both its verdict and people's: nothing can be measured yet."
    )


def test_stale_grades_are_told_with_what_to_do(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 3)
    give(site, Layer.JUDGE, "strong", lambda *_: CORRECT)
    give(site, Layer.HUMAN, "ann", lambda *_: CORRECT)
    assert stale_sentence(audited(site)).startswith("No grade is stale")
    changed = [{**case, "references": ["另一个"]} if case["key"] == "c1" else case
               for case in cases(3)]  # fmt: skip
    write_site(tmp_path, cases=changed)
    assert stale_sentence(audited(site)).startswith("Stale: 3 auto, 3 judge, 3 human. ")
    assert "Left out: 0 answers on which it gave no verdict, 3 whose grade is stale." in told(site)
