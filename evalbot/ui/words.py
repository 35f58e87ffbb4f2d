"""The page's own words in English, Japanese and Simplified Chinese."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LANGUAGES = ("en", "ja", "zh-CN")

# Each line: key, then the words in the order of LANGUAGES.
_TABLE: tuple[tuple[str, str, str, str], ...] = (
    ("sign_in", "Sign in", "サインイン", "登录"),
    ("sign_out", "Sign out", "サインアウト", "退出登录"),
    ("name",
     "Name",
     "ユーザー名",
     "用户名"),
    ("password", "Password", "パスワード", "密码"),
    ("owner_title", "Open the printed address", "表示されたアドレスを開いてください",
     "请打开终端中显示的地址"),
    ("owner_body",
     "evalbot printed an address with a token when it started. It opens this page once; start "
     "evalbot again for another one.",
     "evalbot の起動時に、トークン付きのアドレスが表示されています。"
     "そのアドレスは一度だけ使えます。もう一度必要なときは、evalbot を起動し直してください。",
     "evalbot 启动时显示了一个带令牌的地址，该地址只能使用一次。如需新地址，请重新启动 evalbot。"),
    ("review", "Review", "レビュー", "评审"),
    ("question",
     "Question",
     "問題",
     "题目"),
    ("references",
     "Correct answers",
     "正解例",
     "参考答案"),
    ("acceptable",
     "Acceptable answers",
     "許容範囲の答え",
     "可接受的答案"),
    ("notes",
     "Good to know",
     "解説",
     "要点说明"),
    ("rubric", "How to grade", "採点の基準", "评分标准"),
    ("examples", "Examples", "例", "示例"),
    ("checkpoints", "Checkpoints", "チェック項目", "检查项"),
    ("answer", "Answer {label}", "回答 {label}", "回答 {label}"),
    ("answer_cut_off", "cut off by its length limit", "長さの上限で途切れています",
     "因长度限制被截断"),
    ("show_all",
     "Show all of it ({count} characters)",
     "全文を表示({count} 文字)",
     "显示全文（{count} 个字符）"),
    ("differences",
     "Differences",
     "違い",
     "差异"),
    ("comment",
     "Comment",
     "コメント",
     "评语"),
    ("comment_hint", "Your comment is kept as you type.", "入力中の内容は自動で保存されます。",
     "输入的内容会自动保存。"),
    ("changed", "Changed since you graded: choose the grade again to put it on record.",
     "採点後に変更されています。記録するには、もう一度評価を選んでください。",
     "评分后有改动：请再次选择评分以记录。"),
    ("cannot_judge", "Cannot judge", "判断できない", "无法判断"),
    ("undo", "Undo", "取り消す", "撤销"),
    ("previous",
     "Previous",
     "前へ",
     "上一题"),
    ("next",
     "Next",
     "次へ",
     "下一题"),
    ("keys", "Keys", "キー一覧", "快捷键"),
    ("close", "Close", "閉じる", "关闭"),
    ("key_verdict",
     "grade the answer with the blue frame",
     "青い枠の回答を採点",
     "为蓝框中的回答评分"),
    ("key_arrows",
     "to the answer or question before or after",
     "前後の回答・問題へ移動",
     "切换到上/下一个回答或题目"),
    ("key_undo", "take back your last grade", "直前の採点を取り消す", "撤销上一次评分"),
    ("key_comment",
     "write a comment (Esc leaves it)",
     "コメントを書く(Esc で終了)",
     "写评语（按 Esc 退出）"),
    ("key_cannot", "cannot judge this answer", "この回答は判断できない", "无法判断该回答"),
    ("key_tick", "tick a checkpoint", "チェック項目をオン・オフ", "勾选或取消检查项"),
    ("key_help", "show or hide this list", "この一覧を表示・非表示", "显示或隐藏本列表"),
    ("progress",
     "{done} of {total} answers graded",
     "{total} 件中 {done} 件を採点済み",
     "共 {total} 个回答，已评分 {done} 个"),
    ("time_left", "about {time} left at today's pace", "今日のペースで残り約 {time}",
     "按今天的速度，约剩 {time}"),
    ("minutes", "{n} min", "{n} 分", "{n} 分钟"),
    ("hours", "{n} h", "{n} 時間", "{n} 小时"),
    ("practice", "Practice", "練習", "练习"),
    ("practice_body",
     "Practice: grade these answers to get to know how; they do not count. Then you are told what "
     "they are.",
     "練習です。採点のしかたに慣れてください。結果には含まれません。採点後に正しい判定が表示されます。",
     "这是练习，用于熟悉评分标准，不计入结果。评完后会显示正确的评级。"),
    ("practice_right",
     "Right: it is “{verdict}”.",
     "判定どおりです({verdict})。",
     "判断正确：{verdict}。"),
    ("practice_wrong",
     "You said “{said}”; it is “{verdict}”:",
     "あなたの判定は「{said}」、正しい判定は「{verdict}」です。",
     "你评为“{said}”，正确的评级是“{verdict}”。"),
    ("go_on", "Go on", "次へ進む", "继续"),
    ("done_title", "All done. Thank you!", "すべて終わりました。ありがとうございました。",
     "全部完成，谢谢！"),
    ("done_body",
     "You graded {done} answers. You can close this page.",
     "{done} 件の回答を採点しました。このページは閉じてかまいません。",
     "你已为 {done} 个回答评分，可以关闭本页了。"),
    ("held_body", "{count} more answers are waiting for a lead; look in again later.",
     "あと {count} 件は管理者の確認待ちです。あとでもう一度ご覧ください。",
     "另有 {count} 个回答等待负责人处理，请稍后再来。"),
    ("look_back", "Look at what you graded", "採点したものを見る", "查看已评的回答"),
    ("volunteer",
     "Grade some more",
     "続けて採点する",
     "继续评分"),
    ("nothing_title", "Nothing to grade yet", "採点するものはまだありません", "暂无评审任务"),
    ("nothing_body", "When a lead gives you answers to grade, they appear here.",
     "採点する回答が割り当てられると、ここに表示されます。", "负责人分配任务后会显示在这里。"),
    ("other_work", "Other tasks", "ほかの課題", "其他任务"),
    ("judge_said", "The judge said “{verdict}”.", "判定モデルは「{verdict}」としました。",
     "评审模型的判断是“{verdict}”。"),
    ("judge_none", "The judge gave no grade.", "判定モデルは採点していません。",
     "评审模型没有给出评分。"),
    ("keep", "Keep mine", "自分の採点のまま", "保留我的评分"),
    ("or_change", "or choose another grade", "または別の採点を選ぶ", "或选择其他评分"),
    ("offline", "Not saved yet: the server cannot be reached. Trying again …",
     "まだ保存されていません。サーバーに接続できません。再試行しています…",
     "尚未保存：无法连接服务器，正在重试…"),
    ("signed_out",
     "You are signed out. What you typed is kept:",
     "サインアウトされました。入力した内容は残っています。",
     "你已退出登录，输入的内容已保留。"),
    ("system_role",
     "What the models were told",
     "モデルへの指示",
     "给模型的指令"),
    ("assistant_role", "Earlier answer", "以前の回答", "此前的回答"),
    ("chat", "Blind chat", "ブラインドチャット", "盲测对话"),
    ("chat_intro",
     "Ask anything: several models answer, and you say which answer is best. "
     "Whose answers they are is not shown.",
     "自由に質問してください。複数のモデルが答えるので、最も良い回答を選びます。"
     "どのモデルの回答かは表示されません。",
     "请随意提问：多个模型会同时回答，由你选出最好的回答。不会显示回答来自哪个模型。"),
    ("chat_none", "No chat is open now.", "現在参加できるチャットはありません。",
     "目前没有开放的对话。"),
    ("chat_offered", "{count} models, opened by {name}, {date}",
     "モデル {count} 件({name} さんが {date} に開始)", "{count} 个模型，由 {name} 于 {date} 开放"),
    ("chat_begin", "Begin", "始める", "开始"),
    ("chat_again", "New chat", "新しいチャット", "新对话"),
    ("chat_prompt", "Your prompt", "プロンプト", "提示词"),
    ("chat_hint", "Enter sends, Shift+Enter begins a new line",
     "Enter で送信、Shift+Enter で改行", "按 Enter 发送，按 Shift+Enter 换行"),
    ("chat_stop", "Stop", "中止", "停止"),
    ("chat_answering", "{count} models are answering …", "{count} 件のモデルが回答しています…",
     "{count} 个模型正在回答…"),
    ("chat_no_answer", "no answer", "回答なし", "没有回答"),
    ("chat_stopped", "This turn was stopped; there is nothing to vote on.",
     "中止されたため、投票するものはありません。", "本轮已停止，无可投票的内容。"),
    ("chat_alone", "There are not two answers to choose from.",
     "比べられる回答が 2 件ありません。", "可比较的回答不足两个。"),
    ("chat_which", "Which is best?", "最も良い回答は？", "哪个回答最好？"),
    ("chat_best", "{label} is best", "{label} が最も良い", "{label} 最好"),
    ("chat_tie", "Alike", "同じくらい", "不相上下"),
    ("chat_all_bad", "All bad", "どれも悪い", "都不好"),
    ("chat_grade_each", "Or grade each answer", "または回答ごとに評価する", "或逐个评分"),
    ("chat_good", "good", "良い", "好"),
    ("chat_fair", "fair", "まあまあ", "一般"),
    ("chat_bad", "bad", "悪い", "差"),
    ("chat_grade_save", "Save these grades", "この評価を保存", "保存评分"),
    ("chat_unready", "This chat cannot be used just now; please tell a lead.",
     "このチャットは現在使えません。管理者に知らせてください。",
     "目前无法使用此对话，请告知负责人。"),
    ("chat_voted", "You voted: {choice}.", "投票済み：{choice}", "你的投票：{choice}"),
    ("only_here",
     "only in this answer",
     "この回答だけにある",
     "仅此回答有"),
    ("only_there",
     "missing from it",
     "この回答にない",
     "此回答缺少"),
    ("same_as_reference",
     "The same as a correct answer.",
     "正解例と同じです。",
     "与参考答案相同。"),
    ("same_as_acceptable",
     "The same as an acceptable answer.",
     "許容範囲の答えと同じです。",
     "与可接受的答案相同。"),
    ("more",
     "{count} more",
     "ほか {count} 件",
     "另有 {count} 个"),
    ("item_of",
     "question {number} of {items}",
     "{items} 問中 {number} 問目",
     "第 {number} 题，共 {items} 题"),
    ("welcome",
     "Read the answers and press the key of a grade, or its button. Everything is saved at once; "
     "stop whenever you like.",
     "回答を読み、評価のキーかボタンを押してください。すぐに保存されるので、いつでも中断できます。",
     "阅读各个回答，按评分键或点按钮评分。结果会立即保存，可随时停下。"),
    ("practice_over",
     "Practice is over: from here on it counts. Everything is saved at once; stop whenever you "
     "like.",
     "練習は終わりです。ここからが本番です。すぐに保存されるので、いつでも中断できます。",
     "练习结束，从这里开始正式评分。结果会立即保存，可随时停下。"),
    ("key_enter",
     "go on, where all answers are graded",
     "すべて採点済みなら次へ進む",
     "全部评完后继续"),
    ("wrong_password",
     "Name or password is wrong.",
     "ユーザー名またはパスワードが違います。",
     "用户名或密码错误。"),
    ("wait_before",
     "Too many wrong passwords; try again in {wait}.",
     "パスワードの誤りが続いています。{wait}後にもう一度お試しください。",
     "密码错误次数过多，请在 {wait}后重试。"),
    ("seconds",
     "{n} s",
     "{n} 秒",
     "{n} 秒"),
    ("lead_pages", "Lead's pages", "管理者ページ", "负责人页面"),
)  # fmt: skip


class Words:
    """The words of one language; a key that is not there is a bug."""

    def __init__(self, language: str) -> None:
        self.language = language
        column = LANGUAGES.index(language) + 1
        self._words: Mapping[str, str] = {line[0]: line[column] for line in _TABLE}

    def __call__(self, key: str, **values: Any) -> str:
        """The words of this key, with the values set in."""
        return self._words[key].format(**values)


ALL = {language: Words(language) for language in LANGUAGES}


def words_for(accept_language: str | None) -> Words:
    """The words of the browser's language that it likes best of those we have; else English."""
    wanted: list[tuple[float, str]] = []
    for part in (accept_language or "").split(",")[:20]:
        tag, _, weight = part.strip().partition(";")
        try:
            quality = float(weight.strip().removeprefix("q=")) if weight else 1.0
        except ValueError:
            continue
        wanted.append((quality, tag.strip().lower()))
    for _, tag in sorted(wanted, key=lambda one: -one[0]):
        for prefix, language in (("ja", "ja"), ("zh", "zh-CN"), ("en", "en")):
            if tag == prefix or tag.startswith(f"{prefix}-"):
                return ALL[language]
    return ALL["en"]


def translations() -> dict[str, dict[str, str]]:
    """The words that Gradio itself sets in, by language; those without values to be filled in."""
    return {
        language: {line[0]: line[column] for line in _TABLE if "{" not in line[1]}
        for column, language in enumerate(LANGUAGES, start=1)
    }
