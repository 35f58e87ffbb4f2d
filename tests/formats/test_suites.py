from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbot.domain.cases import Case, Checkpoint, Language, Message, Suite, Task
from evalbot.domain.rubrics import ScorerName
from evalbot.errors import InputError, NotFoundError, ProblemsError
from evalbot.formats.suites import read_suite, write_suite

from .texts import names, problems_of, written

HEAD = "name: s\ntitle: S\ntask: translation\nrubric: translation\n"


def folder_with(tmp_path: Path, cases: str, *, head: str = HEAD, name: str = "cases.jsonl") -> Path:
    folder = tmp_path / "s"
    folder.mkdir(exist_ok=True)
    (folder / "suite.yaml").write_text(head, encoding="utf-8")
    (folder / name).write_text(cases, encoding="utf-8", newline="")
    return folder


def case_of(tmp_path: Path, cases: str, name: str = "cases.jsonl") -> Case:
    return read_suite(folder_with(tmp_path, cases, name=name)).cases[0]


def test_a_suite_is_read_with_every_field(tmp_path: Path) -> None:
    head = HEAD + (
        "language: {source: ja, target: zh-Hans}\nsystem: no\ntemplate: '{prompt}?'\n"
        "licence: MIT\ndescription: 1.10\n"
    )
    line = (
        '{"key":"a","prompt":"東京","references":["东京"],"acceptable":["a"],"traps":["b"],'
        '"critical":["c"],"checkpoints":[{"id":"i","text":"t","weight":2}],"choices":["A","B"],'
        '"scorer":"exact","language":"zh-Hant","cluster":"d","notes":"n","source":"u",'
        '"tags":["x"]}\n'
    )
    assert read_suite(folder_with(tmp_path, line, head=head)) == Suite(
        name="s",
        title="S",
        task=Task.TRANSLATION,
        rubric="translation",
        language=Language("ja", "zh-Hans"),
        system="no",
        template="{prompt}?",
        licence="MIT",
        description="1.10",
        cases=(
            Case(
                key="a",
                prompt="東京",
                references=("东京",),
                acceptable=("a",),
                traps=("b",),
                critical=("c",),
                checkpoints=(Checkpoint("i", "t", 2.0),),
                choices=("A", "B"),
                scorer="exact",
                language=Language(target="zh-Hant"),
                cluster="d",
                notes="n",
                source="u",
                tags=("x",),
            ),
        ),
    )


def test_numbers_in_json_mean_their_text(tmp_path: Path) -> None:
    assert case_of(tmp_path, '{"key": 1.10, "prompt": 7}') == Case(key="1.10", prompt="7")


def test_a_bom_blank_lines_and_line_separators_are_no_trouble(tmp_path: Path) -> None:
    text = '\ufeff\r\n{"key":"a","prompt":"x\u2028y"}\r\n\n{"key":"b","prompt":"z"}'
    cases = read_suite(folder_with(tmp_path, text)).cases
    assert [(case.key, case.prompt) for case in cases] == [("a", "x\u2028y"), ("b", "z")]


def test_yaml_cases_keep_what_is_written(tmp_path: Path) -> None:
    text = "- key: 1\n  prompt: off\n  notes: ~\n- {key: 2, prompt: 'null'}\n"
    cases = read_suite(folder_with(tmp_path, text, name="cases.yaml")).cases
    assert cases == (Case(key="1", prompt="off"), Case(key="2", prompt="null"))


@pytest.mark.parametrize(("name", "mark"), [("cases.csv", ","), ("cases.tsv", "\t")])
def test_tables_are_read_with_several_values_a_cell(tmp_path: Path, name: str, mark: str) -> None:
    rows = [
        ["key", "prompt", "references", "checkpoints", "language", "notes", "tags"],
        ["'-1", "'=1+1", r"a \| b | c", "i: one|j: x: y", "ja", "null", ""],
    ]
    text = "\ufeff" + "".join(mark.join(row) + "\n" for row in rows)
    assert case_of(tmp_path, text, name) == Case(
        key="-1",
        prompt="=1+1",
        references=("a | b", "c"),
        checkpoints=(Checkpoint("i", "one"), Checkpoint("j", "x: y")),
        language=Language(target="ja"),
        notes="null",
    )


