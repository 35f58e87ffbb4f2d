"""Position and consistency of a judge, from probes on record."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from evalbot.auditing.audit import audit
from evalbot.domain.probes import Probe
from evalbot.domain.rubrics import Layer
from evalbot.judging.pairs import FIRST, SECOND, TIE
from evalbot.judging.variations import ProbeKind
from evalbot.reporting.audit_values import audit_values
from evalbot.store.database import Database
from evalbot.store.probes import add_probes
from tests.auditing.site import audited_site, give
from tests.auditing.test_audit import by_turns
from tests.building import START
from tests.reviewing.site import ReviewSite

NUMBERS = count()


def probed(
    site: ReviewSite, kind: ProbeKind, before: str, after: str | None, times: int, rule: str = ""
) -> list[Probe]:
    """So many probes with this outcome."""
    rule = rule or site.run.rubric.fingerprint_for(Layer.JUDGE)
    answer = next(iter(site.answers.values()))
    return [
        Probe(
            judge="strong", kind=str(kind), case="c0", answer_id=answer, other_id=None,
            before=before, after=after, unscored_reason=None if after else "judge_unparseable",
            rubric_fingerprint=rule, params={}, evidence=None, cost_usd=None,
            prompt_fingerprint=None, token=f"probe-{next(NUMBERS)}", at=START,
        )
        for _ in range(times)
    ]  # fmt: skip


def test_position_bias_is_that_of_the_textbook(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 3)
    give(site, Layer.JUDGE, "strong", by_turns)
    give(site, Layer.HUMAN, "ann", by_turns)
    swap = ProbeKind.SWAP
    probes = [
        *probed(site, swap, FIRST, SECOND, 20),  # the same answer both ways
        *probed(site, swap, SECOND, FIRST, 7),
        *probed(site, swap, TIE, TIE, 1),
        *probed(site, swap, FIRST, FIRST, 9),
        *probed(site, swap, SECOND, SECOND, 3),
        *probed(site, swap, FIRST, None, 2),  # no verdict: left out
        *probed(site, ProbeKind.REPEAT, "correct", "correct", 18),
        *probed(site, ProbeKind.REPEAT, "correct", "wrong", 2),
    ]
    with database.write() as connection:
        add_probes(connection, site.run.id, probes)
    [judge] = audit_values(audit(database, [site.run.id], tmp_path))["judges"]
    assert judge["position"] == {
        "n": 40, "consistency": 0.70, "first": 0.225, "second": 0.075,
        "bias": pytest.approx(0.15), "p": pytest.approx(0.14599609375, abs=1e-12),
    }  # fmt: skip
    assert (judge["consistency"]["n"], judge["consistency"]["flip_rate"]) == (20, 0.1)
    assert judge["consistency"]["low"] < 0.1 < judge["consistency"]["high"]


def test_an_order_that_ends_in_a_tie_is_inconsistent_and_no_side(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, 3)
    give(site, Layer.JUDGE, "strong", by_turns)
    with database.write() as connection:
        probes = probed(site, ProbeKind.SWAP, FIRST, TIE, 3)
        add_probes(connection, site.run.id, [*probes, *probed(site, ProbeKind.SWAP, TIE, TIE, 1)])
    [judge] = audit_values(audit(database, [site.run.id], tmp_path))["judges"]
    assert judge["position"] == {
        "n": 4, "consistency": 0.25, "first": 0.0, "second": 0.0, "bias": 0.0, "p": None,
    }  # fmt: skip


def test_probes_of_the_judge_with_other_settings_are_left_out(
    database: Database, tmp_path: Path
) -> None:
    site = audited_site(database, tmp_path, 3)
    give(site, Layer.JUDGE, "strong", by_turns)
    others = [replace(one, params={"judge": "hotter"})
              for one in probed(site, ProbeKind.SWAP, FIRST, FIRST, 5)]  # fmt: skip
    with database.write() as connection:
        add_probes(connection, site.run.id, others)
    values = audit_values(audit(database, [site.run.id], tmp_path))
    assert values["judges"][0]["position"]["n"] is None


def test_probes_by_another_rubric_are_left_out(database: Database, tmp_path: Path) -> None:
    site = audited_site(database, tmp_path, 3)
    give(site, Layer.JUDGE, "strong", by_turns)
    with database.write() as connection:
        add_probes(connection, site.run.id, probed(site, ProbeKind.SWAP, FIRST, FIRST, 5, "old"))
    values = audit_values(audit(database, [site.run.id], tmp_path))
    assert values["judges"][0]["position"]["n"] is None
    assert values["reasons"]["judges[0].position.n"].startswith("not probed")
