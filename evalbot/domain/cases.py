"""Suites and cases: what is asked, and what is needed to grade the answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evalbot.fingerprint import fingerprint


class Task(StrEnum):
    """What a suite asks for."""

    TRANSLATION = "translation"
    RUBRIC = "rubric"
    HALLUCINATION = "hallucination"
    PROOFREADING = "proofreading"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation; role is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One line to tick when grading; weight is relative to the other lines."""

    id: str
    text: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Language:
    """Languages of a task as BCP 47 tags (`ja`, `zh-Hans`, `en`); None where it does not matter."""

    source: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt with what is needed to grade its answers.

    Exactly one of prompt and messages is given. references are correct answers,
    acceptable tolerable ones, traps known wrong ones; critical terms must not change.
    """

    key: str
    prompt: str | None = None
    messages: tuple[Message, ...] = ()
    references: tuple[str, ...] = ()
    acceptable: tuple[str, ...] = ()
    traps: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    choices: tuple[str, ...] = ()
    scorer: str | None = None
    language: Language | None = None
    cluster: str | None = None
    notes: str | None = None
    source: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """A folder of cases with one task and one rubric (by name)."""

    name: str
    title: str
    task: Task
    rubric: str
    cases: tuple[Case, ...]
    language: Language = Language()
    system: str | None = None
    template: str | None = None
    licence: str | None = None
    description: str | None = None

    def conversation(self, case: Case) -> tuple[Message, ...]:
        """What is sent for a case: system text, template and prompt put together."""
        if case.prompt is not None:
            text = case.prompt
            if self.template is not None:
                text = self.template.replace("{prompt}", case.prompt)
            turns: tuple[Message, ...] = (Message("user", text),)
        else:
            turns = case.messages
        if self.system and not any(turn.role == "system" for turn in turns):
            return (Message("system", self.system), *turns)
        return turns

    def language_of(self, case: Case) -> Language:
        """The case's own languages over the suite's."""
        if case.language is None:
            return self.language
        return Language(
            case.language.source or self.language.source,
            case.language.target or self.language.target,
        )

    def question_fingerprint(self, case: Case) -> str:
        """Changes when another question would be sent."""
        return fingerprint(question_text(self, case))

    def grading_fingerprint(self, case: Case) -> str:
        """Changes when the question or anything that decides its grades changes."""
        return fingerprint(grading_text(self, case))


def question_text(suite: Suite, case: Case) -> dict[str, Any]:
    """The identity of a case's question, ready for fingerprint()."""
    turns = [[turn.role, turn.content] for turn in suite.conversation(case)]
    return {"key": case.key, "conversation": turns}


def grading_text(suite: Suite, case: Case) -> dict[str, Any]:
    """The identity of what a case is graded by, ready for fingerprint().

    Notes, tags, source and cluster are left out: changing them changes no grade.
    """
    language = suite.language_of(case)
    return {
        **question_text(suite, case),
        "references": list(case.references),
        "acceptable": list(case.acceptable),
        "traps": list(case.traps),
        "critical": list(case.critical),
        "checkpoints": [[line.id, line.text, line.weight] for line in case.checkpoints],
        "choices": list(case.choices),
        "scorer": case.scorer,
        "language": [language.source, language.target],
    }
