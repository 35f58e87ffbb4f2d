"""What the leads' pages share: the record, the config as it is now, guarded events, own runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evalbot.domain.settings import Config
from evalbot.formats.config import read_config
from evalbot.running.background import BackgroundRuns
from evalbot.store.database import Database
from evalbot.ui.events import Events


@dataclass(frozen=True, slots=True)
class LeadSite:
    """Given to every page of the leads' app."""

    database: Database
    config_path: Path | None
    folder: Path
    events: Events
    runs: BackgroundRuns

    def config(self) -> Config:
        """evalbot.yaml as it stands now; without one, no endpoints."""
        if self.config_path is None:
            return Config(folder=self.folder)
        return read_config(self.config_path)