def test_json_in_cells_of_a_table(tmp_path: Path) -> None:
    text = (
        "key,messages,checkpoints,language\n"
        'a,"[{""role"":""user"",""content"":""x""}]",'
        '"[{""id"":""i"",""text"":""t"",""weight"":0.5}]","{""source"":""ja""}"\n'
    )
    assert case_of(tmp_path, text, "cases.csv") == Case(
        key="a",
        messages=(Message("user", "x"),),
        checkpoints=(Checkpoint("i", "t", 0.5),),
        language=Language(source="ja"),
    )


def test_a_workbook_is_read_as_it_is_shown(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["key", "prompt", "references", "notes"])
    sheet.append([1.0, "'=x", "a|b", 0.5])
    sheet.append([None, None, None, None])
    sheet.append([2, True, None, None])
    folder = folder_with(tmp_path, "")
    (folder / "cases.jsonl").unlink()
    book.save(folder / "cases.xlsx")
    assert read_suite(folder).cases == (
        Case(key="1", prompt="'=x", references=("a", "b"), notes="0.5"),
        Case(key="2", prompt="TRUE"),
    )


def test_a_formula_needs_its_stored_value(tmp_path: Path) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["key", "prompt"])
    sheet.append(["a", "=1+1"])
    folder = folder_with(tmp_path, "")
    (folder / "cases.jsonl").unlink()
    book.save(folder / "cases.xlsx")
    assert problems_of(lambda: read_suite(folder))[0] == (
        "s/cases.xlsx:2: column 2: found a formula without a stored value; "
        "expected the workbook opened and saved by its program"
    )


def test_what_is_no_workbook_is_told(tmp_path: Path) -> None:
    found = problems_of(lambda: case_of(tmp_path, "key,prompt", "cases.xlsx"))
    assert found[0] == (
        "s/cases.xlsx: found BadZipFile: File is not a zip file; expected an XLSX workbook"
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "{",
            "expected valid JSON (Expecting property name enclosed in double quotes at",
        ),
        ("[]", 'found "[]"; expected a JSON object a line'),
        ("[" * 100_000, "found lists or objects nested too deep; expected a few levels"),
        ('{"key":"a","prompt":NaN}', "found NaN, which is no JSON number; expected valid JSON"),
        ('{"key":"a","key":"b","prompt":"x"}', 'found key "key" twice; expected each key once'),
        ('{"prompt":"x"}', "key: found nothing; expected text"),
        ('{"key":null,"prompt":"x"}', "key: found nothing; expected text"),
        ('{"key":true,"prompt":"x"}', "key: found true; expected text"),
        ('{"key":" a","prompt":"x"}', 'key: found " a"; expected no white space around it'),
        ('{"key":"a\\nb","prompt":"x"}', "expected no white space around it and no control"),
        ('{"key":"a"}', "prompt: found nothing; expected a prompt or messages"),
        ('{"key":"a","prompt":" \\n"}', "prompt: found nothing; expected text"),
        ('{"key":"a","prompt":"x","messages":[]}', "found prompt and messages; expected one of"),
        ('{"key":"a","messages":[]}', "messages: found no turn; expected at least the user's"),
        (
            '{"key":"a","messages":[{"role":"assistant","content":"x"}]}',
            "messages: found assistant as the last role; expected user as the last role",
        ),
        (
            '{"key":"a","messages":[{"role":"usr","content":"x"},{"role":"user","content":"y"}]}',
            'messages[0].role: found "usr"; expected one of system, user, assistant (did you mean '
            "user?)",
        ),
        (
            '{"key":"a","messages":[{"role":"user","content":""}]}',
            "messages[0].content: found nothing; expected text",
        ),
        (
            '{"key":"a","prompt":"x","references":"y"}',
            'references: found "y"; expected a list of texts, e.g. [one, two]',
        ),
        ('{"key":"a","prompt":"x","references":["y",""]}', "references[1]: found a blank text"),
        ('{"key":"a","prompt":"x","references":[null]}', "references[0]: found nothing; exp"),
        ('{"key":"a","prompt":"x","references":[["y"]]}', "references[0]: found a list; expected"),
        ('{"key":"a","prompt":"\\ud800"}', "prompt: found a NUL character or half a surrogate"),
        ('{"key":"a","prompt":"\\u0000"}', "prompt: found a NUL character or half a surrogate"),
        (
            '{"key":"a","prompt":"x","references":["y"],"traps":["y"]}',
            'traps: found "y"; expected no text that is a correct or acceptable one too',
        ),
        (
            '{"key":"a","prompt":"x","scorer":"fuzy"}',
            'scorer: found "fuzy"; expected one of fuzzy, exact, contains, choice, none (did you '
            "mean fuzzy?)",
        ),
        ('{"key":"a","prompt":"x","scorer":"choice"}', "choices: found nothing; expected the"),
        ('{"key":"a","prompt":"x","choices":["b","b"]}', 'choices: found "b" twice'),
        ('{"key":"a","prompt":"x","language":"zh_CN"}', 'language: found "zh_CN"; expected a lang'),
        (
            '{"key":"a","prompt":"x","checkpoints":[{"id":"i","text":"t"},{"id":"i","text":"u"}]}',
            'checkpoints[1].id: found "i" twice; expected each id once',
        ),
        (
            '{"key":"a","prompt":"x","checkpoints":[{"id":"i","text":"t","weight":-1}]}',
            'checkpoints[0].weight: found "-1"; expected a number of 0 or more',
        ),
        (
            '{"key":"a","prompt":"x","refrences":[]}',
            'found unknown key "refrences"; expected a known key: did you mean references?',
        ),
    ],
)
def test_a_wrong_case_names_line_field_found_and_expected(
    tmp_path: Path, line: str, expected: str
) -> None:
    text = '{"key":"first","prompt":"x"}\n\n' + line
    found = problems_of(lambda: case_of(tmp_path, text))
    assert len(found) == 1
    assert found[0].startswith("s/cases.jsonl:3: ")
    assert expected in found[0]


