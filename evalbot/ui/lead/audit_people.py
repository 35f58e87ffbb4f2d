"""The part of the Audit page about reviewers among themselves, and the automatic verdicts."""

from __future__ import annotations

from markupsafe import Markup

from evalbot.auditing.audit import Audit
from evalbot.reporting.audit_people_tables import (
    bands_table,
    raters_table,
    reviewers_table,
    threshold_table,
)
from evalbot.ui.table import table_html

NO_BANDS = Markup(
    '<p class="quiet">People have graded no answer with an automatic verdict: nothing to measure'
    " the bands by.</p>"
)


def people_view(found: Audit) -> Markup:
    """How reviewers agree, how often each automatic verdict is wrong, what would do better."""
    parts = [table_html(raters_table(found)), table_html(reviewers_table(found))]
    parts.append(table_html(bands_table(found)) if found.bands else NO_BANDS)
    if found.proposals:
        parts.append(table_html(threshold_table(found)))
    return Markup("").join(parts)
