"""A session makes room: compression, flush, nudge, and what is kept of it all."""

import json
import threading

import pytest

from girdlebook import (
    Agent,
    ContextOverflow,
    ContextTooLarge,
    Memory,
    Message,
    Reply,
    SessionMoved,
    ToolCall,
    ToolSpec,
    Usage,
)
from girdlebook.compression.summary import HEADINGS, is_summary
from girdlebook.dialects import anthropic, openai_chat
from girdlebook.errors import ModelError, ModelUnavailable, TurnError
from girdlebook.models.scripted import ScriptedModel
from girdlebook.sessions.tool import SessionSearchTool
from girdlebook.testing import assert_prefix_stable
from girdlebook.tokens import estimate_context

WEATHER = ToolSpec("weather", "The weather of a city.", {"type": "object", "properties": {}})
SUMMARY = "\n".join(f"{heading}\n- 摘要 4711" for heading in HEADINGS)
WIDE = 20_000
LONG = "很长的回答 and more of it " * 40


def says(text, usage=None):
    return Reply(Message("assistant", text), usage)


def saves(text, call_id="f"):
    return Reply(Message("assistant", "", (_add(text, call_id),)))


def _add(text, call_id="f"):
    return ToolCall(call_id, "memory", json.dumps({"action": "add", "target": "user", "content": text}))


class Auxiliary:
    """Summarises, and saves a fact when it is asked to flush; raises what it is told to."""

    name = "auxiliary"

    def __init__(self, *, fact=None, error=None, summary=SUMMARY):
        self.fact, self.error, self.summary = fact, error, summary
        self.asked = []

    def reply(self, context, on_text=None):
        self.asked.append(context)
        if self.error is not None:
            raise self.error
        if "[System: The session is being compressed" in context.messages[-1].text:
            return saves(self.fact) if self.fact else says("nothing to save")
        return Reply(Message("assistant", self.summary), Usage(50, 5))


def turn(session, text, answer=LONG):
    session.begin_turn(text)
    requests = [openai_chat.request(session.context())]
    session.add_reply(says(answer))
    session.end_turn()
    return requests


def talk(session, turns, start=0):
    return [
        request for n in range(start, start + turns) for request in turn(session, f"question {n} 端口是 {48_000 + n}？")
    ]


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path, context_length=6_000) as opened:
        yield opened


def kinds(memory, session):
    return [(one.archived, is_summary(one.message)) for one in memory.sessions.history(session.id)]


def test_the_prefix_moves_only_at_compression_and_the_window_is_never_full(memory):
    session = memory.session("Be kind.")
    requests = talk(session, 60)
    moved = [
        n
        for n in range(1, len(requests))
        if requests[n]["messages"][: len(requests[n - 1]["messages"])] != requests[n - 1]["messages"]
    ]
    assert len(moved) >= 3
    start = 0
    for end in [*moved, len(requests)]:
        assert_prefix_stable(requests[start:end])
        start = end
    assert session.turns == 60
    assert session.fill.tokens < session.fill.context_length


def test_nothing_is_lost_one_session_stays_one_and_its_first_turn_is_found(memory):
    session = memory.session()
    talk(session, 40)
    assert memory.sessions.totals().sessions == 1
    stored = memory.sessions.history(session.id)
    questions = [one.message.text for one in stored if one.message.text.startswith("question")]
    assert questions == [f"question {n} 端口是 {48_000 + n}？" for n in range(40)]
    assert sum(is_summary(one.message) for one in stored) == 1
    tool = SessionSearchTool(memory.sessions, session_id=session.id)
    (found,) = tool.answer({"query": "question 5 48005"})["results"]
    assert "48005" in json.dumps(found)
    summary = next(message for message in session.messages if is_summary(message))
    numbers = [int(word) for word in summary.text.split("messages ")[1].split(" of ")[0].split(" to ")]
    opened = tool.answer({"session_id": session.id, "around_message_id": numbers[0]})
    assert opened["messages"]
    assert "[CONTEXT COMPACTION" not in json.dumps(tool.answer({"session_id": session.id}))


def test_L3_52_an_entry_written_before_is_in_the_next_requests_system_block(memory):
    session = memory.session(context_length=WIDE)
    talk(session, 16)
    session.begin_turn("please remember")
    session.add_reply(Reply(Message("assistant", "", (_add("喜欢绿茶"),))))
    assert "喜欢绿茶" not in session.context().system
    session.add_reply(says("ok"))
    session.end_turn()
    assert session.compress().kind == "digest"
    session.begin_turn("and now?")
    assert "喜欢绿茶" in session.context().system
    assert memory.sessions.prompt_of(session.id)[0] == session.context().system


