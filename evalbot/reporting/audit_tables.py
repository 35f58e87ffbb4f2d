"""An audit as tables for people, from the whole to the single answer."""

from __future__ import annotations

from evalbot.auditing.audit import Audit
from evalbot.formats.tables import Table
from evalbot.reporting.audit_judge_tables import (
    agreement_table,
    bias_table,
    checkpoint_table,
    confusion_table,
    disagreement_table,
    summary_table,
)
from evalbot.reporting.audit_people_tables import (
    bands_table,
    raters_table,
    reviewers_table,
    threshold_table,
)
from evalbot.reporting.probe_table import probe_table


def audit_tables(found: Audit) -> list[Table]:
    """Everything an audit says, from the whole to the single answer."""
    tables = [summary_table(found)]
    for judge in found.judges:
        tables += [confusion_table(judge), agreement_table(judge)]
        if found.checkpoints.get(judge.name):
            tables.append(checkpoint_table(found, judge.name))
    tables.append(bias_table(found))
    probes = [result for one in found.probes.values() for result in one.results]
    if probes:
        tables.append(probe_table(probes))
    tables += [raters_table(found), reviewers_table(found)]
    if found.bands:
        tables.append(bands_table(found))
    if found.proposals:
        tables.append(threshold_table(found))
    tables.append(disagreement_table(found))
    return tables
