"""The lines of campaigns.jsonl: a campaign with its plan, its draws and the chance of each unit."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from evalbot.domain.reviewing import Campaign, CampaignPlan, Draw, Layout, Policy
from evalbot.formats.fields import COUNT, SHARE, Bounds, Fields
from evalbot.formats.problems import Problems, shown
from evalbot.store.columns import time_text
from evalbot.transfer.head import NUMBER, Head
from evalbot.transfer.lines import Line
from evalbot.transfer.people import People
from evalbot.transfer.reading import ATTEMPT, Whereabouts, json_objects
from evalbot.transfer.refs import RefReader, RunOrder, ref_values
from evalbot.transfer.review_texts import (
    RUBRIC,
    SUITE,
    ReviewTexts,
    read_other_texts,
    rule_of_people,
)
from evalbot.transfer.strict import boolean, moment, optional_moment

CAMPAIGN_ID = re.compile(r"[\w-]{1,16}", re.ASCII)
LARGEST = 2**31 - 1
SEED = Bounds("a whole number of at most 31 bits", at_least=-LARGEST, at_most=LARGEST)


@dataclass(frozen=True, slots=True)
class DrawRecord:
    """A draw; chances: of each case, or of each answer where single answers were drawn."""

    draw: Draw
    chances: Mapping[str | Whereabouts, float]


@dataclass(frozen=True, slots=True)
class CampaignRecord:
    """A campaign with its draws, first to last; the first one's number is 1."""

    campaign: Campaign
    draws: tuple[DrawRecord, ...]


def campaign_record(
    campaign: Campaign,
    draws: Iterable[Draw],
    places: Mapping[int, Whereabouts],
    order: RunOrder,
    people: People,
) -> CampaignRecord:
    """A campaign as it may leave the house; places: its run's answers by row id."""
    is_single = campaign.plan.layout is Layout.SINGLE
    records = []
    for draw in draws:
        chances: dict[str | Whereabouts, float] = {
            places[int(unit)] if is_single else unit: float(chance)
            for unit, chance in draw.chances.items()
        }
        in_order = {unit: chances[unit] for unit in sorted(chances, key=order.key)}
        records.append(DrawRecord(replace(draw, by=people.name(draw.by), chances={}), in_order))
    reviewers = tuple(people.name(name) for name in campaign.plan.reviewers)
    plan = replace(campaign.plan, reviewers=reviewers, attention=float(campaign.plan.attention))
    known = replace(campaign, plan=plan, created_by=people.name(campaign.created_by))
    return CampaignRecord(known, tuple(records))


def campaign_line(record: CampaignRecord) -> Line:
    """A campaign as its JSON object, without the texts that it rests on."""
    campaign = record.campaign
    closed_at = campaign.closed_at
    return {
        "campaign": campaign.id,
        "plan": asdict(campaign.plan),
        "suite_text": campaign.suite_text,
        "rubric_text": campaign.rubric_text,
        "rubric_rule": campaign.rubric_rule,
        "created_by": campaign.created_by,
        "created_at": time_text(campaign.created_at),
        "closed_at": None if closed_at is None else time_text(closed_at),
        "draws": [_draw_values(one) for one in record.draws],
    }


def _draw_values(record: DrawRecord) -> Line:
    draw = record.draw
    return {
        "draw": draw.number,
        "policy": str(draw.policy),
        "seed": draw.seed,
        "budget": draw.budget,
        "by": draw.by,
        "at": time_text(draw.at),
        "chances": [
            {**_unit_values(unit), "probability": chance} for unit, chance in record.chances.items()
        ],
    }


def _unit_values(unit: str | Whereabouts) -> Line:
    return {"case": unit} if isinstance(unit, str) else ref_values(unit.place.case, unit)


