"""Transcripts: what is open at their end, and how one from elsewhere is made valid."""

from hypothesis import given
from hypothesis import strategies as st

from girdlebook.dialects import openai_chat
from girdlebook.messages import Message, ToolCall
from girdlebook.testing.chat_server import transcript_fault
from girdlebook.transcripts import mended, open_calls, turns_since_call

USER = Message("user", "你好")
ANSWER = Message("assistant", "好")


def calls(*ids, name="x"):
    return Message("assistant", "", tool_calls=tuple(ToolCall(i, name) for i in ids))


def result(call_id):
    return Message("tool", "ok", tool_call_id=call_id, tool_name="x")


def test_calls_are_open_until_their_results_are_there():
    assert [c.id for c in open_calls([USER, calls("1", "2"), result("1")])] == ["2"]
    assert open_calls([USER, calls("1"), result("1")]) == []
    assert open_calls([USER, calls("1"), result("1"), ANSWER]) == []
    assert open_calls([USER]) == open_calls([]) == []


def test_turns_are_counted_since_a_tools_last_call():
    talk = [USER, calls("1", name="memory"), result("1"), ANSWER, USER, ANSWER, USER]
    assert turns_since_call(talk, "memory") == 2
    assert turns_since_call(talk, "other") == 3


def test_a_result_without_its_call_is_left_out_and_a_missing_one_is_put_in():
    broken = [result("0"), USER, calls("1", "2"), result("2"), USER, Message("assistant", ""), result("1"), ANSWER]
    fixed = mended(broken)
    assert [(m.role, m.tool_call_id) for m in fixed] == [
        ("user", None),
        ("assistant", None),
        ("tool", "2"),
        ("tool", "1"),
        ("user", None),
        ("assistant", None),
    ]
    assert (fixed[3].is_error, "not run" in fixed[3].text) == (True, True)


def test_calls_that_may_still_be_answered_stay_open():
    talk = [USER, calls("1", "2"), result("1")]
    assert mended(talk) == talk


MESSAGES = st.lists(
    st.one_of(
        st.just(USER),
        st.sampled_from([ANSWER, Message("assistant", "")]),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(lambda ids: calls(*ids)),
        st.sampled_from("abcd").map(result),
    ),
    max_size=12,
)


@given(MESSAGES)
def test_whatever_comes_a_mended_transcript_is_valid_and_mending_again_changes_nothing(messages):
    fixed = mended(messages)
    assert mended(fixed) == fixed
    closed = [*fixed, *(Message("tool", "x", tool_call_id=call.id) for call in open_calls(fixed))]
    assert transcript_fault(openai_chat.render(closed)) is None
    assert [m for m in fixed if m.role == "user"] == [m for m in messages if m.role == "user"]
