"""What an audit found of a judge, in plain words; the numbers stand in audit_tables."""

from __future__ import annotations

from collections.abc import Iterator

from evalbot.auditing.audit import Audit
from evalbot.auditing.judges import JudgeAudit
from evalbot.formats.words import count
from evalbot.reporting.audit_shown import effect_words, signed, span
from evalbot.stats.bias import Effect
from evalbot.stats.rounding import half_up, percent


def judge_sentences(one: JudgeAudit) -> Iterator[str]:
    """One judge: agreement, leniency, length, own family, whether it may stand in for people."""
    if not one.n:
        yield "No answer has both its verdict and people's: nothing can be measured yet."
        return
    yield _same(one)
    yield _leniency(one)
    yield "Length: " + _effect(
        one.verbosity,
        "favours long answers, {} credits per doubling of length at the same quality",
        "favours short answers, {} credits per doubling of length at the same quality",
        "no sign that length counts: {} credits per doubling",
        one.reasons.get("verbosity", "cannot be told"),
    )
    yield "Own family: " + _own_family(one)
    yield _alt_test(one)
    if one.unscored or one.stale:
        yield (
            f"Left out: {count(one.unscored, 'answer')} on which it gave no verdict, {one.stale} "
            "whose grade is stale."
        )


def stale_sentence(found: Audit) -> str:
    """How many grades were made under older texts, by layer."""
    old = {layer: number for layer, number in found.stale.items() if number}
    if not old:
        return "No grade is stale: all were made under today's rubric and references."
    told = ", ".join(f"{number} {layer}" for layer, number in old.items())
    return (
        f"Stale: {told}. Their rubric or references have changed since, so they count nowhere "
        "here; evalbot score and evalbot judge renew theirs, people's need a new campaign."
    )


def _same(one: JudgeAudit) -> str:
    found, kappa = one.agreement, one.agreement.kappa_quadratic
    raw = "–" if found.raw is None else percent(found.raw)
    told = f"Same verdict as people on {raw} of {count(one.n, 'answer')}"
    name = "kappa with quadratic weights"
    if kappa is None:
        kappa, name = found.kappa, "kappa"
    if kappa is None:
        return f"{told}; {name} is {found.reasons.get('kappa', 'undefined')}."
    return f"{told}; beyond chance: {name} {half_up(kappa, 2)} (1 is perfect, 0 is chance)."


def _leniency(one: JudgeAudit) -> str:
    found = one.leniency
    if found is None:
        return f"Leniency: {one.reasons.get('leniency', 'cannot be told')}."
    inside = span(found.low, found.high)
    mean = f"{signed(found.mean)} credits" + (f" ({inside})" if inside else "")
    counted = f"higher than people on {found.over}, lower on {found.under}"
    if found.low is not None and found.low > 0:
        return f"Lenient: {mean}; {counted}."
    if found.high is not None and found.high < 0:
        return f"Harsh: {mean}; {counted}."
    return f"No sign that it is lenient or harsh on average: {mean}; {counted}."


def _own_family(one: JudgeAudit) -> str:
    found = one.self_preference
    if found.effect is None:
        return (found.note or one.reasons.get("self_preference", "cannot be told")) + "."
    told = _effect(
        found.effect,
        "favours its own, {} credits at the same quality and length",
        "is harder on its own, {} credits at the same quality and length",
        "no sign that it favours its own: {} credits",
        "",
    )
    return f"{told[:-1]}; {found.note}." if found.note else told


def _alt_test(one: JudgeAudit) -> str:
    test = one.alt_test
    if not test.applicable:
        return f"May it stand in for a reviewer? Cannot be told: it {test.reason}."
    won = round((test.winning_rate or 0.0) * test.humans)
    may = "May stand in" if test.passed else "May not stand in"
    return (
        f"{may} for a reviewer: in the alt-test it wins against {won} of {test.humans} reviewers, "
        f"at least half are needed (epsilon {test.epsilon:g})."
    )


def _effect(found: Effect | None, above: str, below: str, neither: str, why_not: str) -> str:
    words = effect_words(found)
    if found is None or words is None:
        return f"{why_not}."
    chosen = above if found.low > 0 else below if found.high < 0 else neither
    return chosen.format(words) + "."
