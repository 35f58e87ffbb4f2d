"""What the leads' pages share: the database, the config as it is now, and guarded events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import gradio as gr

from evalbot.domain.people import User
from evalbot.domain.settings import Config
from evalbot.formats.config import read_config
from evalbot.store.database import Database
from evalbot.ui.events import Events


class Page(NamedTuple):
    """A page's panel, and what it shows when its tab is opened."""

    html: gr.HTML
    show: Callable[[User], str]


@dataclass(frozen=True, slots=True)
class LeadSite:
    """Given to every page of the leads' app."""

    database: Database
    config_path: Path | None
    folder: Path
    events: Events

    def config(self) -> Config:
        """evalbot.yaml as it stands now; without one, no endpoints."""
        if self.config_path is None:
            return Config(folder=self.folder)
        return read_config(self.config_path)
