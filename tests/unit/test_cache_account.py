"""Accounts worked out by hand: texts of one word each, so that every block has a known size."""

import copy

import pytest

from girdlebook.cache_account import CacheRules, PromptCache, account, rebuilt
from girdlebook.context import Context
from girdlebook.dialects import anthropic
from girdlebook.dialects.caching import system_and_3
from girdlebook.messages import Message, ToolCall
from girdlebook.tokens import MESSAGE_TOKENS, estimate_text
from girdlebook.tools import ToolSpec

RULES = CacheRules(least_tokens=0)
S = 100  # the system prompt
M = 10  # a message


def text(tokens, mark=""):
    """A block of exactly that many tokens; `mark` makes it another one of the same size."""
    digits = next(n for n in range(tokens * 2) if estimate_text("7" * n) == tokens)
    return {"type": "text", "text": mark + "7" * (digits - len(mark))}


def marked(block, ttl=None):
    return block | {"cache_control": {"type": "ephemeral"} | ({"ttl": ttl} if ttl else {})}


def message(number, mark=None):
    role = "assistant" if number % 2 else "user"
    block = text(M - MESSAGE_TOKENS, str(number % 7))
    return {"role": role, "content": [marked(block, mark if isinstance(mark, str) else None) if mark else block]}


def request(messages, *, system="1", marks=(), system_mark=True, ttl=None):
    """A request of so many messages; `marks` are the marked ones."""
    block = text(S, system)
    return {
        "system": [marked(block, ttl) if system_mark else block],
        "messages": [message(n, (ttl or True) if n in marks else None) for n in range(messages)],
    }


def tokens_of(one):
    return one.input_tokens, one.read, one.written, one.plain


def test_a_request_that_only_grew_reads_what_the_one_before_wrote():
    figures = account([(request(1, marks=[0]), 0), (request(3, marks=[2]), 10)], rules=RULES, dollars_per_million=3.0)
    first, second = figures.requests
    assert tokens_of(first) == (S + M, 0, S + M, 0)
    assert tokens_of(second) == (S + 3 * M, S + M, 2 * M, 0)
    assert (first.moved, second.moved) == (None, None)
    cost = 1.25 * (S + M) + 0.1 * (S + M) + 1.25 * 2 * M
    assert figures.cost == pytest.approx(cost)
    assert figures.dollars == pytest.approx(cost * 3 / 1e6)
    assert figures.hit_ratio == (S + M) / (2 * S + 4 * M)
    assert figures.cost_to_none == pytest.approx(cost / (2 * S + 4 * M))
    assert (figures.input_tokens, figures.read, figures.written) == (2 * S + 4 * M, S + M, S + 3 * M)


def test_what_follows_the_last_marker_is_plain():
    (only,) = account([(request(4, marks=[1]), 0)], rules=RULES).requests
    assert tokens_of(only) == (S + 4 * M, 0, S + 2 * M, 2 * M)


def test_without_markers_everything_is_plain():
    bare = request(3, system_mark=False)
    figures = account([(bare, 0), (bare, 1)], rules=RULES)
    assert figures.cost == figures.input_tokens == figures.plain == 2 * (S + 3 * M)
    assert (figures.hit_ratio, figures.cost_to_none, figures.dollars) == (0.0, 1.0, None)


def test_no_requests_cost_nothing():
    assert (account([]).cost, account([]).hit_ratio, account([]).cost_to_none) == (0, 0.0, 1.0)


def test_a_moved_system_prompt_is_written_again_with_all_that_follows():
    sent = [(request(1, marks=[0]), 0), (request(1, system="2", marks=[0]), 1), (request(3, system="2", marks=[2]), 2)]
    _, second, third = account(sent, rules=RULES).requests
    assert tokens_of(second) == (S + M, 0, S + M, 0)
    assert second.moved == "system[0]"
    assert third.read == S + M
    assert third.moved is None


def test_the_first_place_that_moved_is_told():
    tools = [{"name": "a", "description": "", "input_schema": {}}]
    body = request(3)
    shorter, other, more = copy.deepcopy(body), copy.deepcopy(body), copy.deepcopy(body)
    shorter["messages"].pop()
    other["messages"][1]["content"][0]["text"] = "no"
    more["messages"][0]["content"].append(text(5))
    bodies = [body, shorter, body, other, more, {**body, "tools": tools}, body, {**body, "model": "m"}]
    figures = account([(one, 0) for one in bodies], rules=RULES)
    assert [one.moved for one in figures.requests] == [
        None,
        "messages[2].content[0]",
        None,
        "messages[1].content[0]",
        "messages[0].content[1]",
        "tools[0]",
        "tools[0]",
        "model",
    ]


def test_the_order_of_keys_moves_the_prefix_and_a_marker_does_not():
    def calls(arguments):
        return {"type": "tool_use", "id": "c", "name": "t", "input": arguments}

    def of(block):
        return {"messages": [{"role": "assistant", "content": [block]}]}

    bodies = [of(calls({"a": 1, "b": 2})), of(marked(calls({"a": 1, "b": 2}))), of(calls({"b": 2, "a": 1}))]
    moved = [one.moved for one in account([(body, 0) for body in bodies], rules=RULES).requests]
    assert moved == [None, None, "messages[0].content[0]"]


