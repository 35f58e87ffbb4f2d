"""A record to look at: two models, three cases, three layers, texts that want to break out."""

from __future__ import annotations

from pathlib import Path

from evalbot.domain.answers import AnswerStatus, Timing
from evalbot.domain.rubrics import Layer
from evalbot.domain.runs import Run
from evalbot.store.database import Database
from tests.building import add_grades, graded, record, said, small_run, write_site

HOSTILE = (
    "<script>window.bad = 1</script> <img src=x onerror='window.bad = 1'> "
    "![i](http://127.0.0.1:1/x.png) \u202etxt.exe"
)
SHOWN = (
    "<script>window.bad = 1</script> <img src=x onerror='window.bad = 1'> "
    "![i](http://127.0.0.1:1/x.png) ⟦U+202E⟧txt.exe"
)


def small_record(database: Database, folder: Path) -> Run:
    """qwen: correct, needs review with a hostile text, trapped. gemma: correct twice, timed out."""
    write_site(folder)
    run = small_run(folder, "qwen", "gemma<b>")
    timing = Timing(100, 110, 120.4, 900, None, 31.25, "server")
    ids = record(
        database,
        run,
        [
            said("door", "qwen", "请关门", timing=timing),
            said("light", "qwen", HOSTILE, timing=timing),
            said("rain", "qwen", "下雨", timing=timing),
            said("door", "gemma<b>", "请开门", timing=timing),
            said("light", "gemma<b>", "请关灯", timing=timing),
            said("rain", "gemma<b>", "", status=AnswerStatus.TIMEOUT),
        ],
    )
    judged = graded(run, Layer.JUDGE, "strong", "light", "wrong")
    judged = judged._replace(rationale=HOSTILE, evidence={"flags": ["injection"]})
    human = graded(run, Layer.HUMAN, "ann", "light", "acceptable")._replace(comment="close enough")
    add_grades(
        database,
        run,
        [
            (ids[1], judged),
            (ids[0], graded(run, Layer.JUDGE, "strong", "door", "correct")),
            (ids[1], human),
        ],
    )
    return run
