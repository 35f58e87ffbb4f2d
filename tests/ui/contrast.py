"""How well the texts of a page can be told from what is behind them."""

from __future__ import annotations

from playwright.sync_api import Page

LEAST = 4.5
"""WCAG 2.2, level AA, for text of usual size."""

FAINT = """least => {
  const paper = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    paper.clearRect(0, 0, 1, 1);
    paper.fillStyle = colour;
    paper.fillRect(0, 0, 1, 1);
    return [...paper.getImageData(0, 0, 1, 1).data];
  };
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      layers.push(rgba(getComputedStyle(one).backgroundColor));
      if (layers.at(-1)[3] === 255) break;
    }
    return layers.reverse().reduce(
      (under, [r, g, b, a]) => [r, g, b].map((c, i) => (c * a + under[i] * (255 - a)) / 255),
      [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => c / 255).map(
      (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const element = text.parentElement;
    const isSeen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!text.data.trim() || !isSeen || element.closest(":disabled, option")) continue;
    const back = behind(element);
    const pair = [light(rgba(getComputedStyle(element).color).slice(0, 3)), light(back)];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < least) found.add(`${ratio.toFixed(2)} ${element.tagName}.${element.className}: ` +
      text.data.trim().slice(0, 40));
  }
  return [...found];
}"""


def faint_texts(page: Page) -> list[str]:
    """Texts that are hard to read, with their contrast."""
    found: list[str] = page.evaluate(FAINT, LEAST)
    return found