def test_a_compressed_session_goes_on_after_a_stop_byte_for_byte(tmp_path):
    with Memory.open(tmp_path, context_length=6_000) as memory:
        session = memory.session(context_length=WIDE)
        talk(session, 19)
        assert session.compress().kind == "digest"
        before = turn(session, "one more")
        messages = session.messages
    with Memory.open(tmp_path, context_length=WIDE) as memory:
        resumed = memory.resume(session.id)
        assert (resumed.messages, resumed.turns) == (messages, 20)
        resumed.begin_turn("still there?")
        assert_prefix_stable([before[-1], openai_chat.request(resumed.context())])
        resumed.add_reply(says("yes"))
        resumed.end_turn()
        talk(resumed, 12)
        assert resumed.compress().kind == "digest"
        assert memory.resume(session.id).messages == resumed.messages


def test_L3_31_what_comes_after_a_compression_is_stored_once(memory):
    session = memory.session()
    talk(session, 8)
    session.compress()
    talk(session, 3, start=100)
    texts = [one.message.text for one in memory.sessions.history(session.id)]
    assert [texts.count(f"question {n} 端口是 {48_000 + n}？") for n in (100, 101, 102)] == [1, 1, 1]


def test_the_summary_is_the_auxiliary_models_and_its_cost_is_counted(tmp_path):
    auxiliary = Auxiliary()
    with Memory.open(tmp_path, context_length=6_000, auxiliary_model=auxiliary) as memory:
        session = memory.session(context_length=WIDE)
        talk(session, 16)
        result = session.compress("the ports")
        assert (result.kind, result.summary) == ("summary", SUMMARY)
        assert "the ports" in auxiliary.asked[-1].messages[0].text
        usage = {one.task: one for one in memory.sessions.usage(session.id)}
        assert (usage["compression"].model, usage["compression"].usage) == ("auxiliary", result.usage)
        assert any("Compressed" in text for text in session.notices)


def test_the_flush_saves_before_and_only_the_memory_tool_is_offered_to_the_auxiliary_model(tmp_path):
    auxiliary = Auxiliary(fact="喜欢绿茶")
    with Memory.open(tmp_path, context_length=6_000, auxiliary_model=auxiliary) as memory:
        session = memory.session(tools=[WEATHER], context_length=WIDE)
        talk(session, 16)
        before = session.messages
        session.compress()
        flush = auxiliary.asked[0]
        assert [tool.name for tool in flush.tools] == ["memory"]
        assert flush.messages[:-1] == before
        assert memory.store.entries("user") == ("喜欢绿茶",)
        assert "[System: The session is being compressed" not in str(memory.sessions.history(session.id))
        session.begin_turn("x")
        assert "喜欢绿茶" in session.context().system


def test_the_flush_on_the_main_model_keeps_its_prefix_and_refuses_other_calls(memory):
    both = Reply(Message("assistant", "", (ToolCall("w", "weather"), _add("叫小林"))))
    main = ScriptedModel(both, SUMMARY)
    session = memory.session(tools=[WEATHER], main_model=main, context_length=WIDE)
    requests = talk(session, 16)
    session.compress()
    asked = {key: value for key, value in main.requests[0].items() if key != "model"}
    assert_prefix_stable([requests[-1], asked])
    assert [tool["function"]["name"] for tool in asked["tools"]] == ["memory", "session_search", "weather"]
    assert memory.store.entries("user") == ("叫小林",)
    assert session.pending_calls == ()


@pytest.mark.parametrize("error", [ModelError("rubbish"), ModelUnavailable("no key")])
def test_a_flush_that_fails_costs_nothing_but_a_word(tmp_path, error):
    with Memory.open(tmp_path, context_length=6_000, auxiliary_model=Auxiliary(error=error)) as memory:
        session = memory.session()
        talk(session, 7)
        session.close()
        assert any("not flushed" in text for text in session.notices)
        assert memory.sessions.session(session.id).end_reason == "closed"


def test_a_flush_that_hangs_is_given_up_and_what_comes_later_is_thrown_away(tmp_path):
    released = threading.Event()

    class Hanging(Auxiliary):
        def reply(self, context, on_text=None):
            released.wait(10)
            return saves("too late")

    (tmp_path / "config.yaml").write_text("auxiliary: {flush_memories: {timeout: 0.1}}\n")
    with Memory.open(tmp_path, auxiliary_model=Hanging()) as memory:
        session = memory.session()
        talk(session, 6)
        session.close()
        released.set()
        assert any("within 0.1 seconds" in text for text in session.notices)
        assert memory.store.entries("user") == ()


