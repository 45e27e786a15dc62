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
    assert girdle("config", "unset", "memory.nudge_interval").out == "10\n"


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
