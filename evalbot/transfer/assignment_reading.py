"""assignments.jsonl, read strictly: all problems at once."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from evalbot.domain.reviewing import Assignment, KnownGrade, Purpose
from evalbot.domain.unscored import UNSCORED_REASONS
from evalbot.formats.fields import COUNT, SHARE, Bounds, Fields
from evalbot.formats.problems import Problems, one_of, shown
from evalbot.transfer.assignment_lines import AssignmentRecord, label_in, state_of
from evalbot.transfer.campaign_lines import LARGEST, SEED, CampaignRecord
from evalbot.transfer.head import NUMBER, Head
from evalbot.transfer.reading import Whereabouts, json_objects
from evalbot.transfer.refs import RefReader
from evalbot.transfer.review_texts import CASE_RULE, ReviewTexts
from evalbot.transfer.strict import (
    boolean,
    free_list,
    moment,
    optional_moment,
    optional_text,
)

ITEM = Bounds("a whole number, below 0 for practice", at_least=-LARGEST, at_most=LARGEST)


class AssignmentReader:
    """Reads assignments.jsonl; campaigns: by id, as campaigns.jsonl has them."""

    def __init__(
        self,
        head: Head,
        answers: Container[Whereabouts],
        campaigns: Mapping[str, CampaignRecord],
        texts: ReviewTexts,
        problems: Problems,
    ) -> None:
        self._refs = RefReader(head.run, answers)
        self._campaigns = campaigns
        self._texts = texts
        self._problems = problems

    def assignments(self, text: str, file: str) -> list[AssignmentRecord]:
        """The assignments in their order."""
        found: list[AssignmentRecord] = []
        lines: dict[tuple[str, str, int, int], int] = {}
        for entries in json_objects(text, file, self._problems):
            fields = Fields(entries, file, self._problems)
            name = fields.text("campaign")
            campaign = self._campaigns.get(name)
            if campaign is None:
                fields.fault("campaign", shown(name), "a campaign of campaigns.jsonl")
                continue
            record = self._record(fields, campaign)
            fields.finish()
            first = lines.setdefault(record.place, entries.line)
            if first != entries.line:
                found_here = f"{record.assignment.position}, which line {first} has"
                fields.fault("position", found_here, "each place in a reviewer's queue once")
            found.append(record)
        return found

    def _record(self, fields: Fields, campaign: CampaignRecord) -> AssignmentRecord:
        case = self._refs.case(fields)
        where = self._refs.answer(fields, case)
        purpose = Purpose(fields.choice("purpose", list(Purpose)))
        verdicts = self._verdicts(campaign)
        for name in ("item", "position"):
            fields.require(name, "a whole number")
        assignment = Assignment(
            id="",
            campaign=campaign.campaign.id,
            draw=self._draw(fields, campaign),
            reviewer=fields.name("reviewer"),
            item=fields.integer("item", ITEM, 0),
            position=fields.integer("position", NUMBER, 0),
            case=case,
            case_text=self._case_text(fields, case),
            case_rule=self._case_rule(fields),
            purpose=purpose,
            made_at=moment(fields, "made_at"),
            planted=optional_text(fields, "planted"),
            known=optional_text(fields, "known"),
            draw_probability=fields.number("draw_probability", SHARE),
            inclusion_probability=fields.number("inclusion_probability", SHARE),
            stratum=optional_text(fields, "stratum"),
            volunteer=boolean(fields, "volunteer"),
            withdrawn_at=optional_moment(fields, "withdrawn_at"),
            done_at=optional_moment(fields, "done_at"),
        )
        said = tuple(_said(inner, verdicts) for inner in fields.mappings("said"))
        _check_whole(fields, assignment, where, said, verdicts)
        _check_told(fields, assignment, campaign)
        return AssignmentRecord(assignment, where, said)

    def _draw(self, fields: Fields, campaign: CampaignRecord) -> int:
        number = fields.integer("draw", COUNT, 0)
        if not 1 <= number <= len(campaign.draws):
            fields.fault("draw", str(number), f"a draw of the campaign, 1 to {len(campaign.draws)}")
            return 1
        return number

    def _case_text(self, fields: Fields, case: str) -> str:
        found = fields.text("case_text")
        text = self._texts.cases.get(found)
        if found and (text is None or text.key != case):
            expected = "the fingerprint of this case in suite/, or under the campaign's texts"
            fields.fault("case_text", shown(found), expected)
        return found

    def _case_rule(self, fields: Fields) -> str:
        found = fields.text("case_rule")
        if found and not self._texts.has(CASE_RULE, found):
            expected = "the fingerprint of a case's rule in suite/, or under the campaign's texts"
            fields.fault("case_rule", shown(found), expected)
        return found

    def _verdicts(self, campaign: CampaignRecord) -> Sequence[str]:
        rubric = self._texts.rubrics.get(campaign.campaign.rubric_text)
        return () if rubric is None else rubric.verdicts


def _said(fields: Fields, verdicts: Sequence[str]) -> KnownGrade:
    verdict, reason = optional_text(fields, "verdict"), optional_text(fields, "unscored_reason")
    if (verdict is None) == (reason is None):
        found = "neither" if verdict is None else "both"
        fields.fault("verdict", found, "either a verdict or an unscored_reason")
    if verdict is not None and verdict not in verdicts:
        fields.fault("verdict", shown(verdict), one_of(verdicts, verdict))
    if reason is not None and reason not in UNSCORED_REASONS:
        fields.fault("unscored_reason", shown(reason), one_of(UNSCORED_REASONS, reason))
    grade = KnownGrade(
        assignment="",
        verdict=verdict,
        unscored_reason=reason,
        comment=optional_text(fields, "comment"),
        checkpoints=free_list(fields, "checkpoints"),
        at=moment(fields, "at"),
        token="",
    )
    fields.finish()
    return grade


def _check_whole(
    fields: Fields,
    one: Assignment,
    where: Whereabouts | None,
    said: Sequence[KnownGrade],
    verdicts: Sequence[str],
) -> None:
    """An assignment shows an answer or a planted text; what is known is only known of checks."""
    if (where is None) == (one.planted is None):
        found = "neither" if where is None else "both"
        fields.fault("model", found, "either an answer's model, or a planted text")
    is_review = one.purpose is Purpose.REVIEW
    if is_review != (one.known is None):
        fields.fault("known", shown(one.known or ""), "a verdict for attention and practice only")
    elif one.known is not None and one.known not in verdicts:
        fields.fault("known", shown(one.known), one_of(verdicts, one.known))
    if is_review and (said or one.planted is not None):
        fields.fault("purpose", str(one.purpose), "attention or practice, as a verdict is known")
    if (one.item < 0) != (one.purpose is Purpose.PRACTICE):
        fields.fault("item", str(one.item), ITEM.words)


def _check_told(fields: Fields, one: Assignment, campaign: CampaignRecord) -> None:
    """What is written for readers must be what the rest of the line says."""
    draw = campaign.draws[one.draw - 1].draw if campaign.draws else None
    label = label_in(one.position, campaign)
    for name, found, expected in (
        ("policy", fields.text("policy"), draw and str(draw.policy)),
        ("seed", str(fields.integer("seed", SEED)), draw and str(draw.seed)),
        ("label", optional_text(fields, "label"), label),
        ("state", fields.text("state"), state_of(one.withdrawn_at, one.done_at)),
    ):
        if found != expected:
            fields.fault(name, shown(found or "null"), f"{expected or 'null'}, as the rest says")
    attention = boolean(fields, "attention")
    if attention != (one.purpose is Purpose.ATTENTION):
        fields.fault("attention", str(attention).lower(), "what purpose says")