@pytest.mark.parametrize(("turns", "setting", "flushes"), [(5, 6, 0), (6, 6, 1), (9, 0, 0), (2, 2, 1)])
def test_the_end_of_a_session_is_flushed_from_enough_turns_on(tmp_path, turns, setting, flushes):
    (tmp_path / "config.yaml").write_text(f"memory: {{flush_min_turns: {setting}}}\n")
    auxiliary = Auxiliary()
    with Memory.open(tmp_path, auxiliary_model=auxiliary) as memory:
        session = memory.session()
        talk(session, turns)
        session.close()
        assert len(auxiliary.asked) == flushes


def test_a_session_that_was_gone_on_with_flushes_only_its_new_turns(tmp_path):
    auxiliary = Auxiliary()
    with Memory.open(tmp_path, auxiliary_model=auxiliary) as memory:
        session = memory.session()
        talk(session, 6)
        session.close()
        resumed = memory.resume(session.id)
        talk(resumed, 1)
        resumed.close()
        assert len(auxiliary.asked) == 1


def test_L3_22_a_summary_that_cannot_be_had_backs_off_is_told_and_survives_a_restart(tmp_path):
    auxiliary = Auxiliary(error=ModelUnavailable("quota"))
    (tmp_path / "config.yaml").write_text(
        "memory: {flush_min_turns: 0, memory_enabled: false, user_profile_enabled: false}\n"
    )
    with Memory.open(tmp_path, context_length=6_000, auxiliary_model=auxiliary) as memory:
        session = memory.session()
        talk(session, 12)
        assert len(auxiliary.asked) == 1
        assert sum("pauses" in text for text in session.notices) == 1
        resumed = memory.resume(session.id)
        talk(resumed, 2, start=50)
        assert len(auxiliary.asked) == 1
        auxiliary.error = None
        assert resumed.compress().kind == "summary"


def test_over_the_window_a_digest_makes_room_at_any_price(tmp_path):
    with Memory.open(tmp_path, context_length=6_000, auxiliary_model=Auxiliary(error=ModelUnavailable("x"))) as memory:
        session = memory.session()
        talk(session, 60)
        assert session.fill.tokens < session.fill.context_length
        assert any(is_summary(message) for message in session.messages)


def test_L3_20_where_nothing_can_be_compressed_it_is_tried_once_and_said(memory):
    session = memory.session()
    session.begin_turn("x" * 9_000)
    for number in range(4):
        session.context()
        session.add_reply(Reply(Message("assistant", "", (ToolCall(f"c{number}", "session_search", "{}"),))))
    assert sum("not compressed" in text for text in session.notices) <= 1


def test_L3_37_of_two_that_compress_one_session_the_second_changes_nothing(memory):
    session = memory.session()
    talk(session, 8)
    other = memory.resume(session.id)
    session.compress()
    before = kinds(memory, session)
    with pytest.raises(SessionMoved):
        other.compress()
    assert kinds(memory, session) == before


def test_L3_29_a_failure_while_swapping_leaves_the_transcript(memory):
    session = memory.session()
    talk(session, 8)
    before = (session.messages, kinds(memory, session), session.context().system)
    memory.close()
    with pytest.raises(Exception, match="closed"):
        session.compress()
    assert (session.messages, session.context().system) == (before[0], before[2])


def test_L3_56_an_interrupted_compression_stores_nothing(tmp_path):
    class Interrupted(Auxiliary):
        def reply(self, context, on_text=None):
            if context.tools:
                return says("nothing to save")
            raise KeyboardInterrupt

    with Memory.open(tmp_path, context_length=WIDE) as memory:
        session = memory.session()
        talk(session, 16)
        before = kinds(memory, session)
    with Memory.open(tmp_path, context_length=WIDE, auxiliary_model=Interrupted()) as memory:
        resumed = memory.resume(session.id)
        with pytest.raises(KeyboardInterrupt):
            resumed.compress()
        assert kinds(memory, resumed) == before
        assert resumed.messages == session.messages


def test_what_cannot_fit_is_named_with_its_sizes(memory):
    session = memory.session("instructions " * 4_000)
    session.begin_turn("x")
    with pytest.raises(ContextTooLarge, match=r"system prompt and the tools take [\d,]+ tokens"):
        session.context()
    other = memory.session()
    other.begin_turn("word " * 9_000)
    with pytest.raises(ContextTooLarge, match=r"the message takes [\d,]+ tokens"):
        other.context()


def test_L3_42_tools_count(memory):
    tools = [ToolSpec(f"tool_{n}", "What it does. " * 10, {"type": "object"}) for n in range(200)]
    session = memory.session(tools=tools)
    session.begin_turn("hi")
    with pytest.raises(ContextTooLarge):
        session.context()


