"""The outputs are modelled on recorded ones, cut to a few devices and figures."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalbot.domain.speed import DeviceMemory
from evalbot.errors import InputError
from evalbot.formats.gpu_memory import read_gpu_memory

NVIDIA = """\
index, name, memory.used [MiB], memory.total [MiB]
0, NVIDIA GeForce RTX 5060 Ti, 103 MiB, 16303 MiB
1, NVIDIA GeForce RTX 5060 Ti, 8311 MiB, 16303 MiB
"""
TWO = (
    DeviceMemory("0", "NVIDIA GeForce RTX 5060 Ti", 103.0, 16303.0),
    DeviceMemory("1", "NVIDIA GeForce RTX 5060 Ti", 8311.0, 16303.0),
)
CARD = {
    "VRAM Total Memory (B)": "21458059264",
    "VRAM Total Used Memory (B)": "27856896",
}
NAMES = {
    "Card Series": "Radeon RX 7900 XT",
    "Card Model": "0x744c",
    "Card Vendor": "Advanced Micro Devices, Inc. [AMD/ATI]",
}


def test_nvidia_smis_csv_is_read_with_and_without_units() -> None:
    assert read_gpu_memory(NVIDIA) == TWO
    bare = NVIDIA.replace(" MiB", "")
    assert read_gpu_memory(bare) == TWO
    assert read_gpu_memory(f"\ufeff{NVIDIA}".replace("\n", "\r\n")) == TWO


def test_columns_come_in_any_order_with_others_between() -> None:
    output = (
        "utilization.gpu [%], memory.total [GiB], index, memory.used [MiB]\n"
        "98 %, 16 GiB, 0, 512 MiB\n"
        "0 %, 8, 1, 2 GiB\n"
    )
    assert read_gpu_memory(output) == (
        DeviceMemory("0", None, 512.0, 16384.0),
        DeviceMemory("1", None, 2048.0, 8192.0),
    )
    assert read_gpu_memory("index, memory.used [MiB]\n0, 5 MiB\n") == (
        DeviceMemory("0", None, 5.0, None),
    )


@pytest.mark.parametrize("word", ["[N/A]", "[Not Supported]", "N/A", "[Unknown Error]"])
def test_what_nvidia_smi_cannot_tell_is_nothing(word: str) -> None:
    """Machines whose GPU shares the main memory, as the DGX Spark, give no figures."""
    output = (
        "index, name, memory.used [MiB], memory.total [MiB]\n"
        f"0, NVIDIA GB10, {word}, {word}\n1, {word}, 0 MiB, 4096 MiB\n"
    )
    assert read_gpu_memory(output) == (
        DeviceMemory("0", "NVIDIA GB10", None, None),
        DeviceMemory("1", None, 0.0, 4096.0),
    )


def test_rocm_smis_json_is_read() -> None:
    device = DeviceMemory("0", None, 27856896 / 1024**2, 21458059264 / 1024**2)
    assert read_gpu_memory(json.dumps({"card0": CARD})) == (device,)
    named = device._replace(name="Radeon RX 7900 XT")
    assert read_gpu_memory(json.dumps({"card0": CARD | NAMES}, indent=2)) == (named,)


def test_rocm_smis_warnings_and_its_system_key_are_passed_over() -> None:
    cards = {"card1": CARD, "system": {"Driver version": "6.12.12"}, "card10": CARD}
    output = (
        "\n\nWARNING: AMD GPU device(s) is/are in a low-power state. "
        f"Check power control/runtime_status\n\n{json.dumps(cards)}\n"
    )
    assert [one.device for one in read_gpu_memory(output)] == ["1", "10"]


def test_older_spellings_and_missing_figures_of_rocm_smi() -> None:
    card = {"vram Total Memory (B)": "1048576", "Card series": "N/A"}
    assert read_gpu_memory(json.dumps({"card0": card})) == (DeviceMemory("0", None, None, 1.0),)


@pytest.mark.parametrize("wrapped", [True, False])
def test_amd_smis_json_is_read(wrapped: bool) -> None:
    gpus = [
        {
            "gpu": 0,
            "mem_usage": {
                "total_vram": {"value": 196592, "unit": "MB"},
                "used_vram": {"value": 284, "unit": "MB"},
                "free_vram": {"value": 196308, "unit": "MB"},
            },
        },
        {"gpu": 1, "mem_usage": {"total_vram": 16384, "used_vram": "N/A"}},
    ]
    assert read_gpu_memory(json.dumps({"gpu_data": gpus} if wrapped else gpus)) == (
        DeviceMemory("0", None, 284.0, 196592.0),
        DeviceMemory("1", None, None, 16384.0),
    )


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("", 'found ""; expected the output of nvidia-smi'),
        ("No devices were found\n", 'found "No devices were found"; expected the output of nvid'),
        ("0, 103 MiB, 16303 MiB\n", 'found "0, 103 MiB, 16303 MiB"; expected the output of nvid'),
        ("name, memory.used [MiB]\nx, 5\n", 'found the columns "name, memory.used [MiB]"; expec'),
        ("index, memory.used [MiB]\n", "found no GPU; expected a row for each GPU"),
        ("index, memory.used [MiB]\n0\n", 'found the row "0"; expected 2 values'),
        ("index, memory.used [MiB]\n0, -5 MiB\n", 'found "-5 MiB"; expected a size such as 1024'),
        ("index, memory.used [MiB]\n0, 5 MB/s\n", 'found "5 MB/s"; expected a size such as 1024'),
        ("index, memory.used [MiB]\nx, 5 MiB\n", 'found "x" as a GPU\'s index; expected a whol'),
        ("{", 'found "{", which is no JSON; expected the output of nvidia-smi'),
        ("{}", "found no GPU; expected a card0 in the JSON"),
        ("[]", "found no GPU; expected an object for each GPU"),
        ('{"gpu_data": 5}', 'found "5"; expected the output of nvidia-smi'),
        ('{"gpu_data": -0.5}', 'found "-0.5"; expected the output of nvidia-smi'),
        ('{"gpu_data": "x"}', 'found "x"; expected the output of nvidia-smi'),
        ('{"gpu_data": null}', 'found "None"; expected the output of nvidia-smi'),
        ('{"gpu_data": true}', 'found "True"; expected the output of nvidia-smi'),
        ('{"gpu_data": {}}', "found no GPU; expected a card0 in the JSON"),
        ('{"card0": 1}', 'found "1" under card0; expected an object'),
        ('{"card0": {}}', "found no VRAM under card0; expected --showmeminfo vram among the opt"),
        ('[{"gpu": 0}]', "found \"{'gpu': '0'}\"; expected a GPU's object with mem_usage in it"),
        ('{"card0": {"VRAM Total Memory (B)": NaN}}', 'found "nan"; expected a size such as 102'),
    ],
)
def test_other_output_is_refused_in_one_sentence(output: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_gpu_memory(output)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


PIECES = ["{", "}", "[", "]", '"card0": ', '"gpu_data": ', '"', ",", "\n", "5 MiB", "\0", NVIDIA]


@settings(max_examples=200)
@given(st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join))
def test_any_text_gives_devices_or_an_input_error(output: str) -> None:
    with suppress(InputError):
        assert read_gpu_memory(output)
