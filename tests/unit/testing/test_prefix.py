"""assert_prefix_stable: it must be able to fail."""

import pytest

from girdlebook.testing import assert_prefix_stable

SYSTEM = {"role": "system", "content": "be kind"}
HELLO = {"role": "user", "content": "你好"}
ANSWER = {"role": "assistant", "content": "hi"}
TOOLS = [{"type": "function", "function": {"name": "memory"}}]


def request(*messages, **more):
    return {"model": "m", "tools": TOOLS, "messages": list(messages), **more}


def test_a_request_that_extends_the_last_one_passes():
    assert_prefix_stable([request(SYSTEM, HELLO), request(SYSTEM, HELLO, ANSWER, HELLO)])


def test_a_moving_cache_marker_is_no_change():
    marked = {"role": "user", "content": [{"type": "text", "text": "你好", "cache_control": {"type": "ephemeral"}}]}
    assert_prefix_stable([request(SYSTEM, marked), request(SYSTEM, HELLO, ANSWER)])


@pytest.mark.parametrize(
    "after",
    [
        request({"role": "system", "content": "be kind."}, HELLO),
        request(SYSTEM),
        request(SYSTEM, {"role": "user", "content": "您好"}, ANSWER),
        request(SYSTEM, HELLO) | {"tools": []},
        request(SYSTEM, HELLO) | {"model": "other"},
        request(SYSTEM, HELLO, temperature=1),
    ],
)
def test_whatever_else_moves_is_reported(after):
    with pytest.raises(AssertionError, match="request 2"):
        assert_prefix_stable([request(SYSTEM, HELLO), after])
