from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalbot.domain.settings import Config, Electricity, Thinking
from evalbot.errors import InputError, NotFoundError, ProblemsError
from evalbot.formats.config import parse_config, read_config
from evalbot.formats.secrets import is_variable_name
from evalbot.formats.urls import database_url

from .texts import problems_of

HERE = Path("/project")

FULL = """
database: postgresql+psycopg://user@host/db
endpoints:
  - name: qwen-35b-q8
    base_url: http://127.0.0.1:9931/v1/
    model: 35
    family: no
    quantisation: Q8_0
    hardware: two-hosts
    group: 0
    start: [./start.sh, --port, 8080]
    stop: [./stop.sh]
    api_key_env: MY_KEY
    sampling: {temperature: 0, max_tokens: 512, seed: 1, top_p: .95, cache: true}
    thinking: off
    extra_body: {a: 1, b: "1", c: off, d: [1.5, null], e: {f: true}, g: 007, h: 1e3}
    concurrency: null
    timeout_s: 1.5
    retries: 0
  - {name: plain, base_url: "https://host"}
judges:
  - name: strong
    model: anthropic/some-model
    family: claude
    api_base: null
    api_key_env: ANTHROPIC_API_KEY
    votes: 3
    sampling: {temperature: 0, max_tokens: 1500}
    price: {input: 3.0, output: 15}
hardware:
  two-hosts: {devices: [RTX 5090 32GB], price: 5000, currency: EUR, watts: 900,
    lifetime_hours: 20000, telemetry: [ssh, host2, nvidia-smi]}
  bare:
electricity: {price_per_kwh: 0.30, currency: EUR}
"""


def problems(text: str) -> list[str]:
    return problems_of(lambda: parse_config(text, HERE))


def endpoint(line: str) -> list[str]:
    """The problems of an endpoint whose third line is this one."""
    return problems(f"endpoints:\n  - {{name: a, base_url: 'http://h',\n    {line}}}\n")


def test_every_key_is_read_by_its_type() -> None:
    config = parse_config(FULL, HERE)
    first, plain = config.endpoints
    assert config.database == "postgresql+psycopg://user@host/db"
    assert first.base_url == "http://127.0.0.1:9931/v1"
    assert (first.model, first.family, first.group) == ("35", "no", "0")
    assert first.start == ("./start.sh", "--port", "8080")
    assert first.thinking is Thinking.OFF
    assert (first.timeout_s, first.retries, first.concurrency) == (1.5, 0, None)
    assert (plain.thinking, plain.timeout_s, plain.retries) == (Thinking.DEFAULT, 300.0, 2)
    judge = config.judges[0]
    assert (judge.votes, judge.concurrency, judge.price) == (3, 8, {"input": 3.0, "output": 15.0})
    assert [box.name for box in config.hardware] == ["two-hosts", "bare"]
    assert config.hardware[0].watts == 900
    assert config.electricity == Electricity(0.3, "EUR")


def test_free_mappings_are_typed_as_json_types_them() -> None:
    first = parse_config(FULL, HERE).endpoints[0]
    assert dict(first.sampling) == {
        "temperature": 0,
        "max_tokens": 512,
        "seed": 1,
        "top_p": 0.95,
        "cache": True,
    }
    assert dict(first.extra_body) == {
        "a": 1,
        "b": "1",
        "c": "off",
        "d": [1.5, None],
        "e": {"f": True},
        "g": 7.0,
        "h": 1000.0,
    }


@pytest.mark.parametrize("text", ["", "# nothing\n", "null\n", "endpoints:\njudges: []\n"])
def test_an_empty_config_has_a_database_beside_it(text: str) -> None:
    assert parse_config(text, HERE) == Config(HERE, database="sqlite:////project/evalbot.db")


def test_aliases_may_be_used() -> None:
    text = """
endpoints:
  - {name: a, base_url: http://h/v1, sampling: &cold {temperature: 0}}
  - {name: b, base_url: http://i/v1, sampling: *cold}
"""
    assert [one.sampling for one in parse_config(text, HERE).endpoints] == [{"temperature": 0}] * 2


