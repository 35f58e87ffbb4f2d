"""How the pages look: Gradio's plain theme with fonts that are on the machine already."""

from __future__ import annotations

import gradio as gr

FONTS = ("system-ui", "-apple-system", "Segoe UI", "Noto Sans", "sans-serif")
MONOSPACED = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace")

THEME = gr.themes.Base(primary_hue="blue", neutral_hue="slate", font=FONTS, font_mono=MONOSPACED)
