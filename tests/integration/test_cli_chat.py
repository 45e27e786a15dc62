"""`girdle chat` over pipes."""

import json
import os
import subprocess
import sys
from pathlib import Path

from girdlebook.profiles import Home
from girdlebook.sessions.sqlite import SQLiteSessionStore

REMEMBER = {
    "text": "Noting it.",
    "tool_calls": [{"name": "memory", "arguments": {"action": "add", "target": "user", "content": "名字：小林"}}],
}


def test_one_turn_prints_the_reply_alone_on_stdout(girdle, script) -> None:
    done = girdle("chat", "-m", "我叫小林", "--model", script(REMEMBER, "你好，小林！"))
    assert (done.returncode, done.stdout) == (0, "你好，小林！\n")
    assert done.stderr == "Model: scripted\n"
    assert girdle("memory", "list", "user").stdout == "名字：小林\n"


def test_one_turn_as_json_names_its_session(girdle, script, home: Path) -> None:
    done = girdle("chat", "-m", "hi", "--model", script("hello"), "--json")
    answer = json.loads(done.stdout)
    assert (answer["text"], answer["stopped"]) == ("hello", "answered")
    with SQLiteSessionStore.open(Home(home).state_db) as store:
        record = store.session(answer["session_id"])
    assert (record.source, record.end_reason, record.message_count) == ("cli", "closed", 2)


def test_each_line_of_a_pipe_is_a_turn(girdle, script) -> None:
    done = girdle("chat", "--model", script("one", "two"), text="first\n\n第二\n")
    assert (done.returncode, done.stdout) == (0, "one\ntwo\n")


def test_a_line_without_its_end_is_a_turn_too(girdle, script) -> None:
    assert girdle("chat", "--model", script("one"), text="last words").stdout == "one\n"


def test_texts_of_each_model_call_start_on_a_line_of_their_own(girdle, script) -> None:
    assert girdle("chat", "--model", script(REMEMBER, "done"), text="x\n").stdout == "Noting it.\ndone\n"


def test_chat_commands_answer_and_are_no_turns(girdle, script) -> None:
    done = girdle(
        "chat", "--model", script(REMEMBER, "ok"), text="hi\n/memory\n/usage\n/help\n/nonsense\n/QUIT\nnever\n"
    )
    assert done.returncode == 0
    assert "• 名字：小林" in done.stdout
    assert "1 turns · the model reports no tokens" in done.stdout
    assert "/reset" in done.stdout
    assert "unknown command /nonsense; /help lists them" in done.stderr


def test_a_path_at_the_start_of_a_line_is_no_command(girdle, script) -> None:
    assert girdle("chat", "--model", script("seen"), text="/etc/hosts is broken\n").stdout == "seen\n"


def test_new_starts_another_session(girdle, script) -> None:
    for command in ("/new", "/reset"):
        done = girdle("chat", "--model", script("a", "b"), text=f"x\n{command}\ny\n")
        assert done.stdout == "a\nb\n"
    sessions = json.loads(girdle("search", "--json").stdout)["sessions"]
    assert [row["message_count"] for row in sessions] == [2, 2, 2, 2]


def test_usage_counts_the_tokens_that_the_model_reports(girdle, script) -> None:
    reply = {"text": "x", "usage": {"input_tokens": 1234, "output_tokens": 5, "cache_read_tokens": 1000}}
    done = girdle("chat", "--model", script(reply), text="hi\n/usage\n")
    assert "1,234 tokens in (1,000 from cache), 5 out" in done.stdout


def test_a_model_that_fails_over_a_pipe_ends_in_one_line(girdle, script) -> None:
    done = girdle("chat", "--model", script("one"), text="a\nb\nc\n")
    assert (done.returncode, done.stdout) == (1, "one\n")
    assert "girdle: the script holds 1 replies" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_endless_tool_loop_stops_at_the_limit(girdle, script) -> None:
    call = {"tool_calls": [{"name": "memory", "arguments": {"action": "list", "target": "user"}}]}
    done = girdle("chat", "-m", "x", "--max-iterations", "2", "--model", script(call, call, call))
    assert done.returncode == 1
    assert "stopped after 2 model calls" in done.stderr


