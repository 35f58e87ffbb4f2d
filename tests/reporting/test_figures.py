"""Charts as files: bytes, names, places that cannot be written, nothing from outside."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from evalbot.errors import InputError
from evalbot.reporting.charts import throughput_chart
from evalbot.reporting.figures import file_names, write_figures
from tests.reporting.test_charts import hostile_charts, sweep


def chart(*names: str) -> Any:
    return throughput_chart([row for name in names for row in sweep(name, 10.0, 18.0)])


def test_png_and_svg_of_each_chart(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "figures"
    paths = write_figures(folder, {"speed": chart("日本語モデル", "中文模型", "a<b>&c")})
    assert paths == [folder / "speed.png", folder / "speed.svg"]
    png = paths[0].read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    root = ET.fromstring(paths[1].read_text(encoding="utf-8"))
    assert (width, height) == (2 * int(root.attrib["width"]), 2 * int(root.attrib["height"]))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"日本語モデル", "中文模型", "a<b>&c"} <= set(texts)


def test_the_same_data_gives_the_same_bytes(tmp_path: Path) -> None:
    first = write_figures(tmp_path / "1", {"speed": chart("a", "b")})
    second = write_figures(tmp_path / "2", {"speed": chart("a", "b")})
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_hostile_names_make_sound_files_without_links(tmp_path: Path) -> None:
    for path in write_figures(tmp_path, hostile_charts()):
        if path.suffix == ".svg":
            root = ET.fromstring(path.read_text(encoding="utf-8"))
            tags = {element.tag.rpartition("}")[2] for element in root.iter()}
            attributes = {name for element in root.iter() for name in element.attrib}
            assert tags <= {"svg", "g", "path", "rect", "line", "text", "tspan", "defs", "clipPath"}
            assert not [name for name in attributes if "href" in name or name.startswith("on")]


@pytest.mark.parametrize(
    ("names", "files"),
    [
        (["speed"], ["speed"]),
        (["a/b", "a b", "A_B"], ["a_b", "a_b-2", "A_B-3"]),
        (["../../etc/passwd", "..", ""], ["etc_passwd", "figure", "figure-2"]),
        (["翻訳, 日→中"], ["翻訳__日_中"]),
        (["x" * 300], ["x" * 80]),
    ],
)
def test_names_of_files(names: list[str], files: list[str]) -> None:
    assert file_names(dict.fromkeys(names)) == files


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "figures"):
        with pytest.raises(InputError, match=r"could not be written \(.+\)$") as caught:
            write_figures(folder, {"speed": chart("a")})
        assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "speed.png").mkdir()
    with pytest.raises(InputError, match="could not be written"):
        write_figures(tmp_path, {"speed": chart("a")})


def test_importing_charts_is_cheap() -> None:
    script = (
        "import sys, evalbot.reporting.charts, evalbot.reporting.figures\n"
        "print({'altair', 'vl_convert', 'pandas', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
