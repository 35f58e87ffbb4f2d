"""What memory readings say in sentences."""

from __future__ import annotations

import pytest

from evalbot.domain.speed import DeviceMemory
from evalbot.domain.sweeps import MemoryReading, Moment
from evalbot.speed.memory_notes import memory_notes
from tests.building import START


def reading(
    moment: Moment,
    *devices: tuple[float | None, float | None],
    endpoint: str = "qwen",
    problem: str | None = None,
) -> MemoryReading:
    """Used and total MiB of device 0, 1, …"""
    cards = tuple(
        DeviceMemory(str(number), None if number else "RTX 5090", *card)
        for number, card in enumerate(devices)
    )
    return MemoryReading(endpoint, moment, START, cards, problem)


LOPSIDED = (
    "device 1 was mostly idle (25 % of its memory used) while device 0 (RTX 5090) was full (90 %)"
)


@pytest.mark.parametrize(
    ("devices", "is_lopsided"),
    [
        (((90, 100), (25, 100)), True),
        (((89.9, 100), (25, 100)), False),
        (((90, 100), (25.1, 100)), False),
        (((90, 100), (None, 100)), False),
        (((90, 100), (25, None)), False),
        (((90, 100), (25, 0)), False),
        (((90, 100),), False),
        ((), False),
    ],
)
def test_one_card_full_and_another_idle_is_a_split_in_the_wrong_order(
    devices: tuple[tuple[float | None, float | None], ...], is_lopsided: bool
) -> None:
    notes = memory_notes([reading(Moment.DURING, *devices)])
    assert len(notes) == is_lopsided
    if is_lopsided:
        assert notes[0].startswith(f"qwen: {LOPSIDED}: is the order of the tensor split")


def test_the_idle_card_is_named_and_told_once() -> None:
    cards = ((15_900, 16_384), (2_000, 32_768))
    moments = (Moment.BEFORE, Moment.DURING, Moment.DURING, Moment.AFTER)
    notes = memory_notes([reading(moment, *cards) for moment in moments])
    assert notes == [
        "qwen: device 1 was mostly idle (6 % of its memory used) while device 0 (RTX 5090) was "
        "full (97 %): is the order of the tensor split the order of the devices?"
    ]


@pytest.mark.parametrize("moment", [Moment.UNLOADED, Moment.STOPPED])
def test_a_split_is_not_looked_for_while_nothing_is_loaded(moment: Moment) -> None:
    assert memory_notes([reading(moment, (1000, 1000), (10, 1000))]) == []


@pytest.mark.parametrize(("used", "is_told"), [(1023.9, False), (1024, True), (None, False)])
@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (Moment.UNLOADED, "was in use before the model was loaded"),
        (Moment.STOPPED, "was still in use after the model was unloaded"),
    ],
)
def test_memory_that_somebody_else_holds_is_told(
    moment: Moment, words: str, used: float | None, is_told: bool
) -> None:
    notes = memory_notes([reading(moment, (used, 32_768))])
    held = [note for note in notes if "is not known" not in note]
    assert held == ([f"qwen: 1024 MiB on device 0 (RTX 5090) {words}"] if is_told else [])


def test_devices_whose_use_the_tool_does_not_tell_are_a_note() -> None:
    untold = reading(Moment.DURING, (None, 32_768), (None, None))
    assert memory_notes([untold, untold]) == [
        "qwen: memory is not known: the telemetry command names devices without their use"
    ]
    assert memory_notes([reading(Moment.DURING, (None, 32_768), (5, 10))]) == []


@pytest.mark.parametrize("moment", [Moment.BEFORE, Moment.DURING, Moment.AFTER])
def test_memory_that_the_model_itself_uses_is_no_note(moment: Moment) -> None:
    assert memory_notes([reading(moment, (30_000, 32_768))]) == []


def test_each_endpoint_has_its_own_notes_and_each_problem_is_told_once() -> None:
    problem = "telemetry: ssh ended with code 255"
    notes = memory_notes(
        [
            *[reading(moment, problem=problem) for moment in Moment],
            reading(Moment.STOPPED, (5000, None), endpoint="gemma"),
        ]
    )
    assert notes == [
        f"qwen: memory is not known: {problem}",
        "gemma: 5000 MiB on device 0 (RTX 5090) was still in use after the model was unloaded",
    ]


def test_no_readings_no_notes() -> None:
    assert memory_notes([]) == []
