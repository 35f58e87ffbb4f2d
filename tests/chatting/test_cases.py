"""Turns made into cases: into a suite of one's own or a new one, all or nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalbot.chatting.cases import add_case, add_suite, case_of, own_suites
from evalbot.domain.answers import Answer, AnswerStatus
from evalbot.domain.cases import Case, Message, Task
from evalbot.domain.chats import Chat, ChatAnswer, ChatSettings, ChatTurn, Transcript
from evalbot.errors import InputError, NotFoundError, ProblemsError
from evalbot.formats.catalogue import shipped_folder
from evalbot.formats.suites import read_suite
from tests.building import write_site

NOW = datetime(2026, 11, 30, tzinfo=UTC)
CASE = Case("new", prompt="窓を開けて\n二行目", references=("请开窗",), source="chat")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site with the suite `small`."""
    write_site(tmp_path)
    return tmp_path


def talk(system: str | None = None) -> Transcript:
    def turn(number: int, prompt: str, text: str) -> ChatTurn:
        answer = Answer(AnswerStatus.OK, text, "", text, NOW)
        return ChatTurn(number, prompt, ("a",), NOW, {"a": ChatAnswer("a", answer)})

    chat = Chat("x", "lee", ChatSettings(("a",), system), NOW)
    return Transcript(chat, (turn(1, "one", "first"), turn(2, "two", "second")))


def test_a_case_is_added_at_the_end_and_the_rest_stays_as_it_was(folder: Path) -> None:
    file = folder / "datasets/small/cases.jsonl"
    before = file.read_bytes()
    assert add_case(folder, "small", CASE) == file
    assert file.read_bytes().startswith(before.rstrip(b"\n"))
    assert read_suite(folder / "datasets/small").cases[-1] == CASE
    assert sorted(path.name for path in file.parent.iterdir()) == ["cases.jsonl", "suite.yaml"]


def test_a_last_line_without_an_end_is_not_run_into(folder: Path) -> None:
    file = folder / "datasets/small/cases.jsonl"
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    add_case(folder, "small", CASE)
    assert len(read_suite(folder / "datasets/small").cases) == 4


@pytest.mark.parametrize(
    "case",
    [
        Case("door", prompt="again"),
        Case("", prompt="no key"),
        Case("two\nlines", prompt="x"),
        Case("fine", prompt="x", references=("y",), traps=("y",)),
    ],
    ids=["key there already", "no key", "key of two lines", "trap that is right"],
)
def test_a_wrong_case_leaves_the_file_untouched(folder: Path, case: Case) -> None:
    file = folder / "datasets/small/cases.jsonl"
    before = file.read_bytes()
    with pytest.raises(ProblemsError):
        add_case(folder, "small", case)
    assert file.read_bytes() == before
    assert sorted(path.name for path in file.parent.iterdir()) == ["cases.jsonl", "suite.yaml"]


@pytest.mark.parametrize("name", ["demo", "../small", "none", "", "/etc"])
def test_only_suites_of_ones_own_are_added_to(folder: Path, name: str) -> None:
    with pytest.raises(InputError, match="there is no suite"):
        add_case(folder, name, CASE)


def test_shipped_suites_are_never_written(folder: Path) -> None:
    demo = shipped_folder() / "datasets/demo"
    before = (demo / "cases.jsonl").read_bytes()
    with pytest.raises(InputError, match="never change"):
        add_case(shipped_folder(), "demo", CASE)
    (folder / "datasets/demo").symlink_to(demo)
    with pytest.raises(InputError, match="never change"):
        add_case(folder, "demo", CASE)
    with pytest.raises(InputError, match="never change"):
        add_suite(shipped_folder(), "mine", "", Task.CHAT, "small", CASE)
    assert (demo / "cases.jsonl").read_bytes() == before
    assert own_suites(folder) == ["small"]


def test_a_suite_with_its_cases_in_another_file_is_told(folder: Path) -> None:
    home = folder / "datasets/small"
    (home / "cases.jsonl").unlink()
    (home / "cases.csv").write_text("key,prompt\na,b\n", encoding="utf-8")
    with pytest.raises(InputError, match="keeps its cases in another file"):
        add_case(folder, "small", CASE)


def test_a_new_suite_is_written_whole(folder: Path) -> None:
    file = add_suite(folder, "mine", "Mine", Task.CHAT, "small", CASE)
    suite = read_suite(file.parent)
    assert (suite.title, suite.rubric, suite.cases) == ("Mine", "small", (CASE,))
    assert own_suites(folder) == ["mine", "small"]
    with pytest.raises(InputError, match="already"):
        add_suite(folder, "mine", "Mine", Task.CHAT, "small", CASE)


def test_a_new_suite_that_could_not_be_used_is_not_written(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    with pytest.raises(NotFoundError, match="no rubric"):
        add_suite(folder, "mine", "", Task.CHAT, "none", CASE)
    with pytest.raises(InputError, match="cannot be called"):
        add_suite(folder, "../mine", "", Task.CHAT, "small", CASE)
    with pytest.raises(ProblemsError):
        add_suite(folder, "mine", "", Task.CHAT, "small", Case("", prompt="x"))
    assert sorted(folder.rglob("*")) == before


def test_a_turn_alone_is_a_prompt_and_with_those_before_a_conversation() -> None:
    transcript = talk()
    alone = case_of(transcript, transcript.turns[1], " key ", ("yes", " "))
    assert (alone.key, alone.prompt, alone.references) == ("key", "two", ("yes",))
    whole = case_of(transcript, transcript.turns[1], "key", (), "a")
    assert [turn.content for turn in whole.messages] == ["one", "first", "two"]
    assert whole.prompt is None


def test_a_chats_system_text_goes_into_the_case() -> None:
    transcript = talk("Be short.")
    case = case_of(transcript, transcript.turns[0], "key", ())
    assert case.messages == (Message("system", "Be short."), Message("user", "one"))


def test_what_no_file_can_hold_is_replaced() -> None:
    transcript = talk()
    case = case_of(transcript, transcript.turns[0], "key", ("a\ud800b",))
    assert json.dumps(case.references, ensure_ascii=False).encode()
