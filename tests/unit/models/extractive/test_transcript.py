"""Reading a context."""

from girdlebook.context import Context
from girdlebook.messages import Message, ToolCall
from girdlebook.models.extractive.transcript import Moment, snapshot_entries

RULE = "═" * 46
SYSTEM = (
    f"Be kind.\n\n{RULE}\nMEMORY (your personal notes) [1% — 9/2,200 chars]\n{RULE}\nfirst\n"
    "§\n第二条\nwith a second line\n\n"
    f"{RULE}\nUSER PROFILE (who the user is) [1% — 9/1,375 chars]\n{RULE}\nI live in Ghent\n\nToday is 2026-12-01."
)


def test_reads_the_blocks_of_the_prompt() -> None:
    assert snapshot_entries(SYSTEM) == {"memory": ("first", "第二条\nwith a second line"), "user": ("I live in Ghent",)}


def test_no_block_no_entries() -> None:
    assert snapshot_entries("Today is 2026-12-01.") == {}


def test_listed_entries_win_over_the_prompt() -> None:
    call = ToolCall("a", "memory", '{"action": "list", "target": "user"}')
    messages = (
        Message("user", "old"),
        Message("assistant", "ok"),
        Message("user", "Where do I live?"),
        Message("assistant", tool_calls=(call,)),
        Message("tool", '{"success": true, "entries": ["I live in Porto"]}', tool_call_id="a", tool_name="memory"),
    )
    moment = Moment.of(Context(SYSTEM, messages))
    assert moment.entries["user"] == ("I live in Porto",)
    assert moment.earlier == ("old",)
    assert moment.listed


def test_an_answer_that_is_no_object_counts_as_empty() -> None:
    messages = (
        Message("user", "x"),
        Message("assistant", tool_calls=(ToolCall("a", "session_search", '{"query": "x"}'),)),
        Message("tool", "broken", tool_call_id="a"),
    )
    assert Moment.of(Context("", messages)).searches[0].answer == {}
