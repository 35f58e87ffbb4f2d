"""One record of a case file as a Case, with the rules that hold inside a case."""

from __future__ import annotations

import re

from evalbot.domain.cases import Case, Checkpoint, Language, Message
from evalbot.domain.rubrics import ScorerName
from evalbot.formats.fields import NOT_NEGATIVE, Fields, check_unique
from evalbot.formats.problems import shown

ROLES = ("system", "user", "assistant")
TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")


def read_case(fields: Fields) -> Case:
    """The case of a record; what is wrong is noted."""
    case = Case(
        key=fields.name("key"),
        prompt=fields.text("prompt") if fields.has("prompt") else None,
        messages=read_messages(fields),
        references=fields.texts("references"),
        acceptable=fields.texts("acceptable"),
        traps=fields.texts("traps"),
        critical=fields.texts("critical"),
        checkpoints=read_checkpoints(fields),
        choices=fields.texts("choices"),
        scorer=fields.choice("scorer", list(ScorerName), "") or None,
        language=read_language(fields),
        cluster=fields.optional_text("cluster"),
        notes=fields.optional_text("notes"),
        source=fields.optional_text("source"),
        tags=fields.texts("tags"),
    )
    fields.finish()
    _check_question(fields, case)
    _check_answers(fields, case)
    return case


def read_messages(fields: Fields) -> tuple[Message, ...]:
    """A conversation whose last turn is the user's."""
    turns = []
    for inner in fields.mappings("messages"):
        turns.append(Message(inner.choice("role", ROLES), inner.text("content")))
        inner.finish()
    if turns and turns[-1].role != "user":
        fields.fault("messages", f"{turns[-1].role} as the last role", "user as the last role")
    return tuple(turns)


def read_checkpoints(fields: Fields) -> tuple[Checkpoint, ...]:
    """Lines to tick, with unique ids."""
    siblings = fields.mappings("checkpoints")
    lines = [
        Checkpoint(inner.name("id"), inner.text("text"), inner.number("weight", NOT_NEGATIVE, 1.0))
        for inner in siblings
    ]
    for inner in siblings:
        inner.finish()
    check_unique(siblings, "id", [line.id for line in lines])
    return tuple(lines)


def read_language(fields: Fields) -> Language | None:
    """`language: ja` is the target's; {source, target} gives both."""
    if fields.is_text("language"):
        return Language(target=_tag(fields, "language"))
    inner = fields.mapping("language")
    if inner is None:
        return None
    language = Language(_tag(inner, "source"), _tag(inner, "target"))
    inner.finish()
    return language


def _tag(fields: Fields, name: str) -> str | None:
    text = fields.optional_text(name)
    if text is not None and not TAG.fullmatch(text):
        fields.fault(name, shown(text), "a language tag such as ja, en or zh-Hans")
    return text


def _check_question(fields: Fields, case: Case) -> None:
    given = fields.has("prompt"), fields.has("messages")
    if given == (True, True):
        fields.fault("messages", "prompt and messages", "one of them")
    elif given == (False, False):
        fields.fault("prompt", "nothing", "a prompt or messages")
    elif given[1] and not case.messages:
        fields.fault("messages", "no turn", "at least the user's turn")


def _check_answers(fields: Fields, case: Case) -> None:
    for trap in case.traps:
        if trap and trap in (*case.references, *case.acceptable):
            fields.fault("traps", shown(trap), "no text that is a correct or acceptable one too")
    if case.scorer == ScorerName.CHOICE and not case.choices:
        fields.fault("choices", "nothing", "the choices that scorer: choice chooses from")
    for at, word in enumerate(case.choices):
        if word and word in case.choices[:at]:
            fields.fault("choices", f"{shown(word)} twice", "each choice once")
