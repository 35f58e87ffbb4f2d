"""Probing judges: drawn answers graded again, and what that shows of each judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from evalbot.domain.probes import Probe
from evalbot.domain.rubrics import Rubric
from evalbot.domain.settings import JudgeSettings
from evalbot.judging.asking import ERROR
from evalbot.judging.budget import Budget
from evalbot.judging.docket import Docket, Material, Scope
from evalbot.judging.identity import judge_fingerprint
from evalbot.judging.lane import PricedProvider
from evalbot.judging.pairs import FIRST, SECOND
from evalbot.judging.probes import AnyProbe, ProbeJob, ProbePlan, SwapJob
from evalbot.judging.session import LanePlan, Session
from evalbot.judging.totals import Totals
from evalbot.judging.variations import ProbeKind
from evalbot.judging.voting import JudgeWriter
from evalbot.running.progress import Progress
from evalbot.stats.shifts import Shift, shift
from evalbot.stats.wilson import Interval, wilson
from evalbot.stats.wins import Pair, WinRecord, win_records
from evalbot.store.database import Connection, Database
from evalbot.store.probes import add_probes, read_probes
from evalbot.store.texts import put_texts

FEWEST = 10
"""Probes of one kind under which nothing is called a finding, and nothing none."""

TOLERATED_FLIPS = 0.05
"""A flip rate whose interval lies above this is a finding; so much any model wavers."""

_OTHER_PLACE = {FIRST: SECOND, SECOND: FIRST}
_PREFERENCE = {FIRST: 1.0, SECOND: -1.0}


@dataclass(frozen=True, slots=True)
class Probing:
    """What is to be done: jobs by judge, in the judges' order."""

    material: Material
    jobs: Mapping[str, Sequence[AnyProbe]]

    @property
    def calls(self) -> int:
        """Calls to be made; a swap takes two."""
        return sum(calls_of(jobs) for jobs in self.jobs.values())


def calls_of(jobs: Iterable[AnyProbe]) -> int:
    """How many calls these probes take."""
    return sum(2 if isinstance(job, SwapJob) else 1 for job in jobs)


def prepare_probing(
    database: Database,
    material: Material,
    judges: Sequence[JudgeSettings],
    kinds: Sequence[ProbeKind],
    scope: Scope,
    sample: int,
) -> Probing:
    """The probes that are not on record yet; sample: of how many answers or pairs for each kind."""
    with database.read() as connection:
        done = {one.probe.token for one in read_probes(connection, material.run.id)}
    jobs = {}
    for judge in judges:
        graded = list(Docket(material, judge, 1, scope).first_votes(database))
        plan = ProbePlan(material, judge, scope.seed, sample, done)
        jobs[judge.name] = list(plan.jobs(kinds, graded))
    return Probing(material, jobs)


def probing_session(
    database: Database,
    probing: Probing,
    judges: Sequence[JudgeSettings],
    providers: Mapping[str, PricedProvider],
    budget: Budget,
) -> Session[Probe]:
    """All probes, judge by judge at once."""
    material = probing.material
    plans = [
        LanePlan(
            judge,
            providers[judge.name],
            _still_open(database, probing, judge.name),
            calls_of(probing.jobs[judge.name]),
            Totals(judge.name),
        )
        for judge in judges
        if probing.jobs[judge.name]
    ]
    writer = JudgeWriter(material, [judge.name for judge in judges], {})
    sheets = {
        job.shelved.fingerprint: job.shelved.sheet.text
        for jobs in probing.jobs.values()
        for job in jobs
        if isinstance(job, ProbeJob)
    }

    def prepare(connection: Connection) -> None:
        writer.prepare(connection)
        put_texts(connection, "prompt", sheets.values())

    def save(connection: Connection, batch: Sequence[Probe]) -> None:
        # An error is no reply: it is asked for again another time.
        replies = [probe for probe in batch if probe.unscored_reason != ERROR]
        add_probes(connection, material.run.id, replies)

    progress = Progress(f"probing the judges of run {material.run.id}", "calls", of="judge")
    return Session(database, material.run.id, plans, save, prepare, progress, budget)


def _still_open(database: Database, probing: Probing, judge: str) -> Iterator[Sequence[AnyProbe]]:
    """A judge's probes that nobody has made since they were drawn."""
    with database.read() as connection:
        done = {one.probe.token for one in read_probes(connection, probing.material.run.id)}
    yield [job for job in probing.jobs[judge] if job.token not in done]