def test_a_wrong_model_makes_no_home(girdle, home: Path) -> None:
    done = girdle("chat", "-m", "x", "--model", "gpt")
    assert (done.returncode, done.stdout) == (1, "")
    forms = "anthropic:NAME, openai:NAME, URL#NAME, scripted:FILE or extractive"
    assert done.stderr == f"girdle: unknown model 'gpt'; write {forms}\n"
    assert not home.exists()


def test_users_have_their_own_profile_and_sessions(girdle, script) -> None:
    girdle("chat", "-m", "我叫小林", "--model", script(REMEMBER, "ok"), "--user", "a")
    assert girdle("memory", "list", "user", "--user", "b").stdout == ""
    assert girdle("search", "小林", "--user", "b").stdout == ""
    assert "小林" in girdle("search", "小林", "--user", "a").stdout


def test_L1_33_a_home_with_chinese_characters_and_a_blank_works(girdle, script, tmp_path: Path) -> None:
    place = {"GIRDLE_HOME": str(tmp_path / "我的 记忆")}
    assert girdle("chat", "-m", "x", "--model", script(REMEMBER, "ok"), **place).returncode == 0
    assert girdle("memory", "list", **place).stdout == "user: 名字：小林\n"
    assert "x" in girdle("search", **place).stdout


def test_CLI_05_bytes_that_are_no_text_do_not_end_it(script) -> None:
    command = [sys.executable, "-m", "girdlebook", "chat", "--model", script("one", "two")]
    piped = subprocess.run(command, input=b"caf\xe9\n", capture_output=True, timeout=30, check=False)
    assert (piped.returncode, piped.stdout) == (0, b"one\n")
    typed = subprocess.run([*command, "-m", b"caf\xe9"], capture_output=True, timeout=30, check=False)
    assert (typed.returncode, typed.stdout) == (0, b"one\n")


def test_CLI_05_a_plain_terminal_gets_replacement_characters(girdle, script) -> None:
    plain = {"PYTHONIOENCODING": "ascii"}
    done = girdle("chat", "-m", "x", "--model", script("naïve 🦊 \ud800 end"), **plain)
    assert (done.returncode, done.stdout) == (0, "na?ve ? ? end\n")
    girdle("memory", "add", "user", "名字")
    assert json.loads(girdle("memory", "list", "--json", **plain).stdout)["targets"][1]["entries"] == ["名字"]


def test_a_turn_over_a_pipe_is_on_stdout_before_the_next_is_read(script) -> None:
    command = [sys.executable, "-m", "girdlebook", "chat", "--model", script("one", "two")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as chat:
        assert chat.stdin is not None
        assert chat.stdout is not None
        os.write(chat.stdin.fileno(), b"first\n")
        assert chat.stdout.readline() == b"one\n"
        os.write(chat.stdin.fileno(), b"second\n")
        assert chat.stdout.readline() == b"two\n"
        chat.stdin.close()
        assert chat.wait(30) == 0


def test_the_embedded_default_says_what_it_is_and_remembers_in_the_next_session(girdle) -> None:
    told = girdle("chat", "-m", "My name is Ada Lindqvist.")
    assert told.returncode == 0
    assert "not a language model" in told.stderr
    assert "不是语言模型" in told.stderr
    assert "Ada Lindqvist" in girdle("chat", "-m", "What is my name?").stdout


def test_the_demonstration_shows_two_chats_and_a_search_and_leaves_the_home_alone(girdle, home: Path) -> None:
    shown = girdle("demo")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert '"My name is Ada Lindqvist" (USER.md)' in shown.stdout
    assert "• 我的服务器运行 Debian 12" in shown.stdout
    assert ">>>backup<<<" in shown.stdout
    assert not home.exists()
