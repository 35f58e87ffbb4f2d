"""An audit as contract.md's object: what is undefined is null, and why stands beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalbot.auditing.audit import Audit
from evalbot.auditing.judge_probes import JudgeProbes
from evalbot.auditing.judges import JudgeAudit, ModelBias
from evalbot.judging.variations import ProbeKind
from evalbot.stats.agreement import Agreement
from evalbot.stats.alt_test import AltTest
from evalbot.stats.bias import Effect, Leniency

AGREEMENT_FIELDS = (
    "raw", "kappa", "kappa_linear", "kappa_quadratic", "alpha_nominal", "alpha_interval", "ac1",
    "ac2_linear", "ac2_quadratic",
)  # fmt: skip
TELLING_FIELDS = ("case", "model", "judge_met", "people_met", "people")
NOT_PROBED = "not probed: evalbot judge RUN --probe {kind}"


class _Reasons:
    """Why values are null, by their path in the object."""

    def __init__(self) -> None:
        self.by_path: dict[str, str] = {}

    def given(self, values: dict[str, Any], path: str, reason: str) -> dict[str, Any]:
        """The same values; each null among them has this reason, unless it has one already."""
        for name, value in values.items():
            if value is None:
                self.by_path.setdefault(f"{path}.{name}" if path else name, reason)
        return values


def audit_values(found: Audit) -> dict[str, Any]:
    """The object that `evalbot audit --format json` prints and an export holds."""
    reasons = _Reasons()
    return {
        "runs": list(found.runs),
        "suite": found.suite,
        "rubric": {"name": found.rubric.name, "version": found.rubric.version},
        "answers": found.answers,
        "reviewed": found.reviewed,
        "judges": [
            _judge(one, found, f"judges[{place}]", reasons)
            for place, one in enumerate(found.judges)
        ],
        "bands": [
            {
                "band": one.band,
                "verdict": one.verdict,
                "n": one.n,
                "errors": one.errors,
                "low": one.interval.low if one.interval else None,
                "high": one.interval.high if one.interval else None,
            }
            for one in found.bands
        ],
        "thresholds": [
            reasons.given(
                {
                    "line": one.line,
                    "verdict": one.verdict,
                    "today": one.today,
                    "seen": one.seen,
                    "proposed": one.found.ratio if one.found else None,
                    "n": one.found.n if one.found else None,
                    "errors": one.found.errors if one.found else None,
                    "low": one.found.low if one.found else None,
                    "high": one.found.high if one.found else None,
                },
                f"thresholds[{place}]",
                "no threshold here, or none that keeps the error as low as wished",
            )
            for place, one in enumerate(found.proposals)
        ],
        "wished_error": found.wished_error,
        "raters": _raters(found, reasons),
        "disagreements": [
            {
                "case": one.case,
                "model": one.model,
                "judge": one.judge,
                "human": one.human,
                "judge_grader": one.judge_grader,
            }
            for one in found.disagreements
        ],
        "stale": dict(found.stale),
        "notes": list(found.notes),
        "reasons": reasons.by_path,
    }


def _judge(one: JudgeAudit, found: Audit, path: str, reasons: _Reasons) -> dict[str, Any]:
    nothing = "no answer has both verdicts"
    family = {"family": one.family}
    reasons.given(family, path, "a panel has none" if one.name == "panel" else "not known")
    return {
        "name": one.name,
        **family,
        "n": one.n,
        "unscored": one.unscored,
        "stale": one.stale,
        "confusion": {
            "labels": list(one.confusion.labels),
            "counts": [list(row) for row in one.confusion.counts],
        },
        "agreement": _agreement(one.agreement, f"{path}.agreement", reasons),
        "leniency": reasons.given(
            _leniency(one.leniency),
            f"{path}.leniency",
            one.reasons.get("leniency", "no spread, or too few answers"),
        ),
        "verbosity": reasons.given(
            _effect(one.verbosity, "per_doubling"),
            f"{path}.verbosity",
            one.reasons.get("verbosity", nothing),
        ),
        "self_preference": reasons.given(
            {
                "difference": one.self_preference.difference,
                **_effect(one.self_preference.effect, "controlled"),
                "note": one.self_preference.note,
            },
            f"{path}.self_preference",
            one.self_preference.note or one.reasons.get("self_preference", nothing),
        ),
        **_probes(found.probes.get(one.name), path, reasons),
        "by_model": [
            _by_model(model, f"{path}.by_model[{place}]", reasons)
            for place, model in enumerate(one.by_model)
        ],
        "checkpoints": [
            reasons.given(
                {
                    "id": line.id,
                    "n": line.n,
                    "agreement": line.agreement,
                    "judge_only": line.judge_only,
                    "people_only": line.people_only,
                    "telling": [
                        {name: getattr(telling, name) for name in TELLING_FIELDS}
                        for telling in line.telling
                    ],
                },
                f"{path}.checkpoints[{place}]",
                "people are evenly split wherever the judge said something",
            )
            for place, line in enumerate(found.checkpoints.get(one.name, ()))
        ],
        "alt_test": _alt_test(one.alt_test, f"{path}.alt_test", reasons),
    }


def _agreement(one: Agreement, path: str, reasons: _Reasons) -> dict[str, Any]:
    for name in AGREEMENT_FIELDS:
        if name in one.reasons:
            reasons.by_path[f"{path}.{name}"] = one.reasons[name]
    values = {name: getattr(one, name) for name in AGREEMENT_FIELDS}
    return reasons.given(values, path, "no answer has both verdicts")


def _leniency(one: Leniency | None) -> dict[str, Any]:
    names = ("mean", "low", "high", "over", "under", "p", "mean_absolute")
    return {name: None if one is None else getattr(one, name) for name in names}


def _effect(one: Effect | None, name: str) -> dict[str, Any]:
    return {
        name: None if one is None else one.estimate,
        "low": None if one is None else one.low,
        "high": None if one is None else one.high,
        "p": None if one is None else one.p,
    }


def _probes(one: JudgeProbes | None, path: str, reasons: _Reasons) -> dict[str, Any]:
    place = None if one is None else one.position
    repeat = None if one is None else one.of(ProbeKind.REPEAT)
    names = ("n", "consistency", "first", "second", "bias", "p")
    interval = None if repeat is None else repeat.interval
    return {
        "position": reasons.given(
            {name: getattr(place, name) if place else None for name in names},
            f"{path}.position",
            "undefined: no pair hangs on the order"
            if place
            else NOT_PROBED.format(kind=ProbeKind.SWAP),
        ),
        "consistency": reasons.given(
            {
                "n": repeat.n if repeat else None,
                "flip_rate": repeat.flip_rate if repeat else None,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
            },
            f"{path}.consistency",
            NOT_PROBED.format(kind=ProbeKind.REPEAT),
        ),
        "probes": [
            {
                "kind": str(result.kind),
                "n": result.n,
                "flips": result.flips,
                "finding": str(result.finding),
            }
            for result in (one.results if one else ())
        ],
    }


def _by_model(one: ModelBias, path: str, reasons: _Reasons) -> dict[str, Any]:
    lenient = one.leniency
    values = {
        "model": one.model,
        "n": one.n,
        "leniency": lenient.mean if lenient else None,
        "low": lenient.low if lenient else None,
        "high": lenient.high if lenient else None,
        "error": lenient.mean_absolute if lenient else None,
    }
    reasons.given(values, path, "too few answers with both verdicts, or a scale without credits")
    speed = {
        "decode_tps_p50": one.decode_tps_p50,
        "ttfot_ms_p50": one.ttfot_ms_p50,
        "median_length": one.median_length,
    }
    reasons.given(speed, path, "not recorded")
    return {**values, **speed, "finishes": dict(one.finishes)}


def _alt_test(one: AltTest, path: str, reasons: _Reasons) -> dict[str, Any]:
    values: dict[str, Any] = {
        "applicable": one.applicable,
        "epsilon": one.epsilon,
        "score": one.score,
        "humans": one.humans,
        "winning_rate": one.winning_rate,
        "advantage_probability": one.advantage_probability,
        "passed": one.passed,
    }
    reasons.given(values, path, one.reason or "not applicable")
    return {**values, "reason": one.reason or ""}


def _raters(found: Audit, reasons: _Reasons) -> dict[str, Any]:
    raters = found.raters
    for name, reason in raters.reasons.items():
        reasons.by_path[f"raters.{name}"] = reason
    pairs: Sequence[Mapping[str, Any]] = [
        reasons.given(
            {
                "a": one.a,
                "b": one.b,
                "n": one.n,
                "raw": one.raw,
                "kappa_quadratic": one.kappa_quadratic,
            },
            f"raters.pairs[{place}]",
            one.reason or "undefined",
        )
        for place, one in enumerate(raters.pairs)
    ]
    return {
        "reviewers": [
            reasons.given(
                {"name": one.name, "graded": one.graded, **_leniency(one.leniency)},
                f"raters.reviewers[{place}]",
                "no answer that others graded, too, no spread, or a scale without credits",
            )
            for place, one in enumerate(raters.each)
        ],
        "n": raters.n,
        "alpha_nominal": raters.alpha_nominal,
        "alpha_interval": raters.alpha_interval,
        "pairs": pairs,
    }
