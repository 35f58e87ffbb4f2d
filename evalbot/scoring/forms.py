"""One text in the forms that scorers compare, and a case's texts prepared that way."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evalbot.domain.cases import Case
from evalbot.domain.rubrics import AutoRule, Rubric
from evalbot.scoring.lazy import lazy
from evalbot.scoring.negation import negations_in
from evalbot.scoring.normalise import Folder, is_traditional, nfkc, primary_language, to_simplified
from evalbot.scoring.numbers import Number, numbers_in, set_apart
from evalbot.scoring.verdicts import Kind, Verdicts, verdicts_of
from evalbot.scoring.whole_words import whole_word_pattern, within_clauses_pattern


@dataclass(frozen=True)
class Form:
    """A text with what is read from it; each form is made when first asked for."""

    text: str
    folder: Folder

    @lazy
    def folded(self) -> str:
        """After every folding of the rubric: what ratios compare."""
        return self.folder.fold(self.text)

    @lazy
    def marked(self) -> str:
        """Folded, but with punctuation and spaces: where words end is still seen."""
        apart = set_apart(self.text) if self.folder.drops_punctuation else self.text
        return self.folder.fold_marked(apart)

    @lazy
    def plain(self) -> str:
        """After NFKC only: what caps compare."""
        return nfkc(self.text)

    @lazy
    def termed(self) -> str:
        """NFKC, casefold and the rubric's script folding: where critical terms are looked up."""
        folded = self.plain.casefold()
        return to_simplified(folded) if "script" in self.folder.names else folded

    @lazy
    def numbers(self) -> tuple[Number, ...]:
        """The numbers said."""
        return numbers_in(nfkc(set_apart(self.text)), self.folder.language)

    @lazy
    def negations(self) -> tuple[int, ...]:
        """How often it says no."""
        return negations_in(self.plain, self.folder.language)

    @lazy
    def traditional(self) -> bool:
        """Whether a Chinese text holds Traditional characters; False in other languages."""
        return primary_language(self.folder.language) == "zh" and is_traditional(self.plain)


@dataclass(frozen=True)
class Target(Form):
    """A text of the case that answers are compared with."""

    kind: Kind

    @lazy
    def pattern(self) -> re.Pattern[str]:
        """Finds the text, words whole, in Form.marked of an answer; a trap within one clause."""
        if self.kind is Kind.TRAP and self.folder.drops_punctuation:
            return within_clauses_pattern(self.marked)
        return whole_word_pattern(self.folded, self.folder.drops_punctuation)


@dataclass(frozen=True)
class PreparedCase:
    """A case with its texts folded once, and the rule it is scored by.

    accepted: references, then acceptable texts, each in the order of their folded texts, so
    that nothing depends on the order in the file. critical: terms in the form of Form.termed.
    """

    case: Case
    rule: AutoRule
    verdicts: Verdicts
    folder: Folder
    accepted: tuple[Target, ...]
    traps: tuple[Target, ...]
    critical: tuple[str, ...]

    @classmethod
    def of(cls, case: Case, rubric: Rubric, folder: Folder) -> PreparedCase:
        """Prepare a case; texts that fold to nothing can match nothing and are left out."""

        def targets(texts: tuple[str, ...], kind: Kind) -> tuple[Target, ...]:
            made = (Target(text, folder, kind) for text in texts)
            return tuple(sorted((t for t in made if t.folded), key=lambda t: (t.folded, t.text)))

        return cls(
            case=case,
            rule=rubric.auto,
            verdicts=verdicts_of(rubric),
            folder=folder,
            accepted=targets(case.references, Kind.REFERENCE)
            + targets(case.acceptable, Kind.ACCEPTABLE),
            traps=targets(case.traps, Kind.TRAP),
            critical=tuple(Form(term, folder).termed for term in case.critical),
        )

    @lazy
    def equals(self) -> dict[str, tuple[Target, ...]]:
        """The texts of the case by their folded text, in the order they are tried."""
        found: dict[str, tuple[Target, ...]] = {}
        for target in (*self.accepted, *self.traps):
            found[target.folded] = (*found.get(target.folded, ()), target)
        return found

    @lazy
    def telling_traps(self) -> tuple[Target, ...]:
        """Traps that no accepted text contains: holding one tells a wrong answer."""
        return tuple(
            trap
            for trap in self.traps
            if not any(trap.folded in accepted.folded for accepted in self.accepted)
        )

    @property
    def has_texts(self) -> bool:
        """Whether there is anything to compare an answer with."""
        return bool(self.accepted or self.traps)
