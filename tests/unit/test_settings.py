"""Where settings come from, and changing them."""

from pathlib import Path

import pytest

from girdlebook import settings
from girdlebook.config import keys
from girdlebook.errors import ConfigError
from girdlebook.profiles import Home

COMMENTED = """\
# 我的设置 ⚙
memory:
  memory_char_limit: 3000  # more room
  # nudge_interval: 5

compression:
  threshold: 0.6
"""


@pytest.fixture
def lair(tmp_path: Path) -> Home:
    (tmp_path / "config.yaml").write_text(COMMENTED, encoding="utf-8")
    return Home(tmp_path)


def test_each_layer_covers_the_one_before_it_and_is_named(lair: Home) -> None:
    lair.env_file.write_text("GIRDLE__MEMORY__NUDGE_INTERVAL=4\nGIRDLE__COMPRESSION__THRESHOLD=0.7\nOPENAI_API_KEY=x\n")
    known = settings.load(lair, {"GIRDLE__COMPRESSION__THRESHOLD": "0.8", "PATH": "/bin"})
    assert known.config.memory.user_char_limit == known.value("memory.user_char_limit") == 1375
    assert known.origin("memory.user_char_limit") == "default"
    assert (known.value("memory.memory_char_limit"), known.origin("memory.memory_char_limit")) == (
        3000,
        str(lair.config_file),
    )
    assert (known.config.memory.nudge_interval, known.origin("memory.nudge_interval")) == (4, str(lair.env_file))
    assert (known.config.compression.threshold, known.origin("compression.threshold")) == (0.8, "environment")


def test_every_key_of_the_article_has_its_default(tmp_path: Path) -> None:
    config = settings.load(Home(tmp_path), {}).config
    assert (config.memory.provider, config.memory.nudge_interval, config.memory.flush_min_turns) == ("", 10, 6)
    assert config.memory.write_approval == "untrusted"
    assert config.compression.model_dump() == {
        "enabled": True,
        "threshold": 0.50,
        "target_ratio": 0.20,
        "protect_first_n": 3,
    }
    assert config.prompt_caching.cache_ttl == "5m"
    assert config.sessions.model_dump() == {
        "auto_prune": False,
        "retention_days": 90,
        "vacuum_after_prune": True,
        "min_interval_hours": 24,
    }
    assert {"auxiliary.compression.model", "auxiliary.flush_memories.timeout"} <= set(keys())


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("GIRDLE__MEMORY__NUDGE_INTERVALL", "4", "did you mean memory.nudge_interval"),
        ("GIRDLE__MEMORY", "4", "unknown variable GIRDLE__MEMORY"),
        (
            "GIRDLE__MEMORY__NUDGE_INTERVAL",
            "many",
            "GIRDLE__MEMORY__NUDGE_INTERVAL (environment): memory.nudge_interval",
        ),
        ("GIRDLE__COMPRESSION__TARGET_RATIO", "0.9", "it must be less than or equal to 0.8"),
        ("GIRDLE__PROMPT_CACHING__CACHE_TTL", "2h", "'5m' or '1h'"),
        ("GIRDLE__MEMORY__NUDGE_INTERVAL", "[", "cannot be read"),
    ],
)
def test_a_wrong_variable_is_named_with_what_was_meant(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settings.load(Home(tmp_path), {name: text})
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_texts_stay_texts(tmp_path: Path) -> None:
    known = settings.load(Home(tmp_path), {"GIRDLE__CHAT__MODEL": "12", "GIRDLE__MEMORY__PROVIDER": "true"})
    assert (known.config.chat.model, known.config.memory.provider) == ("12", "true")


def test_comments_and_order_survive_a_change(lair: Home) -> None:
    assert settings.set_value(lair, "memory.memory_char_limit", "4000") == 4000
    settings.set_value(lair, "memory.nudge_interval", "7")
    settings.set_value(lair, "prompt_caching.cache_ttl", "1h")
    text = lair.config_file.read_text(encoding="utf-8")
    for kept in ("# 我的设置 ⚙", "memory_char_limit: 4000  # more room", "# nudge_interval: 5", "threshold: 0.6"):
        assert kept in text
    config = settings.load(lair, {}).config
    assert (config.memory.nudge_interval, config.prompt_caching.cache_ttl) == (7, "1h")
    settings.unset_value(lair, "memory.nudge_interval")
    settings.unset_value(lair, "memory.user_char_limit")
    assert settings.load(lair, {}).origin("memory.nudge_interval") == "default"
    assert "# more room" in lair.config_file.read_text(encoding="utf-8")


def test_a_file_of_comments_only_keeps_them(tmp_path: Path) -> None:
    lair = Home(tmp_path)
    lair.config_file.write_text("# nothing yet", encoding="utf-8")
    settings.set_value(lair, "chat.model", "openai:gpt-5")
    assert lair.config_file.read_text(encoding="utf-8").splitlines()[0] == "# nothing yet"
    assert settings.load(lair, {}).config.chat.model == "openai:gpt-5"


def test_a_new_file_is_private(tmp_path: Path) -> None:
    settings.set_value(Home(tmp_path / "new"), "chat.model", "x")
    assert (tmp_path / "new" / "config.yaml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("key", "text"),
    [("memory.memory_char_limit", "none"), ("memory.memory_char_limit", "-1"), ("memory.nope", "1"), ("memory", "1")],
)
def test_what_would_be_wrong_is_not_written(lair: Home, key: str, text: str) -> None:
    with pytest.raises(ConfigError):
        settings.set_value(lair, key, text)
    assert lair.config_file.read_text(encoding="utf-8") == COMMENTED


def test_a_wrong_value_can_be_corrected(lair: Home) -> None:
    lair.config_file.write_text("memory:\n  memory_char_limit: many\n", encoding="utf-8")
    settings.set_value(lair, "memory.memory_char_limit", "2500")
    assert settings.load(lair, {}).config.memory.memory_char_limit == 2500


def test_a_section_that_is_none_is_refused(lair: Home) -> None:
    lair.config_file.write_text("memory: yes please\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="write it as a section"):
        settings.set_value(lair, "memory.memory_char_limit", "2500")


def test_prices_are_read_by_model(lair: Home) -> None:
    lair.config_file.write_text("prices:\n  openai/gpt-5.1:\n    input: 1.25\n    output: 10\n", encoding="utf-8")
    price = settings.load(lair, {}).config.prices["openai/gpt-5.1"]
    assert (price.input, price.output, price.cache_read) == (1.25, 10.0, None)
