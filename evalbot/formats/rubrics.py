"""A rubric's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evalbot.domain.rubrics import (
    AutoRule,
    Band,
    JudgeRule,
    RateRule,
    Rubric,
    ScaleStep,
    ScorerName,
)
from evalbot.formats.cases import read_checkpoints
from evalbot.formats.fields import COUNT, RATIO, SHARE, Fields, root_fields
from evalbot.formats.problems import Problems, shown
from evalbot.formats.rubric_rules import check_auto, check_rate, check_scale
from evalbot.formats.suites import NAME, NAME_WORDS
from evalbot.formats.textfile import read_text
from evalbot.formats.yaml_text import write_yaml
from evalbot.formats.yaml_tree import parse_yaml

HOME = "rubrics"
FOLDINGS = ("nfkc", "casefold", "punctuation", "script")
CAPS = ("numbers", "negation", "critical")
UNDECIDED = ("needs_review", "by_ratio")
DIRECTIONS = ("lower", "higher")


def read_rubric(path: Path) -> Rubric:
    """Read a rubric. Raises NotFoundError, and ProblemsError with everything that is wrong."""
    problems = Problems()
    text = read_text(path, path.name, problems)
    problems.raise_if_any()
    path = path.absolute()
    rubric = parse_rubric(text or "", path.name)
    if path.parent.name == HOME and rubric.name != path.stem:
        problems.add(path.name, "name", shown(rubric.name), f"{path.stem}, as its file is called")
    problems.raise_if_any()
    return rubric


def parse_rubric(text: str, place: str) -> Rubric:
    """What a rubric's text says; place is its name in problems."""
    problems = Problems()
    fields = root_fields(parse_yaml(text, place, problems), place, problems)
    problems.raise_if_any()
    rubric = rubric_of(fields)
    problems.raise_if_any()
    return rubric


def rubric_of(fields: Fields) -> Rubric:
    """The rubric of these fields; what is wrong is noted."""
    steps = fields.mappings("scale")
    scale = tuple(_step(inner) for inner in steps)
    check_scale(fields, steps, scale)
    rubric = Rubric(
        name=fields.text("name", NAME_WORDS),
        version=fields.name("version"),
        title=fields.text("title"),
        scale=scale,
        rate=_rate(fields, scale),
        auto=_auto(fields),
        checkpoints=read_checkpoints(fields),
        judge=_judge(fields),
    )
    fields.finish()
    if rubric.name and not NAME.fullmatch(rubric.name):
        fields.fault("name", shown(rubric.name), NAME_WORDS)
    return rubric


def write_rubric(rubric: Rubric) -> str:
    """The YAML text that parse_rubric reads back as the same rubric."""
    return write_yaml(rubric_values(rubric))


def _step(fields: Fields) -> ScaleStep:
    step = ScaleStep(
        verdict=fields.name("verdict"),
        credit=fields.number("credit", SHARE),
        means=fields.text("means"),
        symbol=fields.optional_text("symbol") or "",
        key=fields.optional_text("key") or "",
        examples=fields.texts("examples"),
    )
    fields.finish()
    return step


def _rate(fields: Fields, scale: tuple[ScaleStep, ...]) -> RateRule:
    fields.require("rate", "name, title, direction and weights")
    inner = fields.mapping("rate")
    if inner is None:
        return RateRule("", "", DIRECTIONS[0], {})
    rate = RateRule(
        name=inner.name(),
        title=inner.text("title"),
        direction=inner.choice("direction", DIRECTIONS),
        weights=check_rate(inner, scale),
    )
    inner.finish()
    return rate


def _auto(fields: Fields) -> AutoRule:
    inner = fields.mapping("auto")
    if inner is None:
        return AutoRule()
    bands = inner.mappings("bands")
    auto = AutoRule(
        scorer=ScorerName(inner.choice("scorer", list(ScorerName), ScorerName.NONE)),
        folding=inner.choices("folding", FOLDINGS),
        bands=tuple(_band(band) for band in bands),
        wrong_below=inner.number("wrong_below", RATIO),
        caps=inner.choices("caps", CAPS),
        undecided=inner.choice("undecided", UNDECIDED, UNDECIDED[0]),
        acceptable_from=inner.number("acceptable_from", RATIO),
    )
    inner.finish()
    check_auto(inner, bands, auto)
    return auto


def _band(fields: Fields) -> Band:
    band = Band(
        max_length=fields.integer("max_length", COUNT),
        correct=fields.number("correct", RATIO),
        acceptable=fields.number("acceptable", RATIO),
    )
    fields.finish()
    return band


def _judge(fields: Fields) -> JudgeRule:
    inner = fields.mapping("judge")
    if inner is None:
        return JudgeRule()
    judge = JudgeRule(
        instructions=inner.optional_text("instructions") or "",
        min_votes=inner.integer("min_votes", COUNT, 1),
    )
    inner.finish()
    return judge


def rubric_values(rubric: Rubric) -> dict[str, Any]:
    """A rubric as its YAML mapping."""
    auto = rubric.auto
    return {
        "name": rubric.name,
        "version": rubric.version,
        "title": rubric.title,
        "scale": [_step_values(step) for step in rubric.scale],
        "rate": {
            "name": rubric.rate.name,
            "title": rubric.rate.title,
            "direction": rubric.rate.direction,
            "weights": {verdict: rubric.rate.weights[verdict] for verdict in rubric.verdicts},
        },
        "auto": {
            "scorer": str(auto.scorer),
            "folding": list(auto.folding),
            "bands": [_band_values(band) for band in auto.bands],
            "wrong_below": auto.wrong_below,
            "caps": list(auto.caps),
            "undecided": auto.undecided,
            "acceptable_from": auto.acceptable_from,
        },
        "checkpoints": [
            {"id": line.id, "text": line.text, "weight": line.weight} for line in rubric.checkpoints
        ],
        "judge": {
            "instructions": rubric.judge.instructions,
            "min_votes": rubric.judge.min_votes,
        },
    }


def _step_values(step: ScaleStep) -> dict[str, Any]:
    return {
        "verdict": step.verdict,
        "credit": step.credit,
        "symbol": step.symbol,
        "key": step.key,
        "means": step.means,
        "examples": list(step.examples),
    }


def _band_values(band: Band) -> dict[str, Any]:
    values = {
        "max_length": band.max_length,
        "correct": band.correct,
        "acceptable": band.acceptable,
    }
    return {name: value for name, value in values.items() if value is not None}
