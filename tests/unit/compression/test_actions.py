"""What a call did."""

import json

import pytest

from girdlebook.compression.actions import Action, actions_of, arguments_of
from girdlebook.messages import Message, ToolCall


def action(name="terminal", output="", **given):
    call = ToolCall("1", name, json.dumps(given))
    return Action(call, arguments_of(call), output)


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("echo x > 计划/笔记.md", ["计划/笔记.md"]),
        ("cat <<'EOF' > src/new.py\nif a > b.c: pass\nEOF\n", ["src/new.py"]),
        ("echo hi >> ./log.txt 2>&1 > /dev/null", ["./log.txt"]),
        ("make 2>build.err | tee -a out/full.log", ["build.err", "out/full.log"]),
        ("sed -i 's/a > b/c/' lib/x.py lib/y.py", ["lib/x.py", "lib/y.py"]),
        ("sed -i.bak -e 's/a/b/' x.cfg", ["x.cfg"]),
        ("mv old.py new.py && rm -f gone.py", ["old.py", "new.py", "gone.py"]),
        ("python - <<'E'\nopen('data/out.json', 'w').write('x')\nE", ["data/out.json"]),
        ("python -c \"p = 'a/b.txt'; open(p, mode='a')\"", ["a/b.txt"]),
        ("python -c \"Path('c.md').write_text('')\"", ["c.md"]),
        ("grep -rn 'x > y' src | head", []),
        ("echo $((3 > 2))", []),
    ],
)
def test_files_that_a_command_writes(command, files):
    assert action(command=command).written() == files


def test_files_that_a_writing_tool_names():
    assert action("edit_file", path="src/a.py", old="x").written() == ["src/a.py"]
    assert action("read_file", path="src/a.py").written() == []


@pytest.mark.parametrize(
    ("command", "prints"),
    [
        ("cat a.py", True),
        ("cd /srv && sed -n '1,9p' a.py", True),
        ("grep -rn word src", True),
        ("cat <<EOF > a.py\nx\nEOF", False),
        ("python -m pytest", False),
        ("git status", False),
    ],
)
def test_what_only_prints_a_files_text(command, prints):
    assert action(command=command).prints_source is prints


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("<returncode>2</returncode>", 2),
        ("…\nexit code: 127", 127),
        ('{"exit_code": 0, "output": ""}', 0),
        ("exited with 1", 1),
        ("nothing of the kind", None),
    ],
)
def test_the_exit_code_is_read_where_it_is_told(output, code):
    assert action(command="x", output=output).exit_code == code


def test_calls_are_paired_with_their_results_and_broken_arguments_are_none():
    calls = (ToolCall("1", "a", "{"), ToolCall("2", "b", "[1]"), ToolCall("3", "c", '{"query": " x  y "}'))
    messages = [Message("assistant", "", calls), Message("tool", "two", tool_call_id="2")]
    found = list(actions_of(messages))
    assert [(one.call.id, one.output, dict(one.arguments)) for one in found[:2]] == [("1", "", {}), ("2", "two", {})]
    assert found[2].main_argument == "x y"
