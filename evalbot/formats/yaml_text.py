"""Writing YAML that reads back as the same texts."""

from __future__ import annotations

from typing import Any

import yaml

LINE_BREAKS = frozenset("\n\r\x85\u2028\u2029")


class _Dumper(yaml.SafeDumper):
    """PyYAML's, but for texts with line breaks: only inside double quotes does it keep them all."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if LINE_BREAKS & set(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text_node)


def write_yaml(values: dict[str, Any]) -> str:
    """The YAML text of a mapping, its keys in their order."""
    return yaml.dump(values, Dumper=_Dumper, allow_unicode=True, sort_keys=False)