class CampaignReader:
    """Reads campaigns.jsonl; the texts that it brings are added to texts."""

    def __init__(
        self, head: Head, answers: Container[Whereabouts], texts: ReviewTexts, problems: Problems
    ) -> None:
        self._run = head.run
        self._refs = RefReader(head.run, answers)
        self._texts = texts
        self._problems = problems

    def campaigns(self, text: str, file: str) -> dict[str, CampaignRecord]:
        """The campaigns by their ids."""
        found: dict[str, CampaignRecord] = {}
        for entries in json_objects(text, file, self._problems):
            fields = Fields(entries, file, self._problems)
            record = self._record(fields)
            fields.finish()
            if record.campaign.id in found:
                fields.fault("campaign", f"{shown(record.campaign.id)} twice", "each once")
            found[record.campaign.id] = record
        return found

    def _record(self, fields: Fields) -> CampaignRecord:
        read_other_texts(fields, self._texts)
        name = fields.name("campaign")
        if name and not CAMPAIGN_ID.fullmatch(name):
            fields.fault("campaign", shown(name), "letters, digits, _ and - only, at most 16")
        plan = self._plan(fields)
        campaign = Campaign(
            id=name,
            run=self._run.id,
            plan=plan,
            suite_text=self._text(fields, "suite_text", SUITE),
            rubric_text=self._text(fields, "rubric_text", RUBRIC),
            rubric_rule=fields.text("rubric_rule"),
            created_by=fields.name("created_by"),
            created_at=moment(fields, "created_at"),
            closed_at=optional_moment(fields, "closed_at"),
        )
        rubric = self._texts.rubrics.get(campaign.rubric_text)
        if rubric is not None and campaign.rubric_rule != rule_of_people(rubric):
            expected = f"{rule_of_people(rubric)}, as its rubric says"
            fields.fault("rubric_rule", shown(campaign.rubric_rule), expected)
        fields.require("draws", "at least one draw")
        draws = [
            self._draw(inner, name, number, plan.layout)
            for number, inner in enumerate(fields.mappings("draws"), start=1)
        ]
        return CampaignRecord(campaign, tuple(draws))

    def _text(self, fields: Fields, name: str, kind: str) -> str:
        found = fields.text(name)
        if found and not self._texts.has(kind, found):
            expected = f"the fingerprint of a {kind} in the files, or under texts"
            fields.fault(name, shown(found), expected)
        return found

    def _plan(self, fields: Fields) -> CampaignPlan:
        fields.require("plan", "what the lead asked for")
        inner = fields.mapping("plan")
        if inner is None:
            return CampaignPlan(())
        plan = CampaignPlan(
            reviewers=inner.texts("reviewers"),
            policy=Policy(inner.choice("policy", list(Policy))),
            budget=inner.integer("budget", ATTEMPT),
            overlap=inner.integer("overlap", ATTEMPT, 1),
            attention=inner.number("attention", SHARE, 0.0),
            practice=inner.integer("practice", NUMBER, 0),
            seed=inner.integer("seed", SEED, 1),
            layout=Layout(inner.choice("layout", list(Layout))),
            reveal_judge=boolean(inner, "reveal_judge"),
        )
        for name in ("overlap", "attention", "practice", "seed"):
            inner.require(name, "a number")
        if not plan.reviewers or len(set(plan.reviewers)) < len(plan.reviewers):
            inner.fault("reviewers", "nobody, or somebody twice", "each reviewer once")
        elif plan.overlap > len(plan.reviewers):
            expected = f"at most {len(plan.reviewers)}, the number of reviewers"
            inner.fault("overlap", str(plan.overlap), expected)
        inner.finish()
        return plan

    def _draw(self, fields: Fields, campaign: str, number: int, layout: Layout) -> DrawRecord:
        found = fields.integer("draw", COUNT, 0)
        if found != number:
            fields.fault("draw", str(found), f"{number}: draws are counted from 1")
        fields.require("seed", SEED.words)
        draw = Draw(
            campaign=campaign,
            number=number,
            policy=Policy(fields.choice("policy", list(Policy))),
            seed=fields.integer("seed", SEED, 1),
            budget=fields.integer("budget", ATTEMPT),
            chances={},
            by=fields.name("by"),
            at=moment(fields, "at"),
        )
        chances: dict[str | Whereabouts, float] = {}
        for inner in fields.mappings("chances"):
            unit = self._unit(inner, layout)
            inner.require("probability", SHARE.words)
            chance = inner.number("probability", SHARE, 0.0)
            inner.finish()
            if unit in chances:
                inner.fault("case", shown(inner.text("case")), "each case or answer once")
            if unit is not None:
                chances[unit] = chance
        fields.finish()
        return DrawRecord(draw, chances)

    def _unit(self, fields: Fields, layout: Layout) -> str | Whereabouts | None:
        if layout is Layout.TOGETHER:
            return self._refs.case(fields)
        return self._refs.needed_answer(fields)