def test_a_variable_is_not_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL", "x")
    text = "endpoints: [{name: a, base_url: http://h, model: '${MODEL}'}]"
    assert parse_config(text, HERE).endpoints[0].model == "${MODEL}"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("thinking: maybe", "one of off, on, low, medium, high, default"),
        ("thinkng: off", 'unknown key "thinkng"; expected a known key: did you mean thinking?'),
        ("start: ./start.sh --port 1", 'a list of arguments, e.g. [./start.sh, --port, "8080"]'),
        ("stop: [' ']", "found a blank command; expected the command as the first argument"),
        ("stop: [[x]]", "stop[0]: found a list; expected text"),
        ("concurrency: 0", 'found "0"; expected a whole number of 1 or more'),
        ("concurrency: 1.5", 'found "1.5"; expected a whole number of 1 or more'),
        ("timeout_s: 0", 'found "0"; expected a number above 0'),
        ("timeout_s: 1e999", 'found "1e999"; expected a number above 0'),
        ("timeout_s: 1_000", 'found "1_000"; expected a number above 0'),
        ("timeout_s: [1]", "found a list; expected a number above 0"),
        ("retries: -1", 'found "-1"; expected a whole number of 0 or more'),
        ("retries: ٣", 'found "٣"; expected a whole number of 0 or more'),
        ("hardware: nowhere", 'found "nowhere"; expected a name that stands under hardware'),
        ("sampling: 3", 'sampling: found "3"; expected a mapping'),
        ("sampling: {temperature: hot}", 'temperature: found "hot"; expected a number'),
        ("sampling: {temperature: '0'}", 'temperature: found "0"; expected a number'),
        ("sampling: {temperature: 1e999}", 'found "1e999"; expected a smaller number'),
        ("sampling: {max_tokens: 0}", "max_tokens: found 0; expected a whole number of 1"),
        ("sampling: {max_tokens: true}", "max_tokens: found true; expected a whole number of 1"),
        (
            "sampling: {temperture: 0}",
            'found unknown key "temperture"; expected temperature, or temperture under extra_body',
        ),
        ("extra_body: {stream: false}", "expected it set by evalbot itself"),
        ("model: [x]", "model: found a list; expected text"),
    ],
)
def test_a_wrong_endpoint_names_line_field_found_and_expected(line: str, expected: str) -> None:
    found = endpoint(line)
    assert len(found) == 1
    assert found[0].startswith("evalbot.yaml:3: endpoints[0]")
    assert expected in found[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\na: 2", 'evalbot.yaml:2: found key "a" twice; expected each key once'),
        ("endpoints: {}", "evalbot.yaml:1: endpoints: found a mapping; expected a list"),
        ("- 1", "evalbot.yaml:1: found a list; expected a mapping of keys to values"),
        ("x", 'evalbot.yaml:1: found "x"; expected a mapping of keys to values'),
        ("\n\tdatabase: x", "evalbot.yaml:2: found a tab; expected spaces for indentation"),
        (
            "a: b: c",
            "evalbot.yaml:1: expected valid YAML (mapping values are not allowed in this context)",
        ),
        ("--- a\n--- b", "evalbot.yaml:2: expected valid YAML (but found another document)"),
        ("a: *b", "evalbot.yaml:1: expected valid YAML (undefined alias)"),
        ("a: &a [*a]", "evalbot.yaml: found lists or mappings nested too deep"),
        ("[a]: 1", "evalbot.yaml:1: found a list or mapping as a key"),
        ("a: \x07", "evalbot.yaml: found unacceptable character"),
        ("[" * 100_000, "evalbot.yaml:1: expected valid YAML (exceeded maximum nesting depth"),
        ("endpoint: []", 'found unknown key "endpoint"; expected a known key: did you mean endp'),
        ("endpoints: [{}]", "evalbot.yaml:1: endpoints[0].name: found nothing; expected text"),
        ("endpoints: [{}]", "endpoints[0].base_url: found nothing; expected an address"),
        ("endpoints: [x]", 'endpoints[0]: found "x"; expected a mapping of keys to values'),
        ("hardware: {a: 3}", 'hardware.a: found "3"; expected a mapping of keys to values'),
        ("hardware: {a: {watts: 0}}", 'hardware.a.watts: found "0"; expected a number above 0'),
        ("hardware: {'a,b': {}}", 'hardware: found a machine called "a,b"; expected a name withou'),
        ("hardware: {' ': {}}", 'hardware: found a machine called " "; expected a name without '),
        ("hardware: {'': {}}", 'hardware: found a machine called ""; expected a name without c'),
        ("electricity: {}", "price_per_kwh: found nothing; expected a number of 0 or more"),
        ("electricity: {}", "electricity.currency: found nothing; expected a currency, e.g. EUR"),
        ("judges: [{name: a, model: m, price: {input: 1}}]", "price.output: found nothing"),
        ("judges: [{name: panel, model: m}]", "expected a name without # that is not 'panel'"),
        ("judges: [{name: 'a#1', model: m}]", "expected a name without # that is not 'panel'"),
        ("judges: [{name: a, model: m}, {name: a, model: n}]", 'judges[1].name: found "a" twice'),
        ("endpoints: [{name: 'a,b', base_url: http://h}]", "no comma: lists of names"),
        ("endpoints: [{name: ' a', base_url: http://h}]", "no white space around it"),
        ("endpoints: [{name: tie, base_url: http://h}]", "votes in chats use this word"),
        ("endpoints: [{name: a +check, base_url: http://h}]", "' +check' marks self-checks"),
    ],
)
def test_a_wrong_config_is_told(text: str, expected: str) -> None:
    assert any(expected in problem for problem in problems(text))


