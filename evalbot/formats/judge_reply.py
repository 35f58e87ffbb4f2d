"""A judge's reply: what it says in our terms, never repaired by guess (contract.md, Details)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evalbot.domain.judging import JudgeReading, TickedCheckpoint
from evalbot.formats.cells import ZERO_WIDTH
from evalbot.formats.problems import shown
from evalbot.formats.received import clean_text

UNPARSEABLE, OFF_SCALE = "judge_unparseable", "judge_off_scale"
QUOTE_MISSING, CONTRADICTS_REASON = "quote_missing", "contradicts_reason"

INVISIBLE = re.compile(f"[{ZERO_WIDTH}]")
MARKED_LINE = re.compile(
    r"^[ \t*_#>]{0,40}(?:GRADE|VERDICT)[ \t*_]{0,40}[:：](?P<verdict>.*)$", re.I | re.M
)
END_OF_VERDICT = re.compile(r"[.,;(。，；（]")
DECORATION = " \t*_`\"'“”「」"
CONCLUSION = re.compile(
    r"(?:\bverdict|\bgrade|判定|评级|結論|结论)\s*(?:is\b|should be\b|は|是|为|[:：=])\s*[\"'“「*]*"
    r"(?P<verdict>[\w-]+)",
    re.I,
)
LONGEST_SEARCH = 200_000
"""Characters of a reply in which objects are looked for."""

MOST_STARTS = 100
"""Braces that begin no object, after which no further ones are tried: each costs a parse."""


class _Object(NamedTuple):
    """A JSON object of the reply that may be its verdict; doubled: a key stood twice."""

    values: dict[str, Any]
    doubled: bool


def read_judge_reply(
    text: str, verdicts: Sequence[str], checkpoints: Sequence[str] = (), answer: str = ""
) -> JudgeReading:
    """What the reply says. verdicts: the words of the scale; checkpoints: ids of the lines.

    An object {reason, checkpoints, verdict} counts, bare, fenced or among other words; without
    one the last line that begins with GRADE: or VERDICT:. A reply that says two things is
    unparseable. answer: the graded text, in which quotes must stand.
    """
    cleaned = INVISIBLE.sub("", text)
    # As it stands first: invisible characters belong into the words of some languages.
    objects = list(_verdict_objects(text)) or list(_verdict_objects(cleaned))
    marked = [_up_to_its_end(match["verdict"]) for match in MARKED_LINE.finditer(cleaned)]
    if objects:
        return _read_object(objects, marked, verdicts, checkpoints, answer)
    if marked:
        verdict = _on_scale(marked[-1], verdicts)
        if verdict is None:
            return JudgeReading(None, OFF_SCALE, detail=f"the verdict is {shown(marked[-1])}")
        return JudgeReading(verdict, None, reason=clean_text(text.strip()) or None)
    return JudgeReading(None, UNPARSEABLE, detail="neither an object nor a line with GRADE:")


def _read_object(
    objects: Sequence[_Object],
    marked: Sequence[str],
    verdicts: Sequence[str],
    checkpoints: Sequence[str],
    answer: str,
) -> JudgeReading:
    said = {_comparable(one.values.get("verdict", one.values.get("score"))) for one in objects}
    last = objects[-1]
    if len(said) > 1 or any(one.doubled for one in objects):
        return JudgeReading(None, UNPARSEABLE, detail="the reply gives several verdicts")
    if "verdict" not in last.values:
        found = shown(str(last.values["score"]))
        return JudgeReading(None, OFF_SCALE, detail=f"a score ({found}) and no verdict")
    given = last.values["verdict"]
    verdict = _on_scale(given, verdicts) if isinstance(given, str) else None
    if verdict is None:
        found = shown(given if isinstance(given, str) else json.dumps(given))
        return JudgeReading(None, OFF_SCALE, detail=f"the verdict is {found}")
    if marked and _on_scale(marked[-1], verdicts) not in (None, verdict):
        return JudgeReading(None, UNPARSEABLE, detail="the reply gives several verdicts")
    reason = last.values.get("reason")
    reason = clean_text(reason) if isinstance(reason, str) and reason.strip() else None
    ticked = tuple(_ticked(last.values.get("checkpoints"), checkpoints))
    flags = []
    if any(one.quote and not _stands_in(one.quote, answer) for one in ticked):
        flags.append(QUOTE_MISSING)
    if reason is not None and _concludes_otherwise(reason, verdict, verdicts):
        flags.append(CONTRADICTS_REASON)
    return JudgeReading(verdict, None, reason, ticked, tuple(flags))


def _verdict_objects(text: str) -> Iterator[_Object]:
    """The outermost JSON objects that hold a verdict or a score, in their order."""
    at = text.find("{")
    failed = 0
    while 0 <= at < LONGEST_SEARCH and failed < MOST_STARTS:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            failed += 1
            at = text.find("{", at + 1)
            continue
        if isinstance(value, _Object) and {"verdict", "score"} & value.values.keys():
            yield _Object(_plain(value.values), value.doubled)
        at = text.find("{", end)


def _pairs(pairs: list[tuple[str, Any]]) -> _Object:
    values = dict(pairs)
    return _Object(values, doubled=[key for key, _ in pairs].count("verdict") > 1)


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs)


def _plain(value: Any) -> Any:
    """The value with objects as mappings."""
    if isinstance(value, _Object):
        return _plain(value.values)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value


def _ticked(value: Any, ids: Sequence[str]) -> Iterator[TickedCheckpoint]:
    """Each line once, in the rubric's order; None where the judge did not tick it."""
    entries = value if isinstance(value, list) else []
    by_id = {str(entry.get("id")): entry for entry in reversed(entries) if isinstance(entry, dict)}
    for name in ids:
        entry = by_id.get(name, {})
        met, quote = entry.get("met"), entry.get("quote")
        yield TickedCheckpoint(
            name,
            met if isinstance(met, bool) else None,
            clean_text(quote) if isinstance(quote, str) and quote.strip() else None,
        )


def _up_to_its_end(text: str) -> str:
    return END_OF_VERDICT.split(text, maxsplit=1)[0].strip(DECORATION)


def _on_scale(text: str, verdicts: Sequence[str]) -> str | None:
    """The verdict that this is, as a whole word and whatever its case."""
    wanted = INVISIBLE.sub("", text).strip(DECORATION).casefold()
    return next((verdict for verdict in verdicts if verdict.casefold() == wanted), None)


def _comparable(value: Any) -> str:
    if isinstance(value, str):
        return INVISIBLE.sub("", value).strip().casefold()
    return json.dumps(value)


def _stands_in(quote: str, answer: str) -> bool:
    """Whether the words stand in the answer, but for white space and quotation marks."""
    return _bare(quote) in _bare(answer)


def _bare(text: str) -> str:
    folded = unicodedata.normalize("NFKC", INVISIBLE.sub("", text)).casefold()
    return "".join(c for c in folded if not c.isspace() and c not in DECORATION + "…")


def _concludes_otherwise(reason: str, verdict: str, verdicts: Sequence[str]) -> bool:
    """Whether the reason names another verdict of the scale as its conclusion."""
    concluded = [_on_scale(match["verdict"], verdicts) for match in CONCLUSION.finditer(reason)]
    return bool(concluded) and concluded[-1] not in (None, verdict)
