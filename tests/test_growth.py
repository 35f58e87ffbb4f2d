import ast
from pathlib import Path

from tests.growth import grows_with_its_size

CLOCKS = {"process_time", "perf_counter", "monotonic", "thread_time", "timeit", "time_ns"}
MAY_READ_CLOCKS = {"growth.py", "waiting.py", "test_growth.py"}


def names_in(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return read | {alias.name for node in imports for alias in node.names}


def test_linear_work_is_told_from_quadratic() -> None:
    assert grows_with_its_size(lambda size: sum(range(size)), 100_000)
    assert not grows_with_its_size(lambda size: [sum(range(size)) for _ in range(size)], 100)


def test_no_test_is_timed_against_a_clock() -> None:
    """What is fast enough here is too slow elsewhere; absolute figures are read in the bench."""
    files = {path for path in Path(__file__).parent.rglob("*.py")
             if path.name not in MAY_READ_CLOCKS}  # fmt: skip
    assert [path.name for path in files if names_in(path) & CLOCKS] == []
