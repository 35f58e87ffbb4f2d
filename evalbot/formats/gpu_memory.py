"""Memory of GPUs as nvidia-smi, rocm-smi and amd-smi print it."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Mapping, Sequence

from evalbot.domain.speed import DeviceMemory
from evalbot.errors import InputError
from evalbot.formats.problems import shown

MIB = 1024 * 1024
# amd-smi divides by 1024 twice and calls it MB.
MIB_IN = {"B": 1 / MIB, "KiB": 1 / 1024, "MiB": 1.0, "GiB": 1024.0, "TiB": MIB, "MB": 1.0}
NUMBER = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Za-z]*)")
UNIT = re.compile(r"\[(\w+)\]")
CARD = re.compile(r"card([0-9]+)")
EXPECTED = (
    "expected the output of nvidia-smi --query-gpu=index,name,memory.used,memory.total"
    " --format=csv, rocm-smi --showmeminfo vram --json or amd-smi metric --mem-usage --json"
)
USED = "vram total used memory (b)"
TOTAL = "vram total memory (b)"


def read_gpu_memory(output: str) -> tuple[DeviceMemory, ...]:
    """Each GPU of the output in its order; device is its index.

    Warnings before the figures are passed over. Raises InputError where the output is none
    of such a tool, or a figure in it is no size.
    """
    lines = output.lstrip("\ufeff").splitlines()
    for at, line in enumerate(lines):
        if line.startswith(("{", "[")):
            return _json_devices("\n".join(lines[at:]))
        if "memory.used" in line and "," in line:
            return _csv_devices(lines[at:])
    raise InputError(f"found {shown(output.strip())}; {EXPECTED}")


def _csv_devices(lines: Sequence[str]) -> tuple[DeviceMemory, ...]:
    try:
        rows = list(csv.reader(lines, skipinitialspace=True))
    except csv.Error as error:
        raise InputError(f"found broken CSV ({error}); {EXPECTED}") from None
    header = [name.strip() for name in rows[0]]
    columns = {name.split(" ")[0]: at for at, name in enumerate(header)}
    if not {"index", "memory.used"} <= columns.keys():
        found = shown(", ".join(header))
        raise InputError(f"found the columns {found}; expected index and memory.used among them")
    devices = []
    for cells in rows[1:]:
        if not any(cells):
            continue
        if len(cells) != len(header):
            found = shown(", ".join(cells))
            raise InputError(f"found the row {found}; expected {len(header)} values")
        devices.append(_csv_device([cell.strip() for cell in cells], header, columns))
    return _some(devices, "a row for each GPU")


def _csv_device(
    cells: Sequence[str], header: Sequence[str], columns: Mapping[str, int]
) -> DeviceMemory:
    def size(name: str) -> float | None:
        at = columns.get(name)
        unit = UNIT.search(header[at]) if at is not None else None
        return None if at is None else _mib(cells[at], unit[1] if unit else "MiB")

    name = cells[columns["name"]] if "name" in columns else ""
    return DeviceMemory(
        device=_index(cells[columns["index"]]),
        name=None if _is_nothing(name) else name,
        used_mib=size("memory.used"),
        total_mib=size("memory.total"),
    )


def _json_devices(text: str) -> tuple[DeviceMemory, ...]:
    try:
        value, _ = json.JSONDecoder(parse_int=str, parse_float=str).raw_decode(text)
    except (ValueError, RecursionError):
        raise InputError(f"found {shown(text)}, which is no JSON; {EXPECTED}") from None
    if isinstance(value, dict) and "gpu_data" in value:
        value = value["gpu_data"]
    if isinstance(value, list):
        return _some([_amd_smi(item) for item in value], "an object for each GPU")
    if not isinstance(value, dict):
        raise InputError(f"found {shown(str(value))}; {EXPECTED}")
    cards = {key: card for key, card in value.items() if CARD.fullmatch(key)}
    return _some([_rocm_smi(key, card) for key, card in cards.items()], "a card0 in the JSON")


def _rocm_smi(key: str, card: object) -> DeviceMemory:
    if not isinstance(card, dict):
        raise InputError(f"found {shown(str(card))} under {key}; expected an object")
    # Versions differ in capitals: "VRAM Total Memory (B)", "vram Total Memory (B)".
    values = {name.lower(): str(value) for name, value in card.items()}
    if USED not in values and TOTAL not in values:
        raise InputError(
            f"found no VRAM under {key}; expected --showmeminfo vram among the options"
        )
    names = (values.get(name, "") for name in ("card series", "device name"))
    return DeviceMemory(
        device=key.removeprefix("card"),
        name=next((name for name in names if not _is_nothing(name)), None),
        used_mib=_mib(values.get(USED, ""), "B"),
        total_mib=_mib(values.get(TOTAL, ""), "B"),
    )


def _amd_smi(item: object) -> DeviceMemory:
    usage = item.get("mem_usage") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(usage, dict):
        found = shown(str(item))
        raise InputError(f"found {found}; expected a GPU's object with mem_usage in it")
    return DeviceMemory(
        device=_index(str(item.get("gpu", ""))),
        name=None,
        used_mib=_amd_size(usage.get("used_vram", "")),
        total_mib=_amd_size(usage.get("total_vram", "")),
    )


def _amd_size(size: object) -> float | None:
    """A size as amd-smi gives it: a number, or an object with value and unit."""
    if isinstance(size, dict):
        return _mib(str(size.get("value", "")), str(size.get("unit", "MB")))
    return _mib(str(size), "MB")


def _mib(text: str, unit: str) -> float | None:
    """A size in MiB; unit is that of a number without one. None where the tool does not say."""
    if _is_nothing(text):
        return None
    match = NUMBER.fullmatch(text.strip())
    factor = MIB_IN.get(match[2] or unit) if match else None
    if match is None or factor is None:
        raise InputError(f"found {shown(text)}; expected a size such as 1024 MiB")
    value = float(match[1]) * factor
    if not math.isfinite(value):
        raise InputError(f"found {shown(text)}; expected a size such as 1024 MiB")
    return value


def _is_nothing(text: str) -> bool:
    """Whether the tool says that it cannot say: [N/A], [Not Supported], [GPU is lost], N/A."""
    text = text.strip()
    return text in ("", "N/A") or (text.startswith("[") and text.endswith("]"))


def _index(text: str) -> str:
    if re.fullmatch(r"[0-9]{1,9}", text):
        return text
    raise InputError(f"found {shown(text)} as a GPU's index; expected a whole number")


def _some(devices: Sequence[DeviceMemory], expected: str) -> tuple[DeviceMemory, ...]:
    if not devices:
        raise InputError(f"found no GPU; expected {expected}")
    return tuple(devices)