def test_names_are_unique_and_the_second_one_is_pointed_at() -> None:
    text = "endpoints:\n- {name: a, base_url: http://h}\n- {name: a, base_url: http://h}\n"
    assert problems(text) == [
        'evalbot.yaml:3: endpoints[1].name: found "a" twice; expected each name once'
    ]


def test_an_alias_bomb_is_refused_quickly() -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [
        f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    assert problems("\n".join(lines)) == [
        "evalbot.yaml: found aliases that multiply the file; expected few aliases, or none"
    ]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("ftp://h/v1", "an http:// or https:// address"),
        ("127.0.0.1:8080", "an http:// or https:// address"),
        ("http:///v1", "an http:// or https:// address"),
        ("http://h:99999/v1", "an http:// or https:// address"),
        ("http://[::1/v1", "an http:// or https:// address"),
        ("http://h/a b", "an http:// or https:// address"),
        ("http://user:hunter2@h/v1", "name a variable in api_key_env"),
        ("http://hunter2@h/v1", "name a variable in api_key_env"),
        ("http://h/v1?key=hunter2", "keys go by api_key_env"),
    ],
)
def test_an_unfit_address_is_refused_without_its_secret(url: str, expected: str) -> None:
    found = problems(f'endpoints: [{{name: a, base_url: "{url}"}}]')
    assert len(found) == 1
    assert expected in found[0]
    assert "hunter2" not in found[0]


@pytest.mark.parametrize("name", ["MY_KEY", "key", "_x1", "HF_TOKEN", "OPENROUTER_API_KEY_2"])
def test_variable_names_are_known(name: str) -> None:
    assert is_variable_name(name)


