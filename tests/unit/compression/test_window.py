"""Phases 2 and 3: what stays."""

import pytest

from girdlebook.compression.summary import bridge, summary_message
from girdlebook.compression.window import divide, units
from girdlebook.messages import Message, ToolCall


def user(text="x"):
    return Message("user", text)


def says(text="x"):
    return Message("assistant", text)


def calls(*ids):
    return [
        Message("assistant", "", tuple(ToolCall(i, "t") for i in ids)),
        *(Message("tool", "ok", tool_call_id=i, tool_name="t") for i in ids),
    ]


def cut(messages, *, first=3, head=1_000, tail=3, ceiling=4):
    """Every message costs one token."""
    return divide(
        messages, protect_first=first, head_tokens=head, tail_tokens=tail, ceiling_tokens=ceiling, size=lambda m: 1
    )


def test_a_call_and_its_results_are_one_unit():
    messages = [user(), *calls("1", "2"), says(), *calls("3")]
    assert units(messages) == [range(1), range(1, 4), range(4, 5), range(5, 7)]


@pytest.mark.parametrize("tail", range(1, 30))
def test_L3_01_wherever_the_cut_falls_no_pair_is_parted(tail):
    messages = [
        Message("system", "s"),
        user(),
        *[m for n in range(10) for m in calls(f"a{n}", f"b{n}")],
        user(),
        says(),
    ]
    window = cut(messages, tail=tail, ceiling=tail + 1)
    for part in (window.head, window.middle, window.kept):
        open_calls = [c.id for i in part for c in messages[i].tool_calls]
        assert sorted(open_calls) == sorted(messages[i].tool_call_id for i in part if messages[i].role == "tool")
    assert sorted((*window.head, *window.middle, *window.kept)) == list(range(len(messages)))


def test_the_head_is_the_system_message_and_the_first_three():
    messages = [Message("system", "s"), user(), says(), user(), says(), *[user(), says()] * 5]
    assert cut(messages).head == (0, 1, 2, 3)
    assert cut(messages, first=0).head == (0,)
    assert cut(messages, head=2).head == (0, 1, 2)


def test_L3_25_the_newest_message_of_the_person_stays_however_small_the_budget():
    messages = [user("first"), says(), user("newest"), *[m for n in range(9) for m in calls(str(n))], says()]
    window = cut(messages, tail=1, ceiling=1)
    assert 2 in window.kept
    assert len(window.kept) >= 4


def test_the_newest_message_of_the_person_never_stands_before_the_summary():
    messages = [user("only"), *[m for n in range(9) for m in calls(str(n))]]
    window = cut(messages)
    assert window.head == ()
    assert window.kept[0] == 0


def test_an_earlier_summary_is_found_and_is_no_person():
    summary = summary_message("## Goal\n- x", None)
    messages = [user("first"), says(), summary, bridge(), user("newest"), says(), *calls("1"), *calls("2"), says()]
    window = cut(messages, tail=1, ceiling=1)
    assert window.previous == 2
    assert window.head == (0, 1)
    assert 3 not in (*window.middle, *window.kept)
    assert 4 in window.kept


def test_a_big_unit_may_cross_the_budget_but_not_the_ceiling():
    messages = [user(), says(), user(), says(), *calls("1", "2", "3"), says(), says(), says()]
    assert cut(messages, tail=4, ceiling=8).kept[-7:] == (4, 5, 6, 7, 8, 9, 10)
    assert 4 not in cut(messages, tail=4, ceiling=6).kept
