"""The config that the demo writes, and runs by."""

from __future__ import annotations

from pathlib import Path

from evalbot.errors import InputError

MARK = "# Written by `evalbot demo`."

TEXT = """\
{mark} Its servers are stopped at the end of the demo; the addresses
# below were theirs. Put your own servers here, or start again with `evalbot init`.
database: sqlite:///demo.db
endpoints:
  - name: smollm2-135m              # the same model twice: two settings are two endpoints
    base_url: {smollm2}/v1
    group: this-machine             # endpoints of one group take turns: they share the processor
    sampling: {{temperature: 0, max_tokens: 48}}
  - name: smollm2-135m-warm
    base_url: {smollm2}/v1
    group: this-machine
    sampling: {{temperature: 1.3, seed: 1, max_tokens: 48}}
  - name: gemma3-270m-base          # a base model: it never finds an end, so all is truncated
    base_url: {gemma3}/v1
    group: this-machine
    sampling: {{temperature: 0, max_tokens: 24}}
"""


def write_demo_config(folder: Path, smollm2: str, gemma3: str) -> Path:
    """Write evalbot.yaml; raises InputError where the folder has one that is not the demo's."""
    path = folder / "evalbot.yaml"
    if path.exists() and not path.read_text(encoding="utf-8").startswith(MARK):
        raise InputError(f"{path} is not the demo's; give another folder: evalbot demo DIR")
    path.write_text(TEXT.format(mark=MARK, smollm2=smollm2, gemma3=gemma3), encoding="utf-8")
    return path