@pytest.mark.parametrize(
    "key",
    [
        "sk-abc",
        "sk_live_abc",
        "hf_abcdefABCDEF",
        "AKIAIOSFODNN7EXAMPLE",
        "0123456789abcdef0123456789abcdef",
        "d41d8cd98f00b204e9800998ecf8427e",
        "aB3_aB3_aB3_aB3_aB3_aB3",
        "$MY_KEY",
        "${MY_KEY}",
        "a b",
    ],
)
def test_a_key_in_place_of_its_name_is_refused_and_not_repeated(key: str) -> None:
    found = endpoint(f"api_key_env: '{key}'")
    assert len(found) == 1
    assert "an environment variable's name such as MY_KEY, never the key itself" in found[0]
    assert key not in found[0]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:///evalbot.db", "sqlite:////project/evalbot.db"),
        ("sqlite:///data/a b.db", "sqlite:////project/data/a b.db"),
        ("sqlite:////tmp/x.db", "sqlite:////tmp/x.db"),
        ("sqlite:///x.db?timeout=5", "sqlite:////project/x.db?timeout=5"),
        ("postgresql://user@host/db", "postgresql://user@host/db"),
        ("postgresql+psycopg:///db?host=/tmp", "postgresql+psycopg:///db?host=/tmp"),
    ],
)
def test_a_relative_database_lies_beside_the_config(url: str, expected: str) -> None:
    assert database_url(url, HERE) == expected


@pytest.mark.parametrize(
    "url",
    [
        "evalbot.db",
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "mysql://h/db",
        "postgresql:///",
        "postgresql://u:hunter2@h/db",
        "postgresql://u@h/db?password=hunter2",
        "postgresql://[u:hunter2@h/db",
    ],
)
def test_an_unfit_database_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(InputError, match=r"^database: found .*; expected ") as caught:
        database_url(url, HERE)
    assert "hunter2" not in str(caught.value)
    assert len(problems(f'database: "{url}"')) == 1


def test_a_config_is_read_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "evalbot.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + FULL.encode())
    assert read_config(path) == parse_config(FULL, tmp_path)


def test_a_missing_config_tells_of_init(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="`evalbot init` writes one"):
        read_config(tmp_path / "evalbot.yaml")


def test_a_folder_in_place_of_a_config_is_no_crash(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_config(tmp_path)


def test_another_encoding_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "evalbot.yaml"
    path.write_bytes("# 設定\n# 東京\n".encode("shift_jis"))
    assert problems_of(lambda: read_config(path)) == [
        "evalbot.yaml:1: found byte 0x90, which is not UTF-8; expected a text saved as UTF-8"
    ]


YAML_PARTS = st.sampled_from("[]{}\"'|>#~-:,&*!%\n\t\x85\ufeff") | st.sampled_from(
    ["endpoints: ", "judges", "name: ", "  ", "- ", "&a ", "*a", "!!int ", "%YAML", "---", "null"]
)


@given(st.lists(YAML_PARTS | st.text(max_size=4), max_size=30).map("".join))
def test_any_text_is_a_config_or_has_problems(text: str) -> None:
    try:
        parse_config(text, HERE)
    except ProblemsError as error:
        str(error).encode()


SCALARS = st.sampled_from(["", "1", "-1", "x", "null", "'1'", "1e999", "[a]", "{a: b}", "http://h"])
FIELDS = st.sampled_from(
    [
        *("name", "base_url", "model", "sampling", "extra_body", "start", "timeout_s", "thinking"),
        *("concurrency", "hardware", "price", "votes", "devices", "api_key_env", "other"),
    ]
)


@given(
    st.sampled_from(["endpoints", "judges", "hardware", "electricity"]),
    st.sampled_from(["- {%s}", "{%s}", "{box: {%s}}"]),
    st.lists(st.builds("{}: {}".format, FIELDS, SCALARS), max_size=6).map(", ".join),
)
def test_any_values_are_a_config_or_have_problems(section: str, shape: str, body: str) -> None:
    try:
        parse_config(f"{section}:\n  {shape % body}\n", HERE)
    except ProblemsError as error:
        str(error).encode()


@pytest.mark.parametrize("key", ["stream", "n", "response_format", "model"])
def test_a_judges_sampling_holds_nothing_that_its_calls_set_themselves(
    tmp_path: Path, key: str
) -> None:
    path = tmp_path / "evalbot.yaml"
    path.write_text(
        f"judges:\n  - {{name: strong, model: openai/x, sampling: {{{key}: 1}}}}\n",
        encoding="utf-8",
    )
    with pytest.raises(ProblemsError, match=f"sampling.{key}: found a parameter of evalbot's own"):
        read_config(path)