class Finding(StrEnum):
    """What a kind of probe shows; needs_repeat: nobody knows how much this judge wavers."""

    EXPOSED = "exposed"
    NO_SIGN = "no sign"
    TOO_FEW = "too few"
    NEEDS_REPEAT = "repeat first"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What one kind of probe shows of a judge.

    n: probes with a verdict before and after. flips: how often they differ (swap: how often
    another answer wins than before). shift: of the credit; swap: how much oftener the answer
    shown first wins than the second. None where the scale has no credits.
    """

    judge: str
    kind: ProbeKind
    n: int
    unscored: int
    flips: int
    interval: Interval | None
    shift: Shift | None
    finding: Finding

    @property
    def flip_rate(self) -> float | None:
        """None without probes."""
        return self.flips / self.n if self.n else None


def probe_results(
    database: Database, material: Material, judges: Sequence[JudgeSettings]
) -> list[ProbeResult]:
    """Each judge's results by today's rubric and settings, over all its probes of the run."""
    with database.read() as connection:
        stored = read_probes(connection, material.run.id)
    found: dict[tuple[str, ProbeKind], list[Probe]] = defaultdict(list)
    for one in stored:
        probe = one.probe
        if probe.rubric_fingerprint == material.rubric_fingerprint:
            found[str(probe.params.get("judge")), ProbeKind(probe.kind)].append(probe)
    results = []
    for judge in judges:
        name = judge_fingerprint(judge)
        wavering: float | None = None
        for kind in ProbeKind:
            if (name, kind) in found:
                probes = found[name, kind]
                result = result_of(judge.name, kind, probes, material.basis.rubric, wavering)
                if kind is ProbeKind.REPEAT:
                    wavering = result.flip_rate
                results.append(result)
    return results


def compared_pairs(
    database: Database, material: Material, judge: JudgeSettings
) -> dict[str, WinRecord]:
    """How models fared in a judge's swapped pairs; where the orders disagree, it is a tie."""
    with database.read() as connection:
        stored = read_probes(connection, material.run.id)
    name = judge_fingerprint(judge)
    pairs = []
    for probe, first, second in stored:
        is_ours = probe.kind == ProbeKind.SWAP and probe.params.get("judge") == name
        if not is_ours or probe.rubric_fingerprint != material.rubric_fingerprint:
            continue
        if probe.after is None or first is None or second is None:
            continue
        one, other = first.place.endpoint, second.place.endpoint
        won = {(FIRST, SECOND): one, (SECOND, FIRST): other}.get((probe.before, probe.after))
        pairs.append(Pair(one, other, won))
    return win_records(pairs)


def result_of(
    judge: str, kind: ProbeKind, probes: Sequence[Probe], rubric: Rubric, wavering: float | None
) -> ProbeResult:
    """What these probes of one kind show; wavering: the flip rate where nothing was changed."""
    pairs = [(one.before, one.after) for one in probes if one.after is not None]
    if kind is ProbeKind.SWAP:
        flips = sum(before != _OTHER_PLACE.get(after, after) for before, after in pairs)
        moved = shift(
            [(_PREFERENCE.get(one, 0.0) + _PREFERENCE.get(two, 0.0)) / 2 for one, two in pairs]
        )
    else:
        credit = {step.verdict: step.credit for step in rubric.scale}
        flips = sum(before != after for before, after in pairs)
        moved = shift(
            [
                after_credit - before_credit
                for before, after in pairs
                if (before_credit := credit.get(before)) is not None
                and (after_credit := credit.get(after)) is not None
            ]
        )
    interval = wilson(flips, len(pairs))
    return ProbeResult(
        judge=judge,
        kind=kind,
        n=len(pairs),
        unscored=len(probes) - len(pairs),
        flips=flips,
        interval=interval,
        shift=moved,
        finding=_finding(kind, interval, moved, wavering, len(pairs)),
    )


def _finding(
    kind: ProbeKind,
    interval: Interval | None,
    moved: Shift | None,
    wavering: float | None,
    n: int,
) -> Finding:
    if n < FEWEST:
        return Finding.TOO_FEW
    moves = moved is not None and (moved.low > 0 or moved.high < 0)
    hangs_on_order = kind in (ProbeKind.REVERSE, ProbeKind.SWAP)
    if hangs_on_order and wavering is None and not moves:
        return Finding.NEEDS_REPEAT
    flips = interval is not None and interval.low > max(TOLERATED_FLIPS, wavering or 0.0)
    if kind is ProbeKind.REPEAT:
        shows = flips
    elif hangs_on_order or moved is None:
        shows = flips or moves
    else:
        shows = moves
    return Finding.EXPOSED if shows else Finding.NO_SIGN
