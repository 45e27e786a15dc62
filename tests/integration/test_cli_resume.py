"""Going on with a conversation in another process."""

import json

from girdlebook.messages import Message, Reply, ToolCall
from girdlebook.testing import assert_prefix_stable
from girdlebook.testing.chat_server import ChatServer, HttpFailure


def says(text):
    return Reply(Message("assistant", text))


def test_the_next_process_extends_what_the_last_one_sent(girdle):
    add = ToolCall("c", "memory", json.dumps({"action": "add", "target": "user", "content": "叫小林"}))
    script = [Reply(Message("assistant", tool_calls=(add,))), says("你好"), HttpFailure(400, "no"), says("还在")]
    with ChatServer(*script) as server:
        model = f"{server.url}#m"
        assert girdle("chat", "-m", "我叫小林", "--model", model).returncode == 0
        assert girdle("chat", "-m", "在吗？", "--model", model, "--continue").returncode == 1
        last = girdle("chat", "-m", "还在吗？", "--model", model, "--continue", "--json")
        assert json.loads(last.stdout)["text"] == "还在"
        assert "Going on with" in last.stderr
        requests = [{k: v for k, v in one.items() if k not in ("stream", "stream_options")} for one in server.requests]
    assert len(requests) == 4
    assert_prefix_stable(requests)
    assert [m["role"] for m in requests[-1]["messages"]].count("user") == 3


def test_a_conversation_is_taken_up_by_name_inside_a_chat(girdle, script):
    first = json.loads(girdle("chat", "-m", "hello", "--model", script("hi"), "--json").stdout)["session_id"]
    ran = girdle("chat", "--model", script("back"), text="/resume\n/resume nowhere-at-all\n")
    assert ran.returncode == 1
    assert "which one?" in ran.stderr
    ran = girdle("chat", "--model", script("back"), text=f"/resume {first}\nand again\n/home is full\n")
    assert f"Going on with {first}" in ran.stderr
    assert "back" in ran.stdout


def test_nothing_to_go_on_with_is_one_line(girdle):
    ran = girdle("chat", "-m", "hello", "--continue")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "no conversation to go on with" in ran.stderr


def test_room_is_made_on_request_and_the_context_is_told(girdle, script):
    answers = [f"answer {n} " * 400 for n in range(12)]
    lines = "".join(f"question {n} 端口 {48_000 + n}\n" for n in range(12))
    ran = girdle(
        "chat",
        "--model",
        script(*answers),
        text=f"{lines}/compress the ports\n/usage\n",
        GIRDLE__CHAT__CONTEXT_LENGTH="40000",
        GIRDLE__MEMORY__FLUSH_MIN_TURNS="0",
        GIRDLE__MEMORY__MEMORY_ENABLED="false",
        GIRDLE__MEMORY__USER_PROFILE_ENABLED="false",
    )
    assert ran.returncode == 0, ran.stderr
    assert "Compressed: " in ran.stderr
    assert "% of 40,000 tokens" in ran.stdout