def test_repeated_keys_are_refused_with_both_lines(tmp_path: Path) -> None:
    text = "key,prompt\nq1,x\nq2,y\nq2,z\n"
    assert problems_of(lambda: case_of(tmp_path, text, "cases.csv")) == [
        's/cases.csv:4: key: found "q2", which line 3 has; expected each key once'
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "s/cases.csv: found no cases; expected at least one case"),
        ("key,prompt\n", "s/cases.csv: found no cases; expected at least one case"),
        ("key,prompt\na,x,y\n", "s/cases.csv:2: found 3 cells; expected 2, one a column"),
        ("key,prompt,notes\na,x\n", "s/cases.csv:2: found 2 cells; expected 3, one a column"),
        ("key,prompt,key\na,x,b\n", 's/cases.csv:1: found column "key" twice; expected each'),
        ("key,,prompt\na,,b\n", "s/cases.csv:1: column 2: found no name; expected a column name"),
        (
            "key;prompt\na;b\n",
            "s/cases.csv:1: found columns separated by `;`; expected columns sep",
        ),
        ("key,prompt\na,x\n", None),
        ("key,prompt,traps\na,x,b||c\n", "s/cases.csv:2: traps[1]: found a blank text"),
        ("key,prompt,checkpoints\na,x,b\n", 's/cases.csv:2: checkpoints: found "b"; expected id:'),
        (
            "key,messages\na,[{\n",
            "s/cases.csv:2: messages: expected valid JSON (Expecting property name",
        ),
        ('key,prompt\na,"x\n', "s/cases.csv:2: found unexpected end of data; expected quotes"),
    ],
)
def test_a_wrong_table_names_its_row(tmp_path: Path, text: str, expected: str | None) -> None:
    if expected is None:
        assert case_of(tmp_path, text, "cases.csv") == Case("a", "x")
        return
    assert problems_of(lambda: case_of(tmp_path, text, "cases.csv"))[0].startswith(expected)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (HEAD.replace("name: s", "name: a b"), 'suite.yaml:1: name: found "a b"; expected a name'),
        (HEAD.replace("translation", "translate", 1), "(did you mean translation?)"),
        (HEAD + "template: ask\n", 'template: found "ask"; expected a text with {prompt} in it'),
        (HEAD + "rubic: x\n", 'found unknown key "rubic"; expected a known key: did you mean rub'),
        ("", "s/suite.yaml:1: name: found nothing; expected a name of the letters"),
        ("[", "s/suite.yaml:2: expected valid YAML (did not find expected node content)"),
        (HEAD + "language: [ja]\n", "language: found a list; expected a mapping"),
    ],
)
def test_a_wrong_head_is_told(tmp_path: Path, head: str, expected: str) -> None:
    folder = folder_with(tmp_path, '{"key":"a","prompt":"x"}', head=head)
    assert any(expected in problem for problem in problems_of(lambda: read_suite(folder)))


