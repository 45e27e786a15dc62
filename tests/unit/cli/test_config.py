"""`girdle config`."""

import json
from pathlib import Path

import pytest

import girdlebook
from girdlebook.cli.output import width
from girdlebook.config import Config, keys


def test_a_setting_is_changed_read_explained_and_taken_back(girdle, home: Path) -> None:
    assert girdle("config", "get", "memory.nudge_interval").out == "10\n"
    assert girdle("config", "set", "memory.nudge_interval", "5", "--json").json["value"] == 5
    got = girdle("config", "get", "memory.nudge_interval", "--json").json
    assert (got["value"], got["origin"]) == (5, str(home / "config.yaml"))
    explained = girdle("config", "explain", "memory.nudge_interval")
    assert "Turns without a memory call" in explained.out
    assert "GIRDLE__MEMORY__NUDGE_INTERVAL" in explained.out
    layers = girdle("config", "explain", "memory.nudge_interval", "--json").json
    assert [layer["value"] for layer in layers["layers"]] == [10, 5]
    assert layers["holds"] == str(home / "config.yaml")
    assert girdle("config", "unset", "memory.nudge_interval").code == 0
    assert girdle("config", "get", "memory.nudge_interval").out == "10\n"


def test_the_environment_counts_more_and_is_named(girdle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIRDLE__COMPRESSION__THRESHOLD", "0.75")
    rows = girdle("config", "get", "--json").json
    assert rows["compression.threshold"] == {"value": 0.75, "origin": "environment"}
    assert set(rows) == set(keys())
    text = girdle("config", "get").out
    assert "0.75 (environment)" in text
    assert max(map(width, text.splitlines())) <= 80


def test_an_unknown_key_is_named_with_the_nearest(girdle) -> None:
    for command in (["get"], ["set", "--"], ["explain"], ["unset"]):
        refused = girdle("config", *command, "memory.nuge_interval", *(["1"] if "set" in command else []))
        assert refused.code == 1
        assert "did you mean memory.nudge_interval?" in refused.err


def test_secrets_go_into_the_env_file_and_are_never_shown(girdle, home: Path) -> None:
    done = girdle("config", "set", "OPENAI_API_KEY", "sk-abcdefghijklmnop-1234")
    assert done.code == 0
    assert "abcdefg" not in done.out + done.err
    assert (home / ".env").stat().st_mode & 0o777 == 0o600
    assert girdle("config", "get", "OPENAI_API_KEY").out == "•••• 1234\n"
    assert girdle("config", "unset", "OPENAI_API_KEY").code == 0
    assert girdle("config", "get", "OPENAI_API_KEY").code == 1


def test_settings_are_checked(girdle, home: Path) -> None:
    assert girdle("config", "validate").out == "the settings are valid\n"
    home.mkdir()
    (home / "config.yaml").write_text("memory: {nudge_interval: many}\n")
    refused = girdle("config", "validate", "--json")
    assert (refused.code, refused.json["kind"]) == (1, "ConfigError")
    assert "memory.nudge_interval is 'many'" in refused.json["error"]


def test_looking_makes_nothing(girdle, home: Path) -> None:
    for command in (["get"], ["path"], ["validate"], ["explain", "chat.model"]):
        assert girdle("config", *command).code == 0
    assert not home.exists()


def test_the_schema_that_is_shipped_is_the_one_that_holds(girdle) -> None:
    shipped = json.loads((Path(girdlebook.__file__).parent / "config.schema.json").read_text("utf-8"))
    assert shipped == Config.model_json_schema() == girdle("config", "schema").json
    assert shipped["$defs"]["MemorySettings"]["properties"]["nudge_interval"]["description"]


def test_a_broken_file_is_told_whole_and_mended_key_by_key(girdle, home: Path) -> None:
    home.mkdir()
    file = home / "config.yaml"
    file.write_text("foo: 1\nmemory:\n  memory_char_limt: 5\n  user_char_limit: abc\n")
    errors = girdle("config", "validate").err
    for key in ("foo", "memory.memory_char_limt", "memory.user_char_limit"):
        assert key in errors
    assert girdle("config", "set", "memory.user_char_limit", "900").code == 1  # still wrong elsewhere, and written
    assert "user_char_limit: 900" in file.read_text()
    assert girdle("config", "unset", "foo").code == 0
    assert girdle("config", "unset", "memory.memory_char_limt").code == 0
    assert girdle("config", "validate").code == 0


def test_what_cannot_work_is_refused_when_it_is_set(girdle, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "anthropic:NAME" in girdle("config", "set", "chat.model", "bogus").err
    assert girdle("config", "set", "GIRDLE__MEMORY__NUDGE_INTERVAL", "abc").code == 1
    assert girdle("config", "set", "compression.threshold", ".inf").code == 1
    assert girdle("config", "set", "memory.nudge_interval").code == 1
    monkeypatch.setenv("GIRDLE__MEMORY__NUDGE_INTERVAL", "3")
    assert "environment says otherwise" in girdle("config", "set", "memory.nudge_interval", "4").err
    monkeypatch.setenv("MY_KEY", "secret")
    assert girdle("config", "get", "MY_KEY", "--json").json["origin"] == "environment"


def test_a_section_is_shown_whole(girdle) -> None:
    assert set(girdle("config", "get", "prompt_caching", "--json").json) == {"prompt_caching.cache_ttl"}
