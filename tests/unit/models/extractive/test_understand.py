"""What sentences do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from girdlebook.models.extractive.understand import told_text, understand


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("By the way, I prefer British spelling.", "I prefer British spelling"),
        ("hey, just so you know i like my answers short", "i like my answers short"),
        ("记住：我喜欢用制表符缩进", "我喜欢用制表符缩进"),
        ("Our CI runs on Buildkite.", "Our CI runs on Buildkite"),
        ("我对青霉素过敏。", "我对青霉素过敏"),
        ("Could you please address me as Dr. Holm?", "address me as Dr. Holm?"),
        ("No emojis in my documents.", "No emojis in my documents"),
        ("No, I live in Ghent.", "I live in Ghent"),
        ("I'd rather read summaries of 100 words.", "I'd rather read summaries of 100 words"),
    ],
)
def test_states_a_fact_near_its_own_words(said: str, kept: str) -> None:
    assert [statement.text.rstrip("?") for statement in understand(said).statements] == [kept.rstrip("?")]


@pytest.mark.parametrize(
    "said",
    ["hey! how's it going?", "what a long day", "nice weather out there today isn't it", "I'm so tired today",
     "thanks!", "哈哈哈太好笑了", "今天天气真不错", "早上好", "今天好累啊", "I spent the afternoon chasing a bug.",
     "昨晚读书会选了《百年孤独》。", "Dana wants the migration postponed until March."],
)  # fmt: skip
def test_keeps_nothing_of_small_talk_and_happenings(said: str) -> None:
    assert understand(said).statements == ()


@pytest.mark.parametrize(
    "said",
    ["Where do I live?", "what's my name again", "and why was that?", "我的血型是什么？", "测试服务器的地址是多少",
     "can you remember what my name is?", "我的狗叫啥", "这个咋弄"],
)  # fmt: skip
def test_tells_questions(said: str) -> None:
    meant = understand(said)
    assert meant.questions
    assert meant.statements == ()


@pytest.mark.parametrize(
    ("said", "topic"),
    [
        ("Please forget my home address.", "my home address"),
        ("forget what I told you about my sister", "my sister"),
        ("Don't keep my phone number, please.", "my phone number"),
        ("把我女儿的名字忘了吧，别再保存", "我女儿的名字"),
        ("请忘掉我的手机号", "我的手机号"),
        ("我已经离职了，删除关于蓝帆科技的记忆", "蓝帆科技"),
        ("forget that", ""),
    ],
)
def test_takes_the_topic_of_a_forget_request(said: str, topic: str) -> None:
    assert understand(said).topics == (topic,)


@pytest.mark.parametrize("said", ["Don't forget that I'm allergic to nuts", "别忘了我对花生过敏", "I forgot my keys"])
def test_does_not_take_other_forgetting_for_a_request(said: str) -> None:
    assert understand(said).topics == ()


@pytest.mark.parametrize("said", ["forget everything", "Forget everything you know about me.", "忘掉所有事情"])
def test_tells_a_request_to_forget_everything(said: str) -> None:
    assert understand(said).forget_everything


def test_splits_independent_clauses_and_joins_leaning_ones() -> None:
    said = "Quick intro: I'm Tomas, I live in Ghent and I work as a nurse. We do not deploy on Fridays. Ever."
    texts = [statement.text for statement in understand(said).statements]
    assert texts == ["I'm Tomas", "I live in Ghent", "I work as a nurse", "We do not deploy on Fridays. Ever"]


def test_puts_the_person_into_user_and_the_environment_into_memory() -> None:
    targets = {s.target for s in understand("I live in Ghent.").statements}
    others = {s.target for s in understand("我们用 Jenkins 做构建").statements}
    assert (targets, others) == ({"user"}, {"memory"})


def test_a_message_that_asks_to_forget_tells_only_its_facts() -> None:
    assert told_text("I left that job. Delete the entry about Brightwell Labs please") == ""


@given(st.text(max_size=200))
def test_understands_any_text(text: str) -> None:
    meant = understand(text)
    assert meant.language in ("en", "zh")
    assert all(statement.text.strip() for statement in meant.statements)


def test_a_bar_is_no_particle() -> None:
    assert [statement.text for statement in understand("我不喝酒，别给我推荐酒吧。").statements] == [
        "我不喝酒，别给我推荐酒吧"
    ]