@pytest.mark.parametrize(("ttl", "kept", "write"), [(None, 300, 1.25), ("1h", 3600, 2.0)])
def test_a_prefix_is_kept_so_long_after_its_last_use(ttl, kept, write):
    body = request(1, marks=[0], ttl=ttl)
    in_time, late = kept, 2 * kept + 1
    first, second, third = account([(body, 0), (body, in_time), (body, late)], rules=RULES).requests
    assert first.cost == write * (S + M)
    assert (second.read, second.expired) == (S + M, 0)  # and used again, so it would be kept until 2 * kept
    assert second.cost == pytest.approx(0.1 * (S + M))
    assert (third.read, third.expired, third.written) == (0, S + M, S + M)
    assert third.moved is None


def test_the_look_back_ends_at_20_blocks_the_marked_one_included():
    written = (request(1, marks=[0], system_mark=False), 0)
    for messages, read in ((20, S + M), (21, 0)):
        *_, last = account(
            [written, (request(messages, marks=[messages - 1], system_mark=False), 1)], rules=RULES
        ).requests
        assert last.read == read


def test_the_marked_system_prompt_is_found_when_the_messages_are_too_far_away():
    sent = [(request(1, marks=[0]), 0), (request(40, marks=[39]), 1)]
    assert account(sent, rules=RULES).requests[1].read == S


def test_a_short_prefix_is_not_kept():
    body = request(1, marks=[0])
    assert account([(body, 0), (body, 1)], rules=CacheRules(least_tokens=S + M)).requests[1].read == S + M
    assert account([(body, 0), (body, 1)], rules=CacheRules(least_tokens=S + M + 1)).plain == 2 * (S + M)


def test_each_marker_is_priced_by_its_own_ttl():
    body = {"system": [marked(text(S), "1h")], "messages": [message(0, True)]}
    (only,) = account([(body, 0)], rules=RULES).requests
    assert only.cost == pytest.approx(2.0 * S + 1.25 * M)


def test_a_marker_inside_of_a_result_ends_the_whole_block():
    result = {"type": "tool_result", "tool_use_id": "c", "content": [text(5), marked(text(5))]}
    body = {"messages": [{"role": "user", "content": [result]}]}
    assert account([(body, 0), (body, 1)], rules=RULES).requests[1].read == 10 + MESSAGE_TOKENS


def test_the_border_of_a_message_is_part_of_the_prefix():
    one = {"messages": [{"role": "user", "content": [text(5), marked(text(5))]}]}
    two = {"messages": [{"role": "user", "content": [text(5)]}, {"role": "user", "content": [marked(text(5))]}]}
    assert account([(one, 0), (two, 1)], rules=RULES).requests[1].read == 0


def test_plain_text_is_one_block():
    plain = {"system": "x", "messages": [{"role": "user", "content": "hello"}]}
    blocks = {
        "system": [{"type": "text", "text": "x"}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
    }
    assert account([(plain, 0), (blocks, 0)], rules=RULES).requests[1].moved is None


def test_a_cache_can_be_asked_request_by_request():
    cache = PromptCache(RULES)
    assert cache.send(request(1, marks=[0]), 5.0).at == 5.0
    assert cache.send(request(1, marks=[0]), 6.0).read == S + M


# ── requests rebuilt from a transcript ──────────────────────────────────────────────────────────────────────────

TOOL = ToolSpec("look", "Looks.", {"type": "object", "properties": {}})
CALL = ToolCall("c", "look", "{}")
TALK = (
    Message("user", "one"),
    Message("assistant", "", (CALL,)),
    Message("tool", "seen", tool_call_id="c", tool_name="look"),
    Message("assistant", "done"),
    Message("user", "two"),
    Message("assistant", "(interrupted)", finish_reason="interrupted"),
    Message("user", "three"),
    Message("assistant", "yes"),
)


def test_each_answer_had_a_request_of_what_stood_before_it():
    context = Context("Be brief.", TALK, (TOOL,))
    sent = list(rebuilt(context, range(8), ttl="1h"))
    expected = [
        (system_and_3(anthropic.request(Context("Be brief.", TALK[:end], (TOOL,))), ttl="1h"), end - 1)
        for end in (1, 3, 7)
    ]
    assert sent == expected
    assert [at for _, at in rebuilt(context, range(8), answers=[3, 5])] == [2]


def test_nothing_was_asked_without_an_answer():
    assert list(rebuilt(Context("", ()), [])) == []
    assert list(rebuilt(Context("", (Message("user", "one"),)), [0])) == []
    assert list(rebuilt(Context("", (Message("assistant", "hello"),)), [0])) == []


def test_a_broken_transcript_is_mended_first():
    broken = (*TALK[:2], Message("user", "still there?"), Message("assistant", "yes"))
    sent = list(rebuilt(Context("", broken), range(4)))
    assert [len(body["messages"]) for body, _ in sent] == [1, 4]
