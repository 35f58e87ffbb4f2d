"""Tables in every format they are asked for."""

from evalbot.formats.tables.render import FORMATS, render
from evalbot.formats.tables.table import Column, Kind, Table, Value

__all__ = ["FORMATS", "Column", "Kind", "Table", "Value", "render"]