def test_the_models_own_figure_counts_more_than_the_estimate(memory):
    session = memory.session()
    session.begin_turn("one")
    session.add_reply(says("two", Usage(2_900, 50)))
    session.end_turn()
    assert session.fill.tokens == 2_950
    session.begin_turn("three")
    assert 2_950 < session.fill.tokens < 3_000


class Narrow:
    """A model whose window is smaller than it is thought to be."""

    name = "narrow"
    summarises = False

    def __init__(self, limit, *, says_limit=True):
        self.limit, self.says_limit = limit, says_limit
        self.requests = []

    def reply(self, context, on_text=None):
        if estimate_context(context) > self.limit:
            raise ContextOverflow("too long", limit=self.limit if self.says_limit else None)
        self.requests.append(openai_chat.request(context))
        return says("answer " * 60)


@pytest.mark.parametrize("says_limit", [True, False])
def test_an_overflow_is_learned_from_and_the_request_sent_again(tmp_path, says_limit):
    model = Narrow(8_000, says_limit=says_limit)
    with Memory.open(tmp_path) as memory, Agent(model, memory, context_length=1_000_000) as agent:
        for number in range(30):
            assert agent.run(f"question {number} " * 100).stopped == "answered"
        assert agent.session.fill.context_length <= 8_000
        assert len(model.requests) == 30


def test_an_overflow_that_nothing_helps_is_the_callers(tmp_path):
    with Memory.open(tmp_path) as memory, Agent(Narrow(10), memory) as agent:
        with pytest.raises((ContextOverflow, ContextTooLarge)):
            agent.run("hello")
        assert agent.session.in_turn is False


def test_the_nudge_comes_after_enough_turns_and_is_replayed_byte_for_byte(tmp_path):
    (tmp_path / "config.yaml").write_text("memory: {nudge_interval: 3}\n")
    with Memory.open(tmp_path) as memory:
        session = memory.session()
        requests = talk(session, 7)
        nudged = [n for n, m in enumerate(m for m in session.messages if m.role == "user") if m.attachments]
        assert nudged == [2, 5]
        assert_prefix_stable(requests)
        assert "memory tool" in requests[2]["messages"][-1]["content"]
        assert [m.text for m in session.messages if m.role == "user"][2] == "question 2 端口是 48002？"
        session.begin_turn("remember this")
        session.add_reply(saves("a fact"))
        session.add_reply(says("ok"))
        session.end_turn()
        resumed = memory.resume(session.id)
        later = talk(resumed, 3, start=20)
        assert_prefix_stable([requests[-1], *later])
        assert [bool(m.attachments) for m in resumed.messages if m.role == "user"][-3:] == [False, False, True]


def test_no_nudge_where_it_or_memory_is_off(tmp_path):
    for text in ("memory: {nudge_interval: 0}", "memory: {memory_enabled: false, user_profile_enabled: false}"):
        (tmp_path / "config.yaml").write_text(text)
        with Memory.open(tmp_path) as memory:
            session = memory.session()
            talk(session, 12)
            assert not any(message.attachments for message in session.messages)


def test_compression_can_be_switched_off(tmp_path):
    (tmp_path / "config.yaml").write_text("compression: {enabled: false}\n")
    with Memory.open(tmp_path, context_length=3_000) as memory:
        session = memory.session()
        talk(session, 20)
        assert len(session.messages) == 40
        assert session.compress().kind == "digest"


def test_a_closed_session_makes_no_room(memory):
    session = memory.session()
    talk(session, 2)
    session.close()
    with pytest.raises(TurnError):
        session.compress()


def test_both_dialects_take_a_compressed_transcript(memory):
    session = memory.session()
    talk(session, 30)
    session.begin_turn("x")
    anthropic.request(session.context())
    openai_chat.request(session.context())


def test_three_compressions_and_a_question_answered_from_the_first_turn(tmp_path):
    search = ToolCall("s", "session_search", '{"query": "harbour pin"}')
    script = [LONG, LONG, "The harbour pin is 4711, noted.", *[LONG] * 43]
    with Memory.open(tmp_path, context_length=6_000) as memory:
        model = ScriptedModel(*script, search, "It is 4711; you said so at the beginning.")
        model.summarises = False
        with Agent(model, memory) as agent:
            agent.run("hello")
            agent.run("hello again")
            agent.run("Remember that the harbour pin is 4711, please.")
            for number in range(43):
                agent.run(f"question {number} about other things")
            compressed = sum("Compressed" in text for text in agent.session.notices)
            answer = agent.run("What was the harbour pin?")
            assert compressed >= 3
            assert answer.text.startswith("It is 4711")
            found = json.loads(next(m.text for m in reversed(agent.session.messages) if m.role == "tool"))
            assert any("4711" in json.dumps(result) for result in found["results"])
