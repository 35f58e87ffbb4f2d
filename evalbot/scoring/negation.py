"""How often a text says no, and whether two texts say it differently often.

Counted are the negation words and endings of Chinese, Japanese and English. Not counted:
words in which the mark negates nothing (非常, 特别, 少ない, まず, not only), questions that
offer both (是不是), and double negations, which affirm (不得不, なければならない). Counts are
compared, not parities: two negations lost are two changes. A negation that moved to
another place is not noticed.
"""

from __future__ import annotations

import re

from evalbot.scoring.normalise import primary_language

# In each pattern the first alternatives eat what is no negation; group 1 is a negation.
_CHINESE = re.compile(
    r"不(?:得|能|可|会|會)不|[没沒]有不|[无無]不|莫不|莫非|"
    r"(?P<twice>.)(?:不|[没沒])(?P=twice)|非.{1,8}?不可|"
    r"不[但仅僅光只单單过過久少断斷禁妨愧料管论論由]|差不多|对不起|對不起|了不起|要不然|要不|"
    r"非[常洲但]|[是除无無莫]非|[是能可与與]否|否[则則]|"
    r"[分区區差个個级級性告离離辨识識类類鉴鑑派特]别|[分區区差個级級性告離辨識類鑑派特]別|"
    r"[别別][人的墅名致处處样樣称稱针針扭]|"
    r"[无無](?:论|論|线|線|数|數|聊|锡|疑|非|料)|未[来來婚]|莫(?:斯科|名|大|过|過)|[没沒]收|[沉淹埋出吞覆][没沒]|"
    r"(?P<no>不|没有?|沒有?|无|無|未|别|別|非|勿|莫|否|甭|毋|休想|禁止|[严嚴]禁|拒[绝絕])"
)
_JAPANESE = re.compile(
    r"な(?:ければ|くては|いと|きゃ)(?:な|い)(?:らな(?:い|かった)|りません|けな(?:い|かった)|けません)|"
    r"ざるを[得え](?:な(?:い|かった)|ません)|ないわけには(?:い|行)(?:かな(?:い|かった)|きません)|"
    r"かも(?:し|知)れ(?:な(?:い|かった)|ません)|に(?:違|ちが)い(?:な(?:い|かった)|ありません)|"
    r"申し訳(?:な(?:い|く|かった)|(?:あり|ござい)ません)|すみません|すいません|"
    r"(?:もったい|勿体|少|すく|危|あぶ|つまら|くだら|仕方が?|しかたが?|しょうが|切|せつ|とんでも|汚|きた|はか|幼|おさ)"
    r"な(?:い|く|かっ|けれ)|[間ま]もなく|(?:なん|何)となく|(?:だけ|ばかり)でなく|のみならず|"
    r"(?:行|おこ)ない(?=ま)|(?:必|ま|先|は|い|思わ|絶え)ず|ずつ|ずっと|[死し]ぬ|いぬ|"
    r"非常|[無无](?:料|線|事)|未来|不(?:思議|動産)|"
    r"(?P<no>な(?:い|かっ|く(?=[てなもはと、。\s]|$)|けれ|きゃ|くちゃ)|ませ[んぬ]|ず(?=[にと、。\s]|$)|ざる|ぬ(?=[。、\s]|$|[人者間もこよ])"
    r"|まい(?=[。\s]|$)|[うくぐすつむる]な(?=[。！!」\s]|$)|無|无|不|非|未|否|禁止|拒否)"
)
_ENGLISH = re.compile(
    r"\b(?:not\s(?:only|just\sthat|to\smention)|nothing\s(?:but|less\sthan)|no\s(?:sooner|matter|doubt)|no\.\s?(?=\d)"
    r"|(?:can't|can’t|cannot)\s(?:help|but)|or\snot)\b"
    r"|(?P<no>\b(?:not|no|never|without|nothing|nobody|none|neither|nor|nowhere|cannot|unless|hardly|scarcely"
    r"|barely|refuse[sd]?|impossible|unable|unlikely|unsafe|unavailable|illegal|incorrect|invalid)\b|n['’]t\b"
    r"|\b(?:do|does|did|is|are|was|were|has|have|had|would|could|should|must|need|ca|wo|ai)nt\b|\bnon-?(?=\w))",
    re.IGNORECASE,
)
_BY_LANGUAGE = {"zh": (_CHINESE,), "ja": (_JAPANESE,), "en": (_ENGLISH,)}
_EVERY = (_CHINESE, _JAPANESE, _ENGLISH)


def negations_in(text: str, language: str | None) -> tuple[int, ...]:
    """How many negations stand in an NFKC text.

    language: BCP 47 tag of the text; one count for Chinese, Japanese and English each
    where it is none of them.
    """
    patterns = _BY_LANGUAGE.get(primary_language(language) or "", _EVERY)
    return tuple(
        [match.lastgroup for match in pattern.finditer(text)].count("no") for pattern in patterns
    )


def negation_changed(answer: str, reference: str, language: str | None) -> bool:
    """Whether two NFKC texts differ in how often they negate."""
    return negations_in(answer, language) != negations_in(reference, language)
