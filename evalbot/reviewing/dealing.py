"""Dealing what was drawn to reviewers: who gets what, in which order, with what between."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import NamedTuple

from evalbot.domain.reviewing import Assignment, CampaignPlan, Layout, Purpose
from evalbot.reviewing.known import Known
from evalbot.reviewing.material import Material, Unit
from evalbot.stats.sampling import Drawn

ID_BYTES = 12
MOST_PRACTICE_ANSWERS = 3
"""Answers of one practice item: the case's reference and its traps."""


class CaseTexts(NamedTuple):
    """The stored texts of a case: as it stands, and as what it is graded by."""

    text: str
    rule: str


@dataclass(slots=True)
class Slot:
    """One answer of an item that is being put together."""

    case: str
    purpose: Purpose
    answer_id: int | None = None
    planted: str | None = None
    known: str | None = None
    drawn: Drawn | None = None


@dataclass(slots=True)
class Item:
    """What a reviewer will see at once."""

    slots: list[Slot] = field(default_factory=list)


class Dealer:
    """Deals one draw of a campaign. first_items: where each reviewer's queue goes on.

    The order in the queue is drawn for each reviewer, so that a campaign that is stopped early
    is still a random sample; so is the order within an item, from which the letters come.
    """

    def __init__(
        self,
        campaign: str,
        draw: int,
        plan: CampaignPlan,
        texts: Mapping[str, CaseTexts],
        at: datetime,
        seed: int,
    ) -> None:
        self._campaign = campaign
        self._draw = draw
        self._plan = plan
        self._texts = texts
        self._at = at
        self._seed = seed

    def deal(
        self,
        material: Material,
        drawn: Sequence[Drawn],
        known: Mapping[str, Sequence[Known]],
        first_items: Mapping[str, int],
    ) -> list[Assignment]:
        """The assignments of all reviewers; practice comes only with a campaign's first draw."""
        hands = self._hands(drawn)
        assignments: list[Assignment] = []
        for reviewer, hand in hands.items():
            # Not by name: with the seed, an exported order would tell whose pseudonym it is.
            random = self._random("queue", self._plan.reviewers.index(reviewer))
            items = [item for one in hand for item in self._items(material.units[one.unit], one)]
            random.shuffle(items)
            items = self._with_attention(items, known, random)
            first = first_items.get(reviewer, 0)
            assignments += self._assign(reviewer, items, first, random)
            if self._draw == 1:
                practice = self._practice(known, items, random)
                assignments += self._assign(reviewer, practice, -len(practice), random)
        return assignments

    def volunteered(
        self, units: Iterable[Unit], reviewer: str, first_item: int
    ) -> list[Assignment]:
        """More for a reviewer who asked for it: freely taken, so without a chance or seed."""
        random = Random()
        items = [item for unit in units for item in self._items(unit, None)]
        random.shuffle(items)
        return self._assign(reviewer, items, first_item, random)

    def _hands(self, drawn: Sequence[Drawn]) -> dict[str, list[Drawn]]:
        """Each unit to `overlap` reviewers, so that all get about as many."""
        random = self._random("hands")
        reviewers = list(self._plan.reviewers)
        random.shuffle(reviewers)
        units = list(drawn)
        random.shuffle(units)
        hands: dict[str, list[Drawn]] = {name: [] for name in reviewers}
        turn = 0
        for unit in units:
            for _ in range(self._plan.overlap):
                hands[reviewers[turn % len(reviewers)]].append(unit)
                turn += 1
        return hands

    def _items(self, unit: Unit, drawn: Drawn | None) -> list[Item]:
        """A unit as items: with repeats, a case has one item for each."""
        by_repeat: dict[int, list[Slot]] = defaultdict(list)
        for one in unit.answers:
            slot = Slot(one.case, Purpose.REVIEW, answer_id=one.id, drawn=drawn)
            by_repeat[one.repeat].append(slot)
        return [Item(slots) for slots in by_repeat.values()]

    def _with_attention(
        self, items: list[Item], known: Mapping[str, Sequence[Known]], random: Random
    ) -> list[Item]:
        """The share of items that is to have an answer whose verdict is known."""
        share = self._plan.attention
        if share == 0 or not items:
            return items
        if self._plan.layout is Layout.SINGLE:
            return self._with_extra_items(items, known, random, share)
        wanted = max(1, round(share * len(items)))
        able = [item for item in items if item.slots[0].case in known]
        for item in random.sample(able, min(wanted, len(able))):
            one = random.choice(known[item.slots[0].case])
            same = next((slot for slot in item.slots if slot.answer_id == one.answer_id), None)
            if one.answer_id is not None and same is not None:
                # Its verdict is decided already: graded again it says something of the reader.
                same.purpose, same.known = Purpose.ATTENTION, one.verdict
            elif one.text is not None:
                item.slots.append(_known_slot(one, Purpose.ATTENTION))
        return items

    def _with_extra_items(
        self,
        items: list[Item],
        known: Mapping[str, Sequence[Known]],
        random: Random,
        share: float,
    ) -> list[Item]:
        mine = {slot.answer_id for item in items for slot in item.slots}
        pool = [
            one
            for found in known.values()
            for one in found
            if one.answer_id is None or one.answer_id not in mine
        ]
        wanted = max(1, round(share / (1 - share) * len(items)))
        chosen = random.sample(pool, min(wanted, len(pool)))
        mixed = [*items, *(Item([_known_slot(one, Purpose.ATTENTION)]) for one in chosen)]
        random.shuffle(mixed)
        return mixed

    def _practice(
        self, known: Mapping[str, Sequence[Known]], items: Sequence[Item], random: Random
    ) -> list[Item]:
        """Items to learn by, from cases that will not come up again where there are enough."""
        coming = {slot.case for item in items for slot in item.slots}
        cases = sorted(known)
        random.shuffle(cases)
        cases.sort(key=lambda case: case in coming)
        together = self._plan.layout is Layout.TOGETHER
        practice = []
        for case in cases[: self._plan.practice]:
            found = list(known[case])
            random.shuffle(found)
            # One of each verdict tells more than two alike.
            by_verdict = list({one.verdict: one for one in found}.values())
            chosen = by_verdict[:MOST_PRACTICE_ANSWERS] if together else [random.choice(found)]
            practice.append(Item([_known_slot(one, Purpose.PRACTICE) for one in chosen]))
        return practice

    def _assign(
        self, reviewer: str, items: Sequence[Item], first: int, random: Random
    ) -> list[Assignment]:
        assignments = []
        for number, item in enumerate(items, start=first):
            slots = list(item.slots)
            random.shuffle(slots)
            for position, slot in enumerate(slots):
                assignments.append(self._assignment(reviewer, number, position, slot))
        return assignments

    def _assignment(self, reviewer: str, item: int, position: int, slot: Slot) -> Assignment:
        texts = self._texts[slot.case]
        chance = None if slot.drawn is None else slot.drawn.probability
        return Assignment(
            id=new_id(),
            campaign=self._campaign,
            draw=self._draw,
            reviewer=reviewer,
            item=item,
            position=position,
            case=slot.case,
            case_text=texts.text,
            case_rule=texts.rule,
            purpose=slot.purpose,
            made_at=self._at,
            answer_id=slot.answer_id,
            planted=slot.planted,
            known=slot.known,
            draw_probability=chance,
            inclusion_probability=chance,
            stratum=None if slot.drawn is None else slot.drawn.stratum,
            volunteer=slot.purpose is Purpose.REVIEW and slot.drawn is None,
        )

    def _random(self, *what: object) -> Random:
        return Random(":".join(map(str, (self._seed, self._draw, *what))))


def new_id() -> str:
    """A name that tells nothing and cannot be guessed."""
    return secrets.token_urlsafe(ID_BYTES)


def _known_slot(known: Known, purpose: Purpose) -> Slot:
    return Slot(known.case, purpose, known.answer_id, known.text, known.verdict)