def test_under_datasets_a_suite_is_called_as_its_folder(tmp_path: Path) -> None:
    (tmp_path / "datasets").mkdir()
    folder = folder_with(tmp_path / "datasets", '{"key":"a","prompt":"x"}').rename(
        tmp_path / "datasets" / "t"
    )
    assert problems_of(lambda: read_suite(folder)) == [
        't/suite.yaml: name: found "s"; expected t, as its folder is called'
    ]


def test_two_case_files_are_refused(tmp_path: Path) -> None:
    folder_with(tmp_path, '{"key":"a","prompt":"x"}')
    folder = folder_with(tmp_path, "key,prompt\na,x\n", name="cases.csv")
    assert problems_of(lambda: read_suite(folder))[0].startswith(
        "s: found cases.jsonl and cases.csv; expected exactly one of cases.jsonl, cases.csv"
    )


def test_a_folder_without_a_suite_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="holds no suite"):
        read_suite(tmp_path)


TAGS = st.none() | st.sampled_from(["ja", "zh-Hans", "en"])
LANGUAGES = st.builds(Language, TAGS, TAGS)
CHECKPOINTS = st.lists(
    st.builds(Checkpoint, names(), written(), st.floats(0, 1e9)),
    max_size=2,
    unique_by=lambda line: line.id,
).map(tuple)


def texts() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(written(), max_size=2, unique=True).map(tuple)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    turns = st.builds(Message, st.sampled_from(["system", "user", "assistant"]), written())
    asked = draw(written() | st.lists(turns, max_size=2))
    correct = draw(texts())
    choices = draw(texts())
    scorers = [name for name in ScorerName if name != ScorerName.CHOICE or choices]
    return Case(
        key=draw(names()),
        prompt=asked if isinstance(asked, str) else None,
        messages=() if isinstance(asked, str) else (*asked, Message("user", draw(written()))),
        references=correct,
        acceptable=draw(texts()),
        traps=(),
        critical=draw(texts()),
        checkpoints=draw(CHECKPOINTS),
        choices=choices,
        scorer=draw(st.none() | st.sampled_from(scorers).map(str)),
        language=draw(st.none() | LANGUAGES),
        cluster=draw(st.none() | written()),
        notes=draw(st.none() | written()),
        source=draw(st.none() | written()),
        tags=draw(texts()),
    )


SUITES = st.builds(
    Suite,
    name=st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", fullmatch=True),
    title=written(),
    task=st.sampled_from(Task),
    rubric=written(),
    cases=st.lists(cases(), min_size=1, max_size=3, unique_by=lambda case: case.key).map(tuple),
    language=LANGUAGES,
    system=st.none() | written(),
    template=st.none() | written().map(lambda text: text + "{prompt}"),
    licence=st.none() | written(),
    description=st.none() | written(),
)


@given(SUITES)
@settings(deadline=None, max_examples=50)
def test_a_written_suite_reads_back_the_same(suite: Suite) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_suite(suite, Path(folder))
        assert read_suite(Path(folder)) == suite


def test_the_same_suite_is_written_to_the_same_bytes(tmp_path: Path) -> None:
    suite = read_suite(folder_with(tmp_path, '{"key":"a","prompt":"東京"}'))
    first = [path.read_bytes() for path in write_suite(suite, tmp_path / "one")]
    assert first == [path.read_bytes() for path in write_suite(suite, tmp_path / "two")]
    assert "東京".encode() in first[1]


@pytest.mark.parametrize("name", ["cases.jsonl", "cases.csv", "cases.tsv", "cases.yaml"])
@given(text=st.text(max_size=40) | st.text('{}[]":,\n|\t key prompt-', max_size=40))
@settings(max_examples=50, deadline=None)
def test_any_text_is_cases_or_has_problems(name: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        content = text.encode("utf-8", "surrogatepass")
        (path / "suite.yaml").write_text(HEAD)
        (path / name).write_bytes(content)
        try:
            read_suite(path)
        except ProblemsError as error:
            str(error).encode()


@given(st.binary(max_size=60))
@settings(max_examples=30, deadline=None)
def test_any_bytes_are_a_workbook_or_have_problems(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "suite.yaml").write_text(HEAD)
        (path / "cases.xlsx").write_bytes(content)
        with pytest.raises(InputError):
            read_suite(path)
