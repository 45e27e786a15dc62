"""What holds for every test: no network, a home of its own, a settled environment."""

import importlib.util
import os
import sqlite3
from pathlib import Path

import pytest

from girdlebook.testing import ScriptedModel, assert_prefix_stable

_GUARD = Path(__file__).with_name("guard") / "sitecustomize.py"
_UNSETTLING = (
    "GIRDLE_",
    "OPENAI_",
    "ANTHROPIC_",
    "VISUAL",
    "EDITOR",
    "COLUMNS",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse connections to other machines, here and in every Python process that tests start."""
    spec = importlib.util.spec_from_file_location("network_guard", _GUARD)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    paths = [str(_GUARD.parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def pytest_report_header(config: pytest.Config) -> str:
    return f"SQLite {sqlite3.sqlite_version}"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own home, not made yet; nothing of the person's environment reaches the test."""
    for name in os.environ:
        if name.startswith(_UNSETTLING) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    path = tmp_path / "home"
    monkeypatch.setenv("GIRDLE_HOME", str(path))
    return path


@pytest.fixture
def scripted_model():
    """Makes scripted models; at the end the requests of each must have kept their prefix, session by session."""
    made: list[ScriptedModel] = []

    def make(*replies):
        made.append(ScriptedModel(*replies))
        return made[-1]

    yield make
    for model in made:
        for conversation in _by_session(model.requests):
            assert_prefix_stable(conversation)


def _by_session(requests):
    """Requests cut where a new session began: there the transcript is one message long again."""
    conversations = []
    for request in requests:
        spoken = [message for message in request["messages"] if message["role"] != "system"]
        if len(spoken) == 1 or not conversations:
            conversations.append([])
        conversations[-1].append(request)
    return conversations
