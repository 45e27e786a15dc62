"""The benchmark's functions on a session that is small enough for a test; its figures are no test's business."""

import sys
from pathlib import Path

import pytest

from girdlebook.dialects import anthropic
from girdlebook.testing import assert_prefix_stable

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def benchmark():
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks import prompt_cache
    finally:
        sys.path.remove(str(ROOT))
    return prompt_cache


def test_a_small_session_is_held_and_accounted_for(benchmark):
    size = benchmark.Size(instructions=200, tools=2, tool=30, memory=60, result=40, answer=30)
    figures = benchmark.measure([10], size)
    short, long = figures.sessions
    assert (short.ttl, long.ttl) == ("5m", "1h")
    assert (short.requests, short.memory_writes, short.compressions, short.flushes) == (40, 1, 0, 1)
    assert short.moved == []
    assert 0 < short.cost_frozen < short.cost_live < short.cost_none
    assert short.live_hit_ratio < short.frozen_hit_ratio < 1
    assert 0 < short.flush_main < short.flush_auxiliary
    assert short.cost_frozen < long.cost_frozen
    assert "frozen" in benchmark.as_text(figures)


def test_the_requests_of_a_session_keep_their_prefix_and_the_live_ones_do_not(benchmark, tmp_path):
    size = benchmark.Size(instructions=50, tools=1, tool=10, memory=30, question=10, result=10, answer=10)
    asked = [one for one in benchmark.replay(tmp_path, 10, size).asked if one.kind == "turn"]
    assert_prefix_stable([anthropic.request(one.context) for one in asked])
    assert len({one.context.system for one in asked}) == 1
    assert len({one.live.system for one in asked}) == 2
