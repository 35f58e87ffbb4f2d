"""How the pages look: Gradio's plain theme with fonts that are on the machine already."""

from __future__ import annotations

import gradio as gr

FONTS = ("system-ui", "-apple-system", "Segoe UI", "Noto Sans", "sans-serif")
MONOSPACED = ("ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace")

# Gradio's own small print and buttons are too pale to be read well on white.
THEME = gr.themes.Base(
    primary_hue="blue", neutral_hue="slate", font=FONTS, font_mono=MONOSPACED
).set(
    body_text_color_subdued="*neutral_500",
    input_placeholder_color="*neutral_500",
    input_placeholder_color_dark="*neutral_400",
    button_primary_background_fill="*primary_600",
    button_primary_background_fill_hover="*primary_700",
)
