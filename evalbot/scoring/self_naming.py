"""Answers that tell whose they are: names of models and their makers in a text.

Names of models count wherever they stand. Names of makers, and names that the question itself
brings up, count only beside words by which a model speaks of itself: an answer about search
engines may name a maker and tell nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

MODELS: dict[str, tuple[str, ...]] = {
    "qwen": ("Qwen", "QwQ", "Tongyi", "通义千问", "通義千問", "通义", "千问"),
    "llama": ("Llama", "LLaMA"),
    "gemma": ("Gemma", "Gemini", "PaLM"),
    "mistral": ("Mistral", "Mixtral", "Magistral", "Ministral", "Codestral", "Devstral"),
    "deepseek": ("DeepSeek", "深度求索"),
    "glm": ("ChatGLM", "GLM", "智谱清言"),
    "gpt": ("ChatGPT", "GPT", "gpt-oss"),
    "claude": ("Claude",),
    "phi": ("Phi-2", "Phi-3", "Phi-4"),
    "yi": ("Yi-6B", "Yi-9B", "Yi-34B"),
    "kimi": ("Kimi", "月之暗面"),
    "minimax": ("MiniMax",),
    "grok": ("Grok",),
    "granite": ("IBM Granite", "Granite"),
    "command": ("Command R", "Command-R", "Aya"),
    "nemotron": ("Nemotron",),
    "smollm": ("SmolLM",),
    "ernie": ("ERNIE", "文心一言", "文心"),
    "hunyuan": ("Hunyuan", "混元"),
    "doubao": ("Doubao", "豆包"),
    "internlm": ("InternLM", "书生"),
    "baichuan": ("Baichuan", "百川"),
    "falcon": ("Falcon",),
    "olmo": ("OLMo", "Tülu"),
    "exaone": ("EXAONE",),
    "sarashina": ("Sarashina", "PLaMo", "ELYZA", "Swallow"),
    "bloom": ("BLOOM",),
    "vicuna": ("Vicuna", "Alpaca", "WizardLM", "OpenHermes", "Hermes"),
}
"""Models by family, as they call themselves."""

MAKERS: dict[str, tuple[str, ...]] = {
    "qwen": ("Alibaba", "阿里巴巴", "阿里云", "アリババ"),
    "llama": ("Meta", "Facebook"),
    "gemma": ("Google", "DeepMind", "谷歌", "グーグル"),
    "mistral": ("Mistral AI",),
    "deepseek": ("DeepSeek", "深度求索"),
    "glm": ("Zhipu", "智谱", "Z.ai"),
    "gpt": ("OpenAI",),
    "claude": ("Anthropic",),
    "phi": ("Microsoft", "微软", "マイクロソフト"),
    "yi": ("01.AI", "零一万物"),
    "kimi": ("Moonshot",),
    "grok": ("xAI",),
    "granite": ("IBM",),
    "command": ("Cohere",),
    "nemotron": ("NVIDIA", "英伟达"),
    "smollm": ("Hugging Face", "HuggingFace"),
    "ernie": ("Baidu", "百度"),
    "hunyuan": ("Tencent", "腾讯"),
    "doubao": ("ByteDance", "字节跳动"),
    "falcon": ("Technology Innovation Institute",),
    "olmo": ("Allen Institute", "Ai2"),
    "exaone": ("LG AI",),
    "sarashina": ("SB Intuitions", "Preferred Networks", "rinna"),
}
"""Makers by the family of their models."""

COMMON_WORDS = frozenset({"falcon", "granite", "bloom", "alpaca", "swallow", "hermes", "aya"})
"""Models that are called by ordinary words: these count as makers do."""

SELF = re.compile(
    r"\b(?:I am|I'm|I was|my name is|call me|as an? (?:AI|language|large)|"
    r"(?:trained|developed|created|made|built) by)\b"
    r"|我是|我叫|我的名字|作为(?:一[个款名])?(?:人工智能|AI|语言|大)|由.{0,20}(?:开发|研发|训练|创造|推出)"
    r"|私は|わたしは|僕は|私の名前|と申します|(?:開発|作成|訓練|提供)(?:された|した|された)|によって",
    re.IGNORECASE,
)
"""Words by which a model speaks of itself."""

NEAR = 60
"""Characters on either side within which such words tell of the name."""

SHORTEST_OWN_NAME = 3
COVER = "▇▇▇"


def names_of_endpoints(names: Iterable[str | None]) -> tuple[str, ...]:
    """Names from the config that are telling: not plain numbers, nor too short to be found.

    A path or repository is taken by its last part, without a file's ending.
    """
    found: dict[str, None] = {}
    for name in names:
        last = re.split(r"[/\\]", name or "")[-1].removesuffix(".gguf").strip()
        if len(last) >= SHORTEST_OWN_NAME and re.search(r"[^\W\d_]", last):
            found[last] = None
    return tuple(found)


class SelfNaming:
    """Finds names in answers to questions about something else.

    own_names: of the endpoints, as `names_of_endpoints` gives them.
    """

    def __init__(self, own_names: Sequence[str] = ()) -> None:
        telling = {
            word for words in MODELS.values() for word in words if word.lower() not in COMMON_WORDS
        }
        guarded = {word for words in MAKERS.values() for word in words} | {
            word for words in MODELS.values() for word in words if word.lower() in COMMON_WORDS
        }
        telling |= set(own_names)
        self._telling = _pattern(telling)
        self._guarded = _pattern(guarded - telling)
        self._words = sorted({word.lower() for word in telling | guarded}, key=len)

    def find(self, text: str, question: str = "") -> tuple[str, ...]:
        """What names a model or its maker, each as it stands in the text, in order."""
        plain, places = _plain(text)
        lowered = plain.lower()
        if not any(word in lowered for word in self._words):
            # Most answers: this takes a hundredth of the time of what follows.
            return ()
        asked, _ = _plain(question)
        brought_up = {found[0].casefold() for found in self._telling.finditer(asked)}
        spans = [
            found
            for found in self._telling.finditer(plain)
            if found[0].casefold() not in brought_up or _speaks_of_itself(plain, found)
        ]
        spans += [
            found for found in self._guarded.finditer(plain) if _speaks_of_itself(plain, found)
        ]
        ordered = sorted(spans, key=lambda found: found.start())
        return tuple(
            dict.fromkeys(text[places[one.start()] : places[one.end() - 1] + 1] for one in ordered)
        )


def cover(text: str, names: Iterable[str]) -> str:
    """The text with these names covered, wherever they stand and however they are written."""
    longest_first = sorted(names, key=len, reverse=True)
    if not longest_first:
        return text
    return re.sub("|".join(map(re.escape, longest_first)), COVER, text, flags=re.IGNORECASE)


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """The text in plain letters, without what has no width, and where each stands in it."""
    if text.isascii():
        return text, range(len(text))
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        folded = letter if letter.isascii() else _folded(letter)
        letters.append(folded)
        places += [place] * len(folded)
    return "".join(letters), places


@lru_cache(maxsize=65_536)
def _folded(letter: str) -> str:
    return "" if unicodedata.category(letter) == "Cf" else unicodedata.normalize("NFKC", letter)


def _speaks_of_itself(text: str, found: re.Match[str]) -> bool:
    around = text[max(0, found.start() - NEAR) : found.end() + NEAR]
    return SELF.search(around) is not None


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Any of these words: in Latin script only where no other Latin letter adjoins."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    parts = [
        rf"(?<![A-Za-z]){re.escape(word)}(?![a-z])" if word.isascii() else re.escape(word)
        for word in ordered
    ]
    return re.compile("|".join(parts), re.IGNORECASE)
