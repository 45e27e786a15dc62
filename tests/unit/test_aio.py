"""The asyncio twins: the same words, the same effects, nothing overlapping."""

import asyncio
import inspect
import threading

import pytest

from girdlebook import (
    AsyncMemory,
    AsyncMemorySession,
    Memory,
    MemorySession,
    Message,
    Reply,
    StoreError,
    TurnError,
    Usage,
)
from girdlebook.sessions.sqlite import SQLiteSessionStore


def says(text):
    return Reply(Message("assistant", text), Usage(3, 1))


def public(kind):
    return {name for name, _ in inspect.getmembers(kind) if not name.startswith("_")}


@pytest.mark.parametrize(("twin", "original"), [(AsyncMemory, Memory), (AsyncMemorySession, MemorySession)])
def test_names_parameters_and_words_are_those_of_the_original(twin, original):
    of_memory = {"home", "config", "user_id", "store", "ledger"}
    attributes = {"id", "usage", "turns"} if original is MemorySession else of_memory
    assert public(twin) == public(original) | attributes
    for name in public(original):
        mine, theirs = inspect.getattr_static(twin, name), inspect.getattr_static(original, name)
        assert isinstance(mine, property) == isinstance(theirs, property)
        assert inspect.getdoc(getattr(twin, name)) == inspect.getdoc(getattr(original, name)), name
        if not isinstance(mine, property):
            parameters = [inspect.signature(getattr(kind, name)).parameters for kind in (twin, original)]
            assert parameters[0] == parameters[1], name
            assert inspect.iscoroutinefunction(getattr(twin, name)) or name == "for_user"


def test_a_conversation(tmp_path):
    async def talk():
        async with await AsyncMemory.open(tmp_path) as memory:
            async with await memory.session("Be brief.", title="茶") as session:
                await session.begin_turn("我喜欢绿茶")
                assert session.awaiting_model
                assert (await session.context()).messages[-1].text == "我喜欢绿茶"
                await session.add_reply(says("好"))
                await session.end_turn()
                with pytest.raises(TurnError):
                    await session.end_turn()
                first = session.id
            resumed = await memory.resume("茶")
            assert (resumed.id, resumed.turns, resumed.last_text) == (first, 1, "好")
            await resumed.begin_turn("again")
            await resumed.interrupt("given up")
            assert resumed.messages[-1].text == "(given up)"
        return first

    first = asyncio.run(talk())
    with Memory.open(tmp_path) as memory:
        assert len(memory.sessions.messages(first)) == 4


def test_the_event_loop_stays_free_while_a_thread_waits(tmp_path):
    async def scene():
        async with await AsyncMemory.open(tmp_path) as memory:
            session = await memory.session()
            await session.begin_turn("x")
            ticks, held, done = 0, threading.Event(), threading.Event()
            blocker = SQLiteSessionStore.open(tmp_path / "state.db")

            def hold():
                with blocker.database.write():
                    held.set()
                    done.wait(10)

            holder = threading.Thread(target=hold)
            holder.start()
            held.wait(10)
            writing = asyncio.create_task(session.add_reply(says("y")))
            for _ in range(20):
                await asyncio.sleep(0.005)
                ticks += 1
            assert not writing.done()
            done.set()
            holder.join()
            await writing
            blocker.close()
            return ticks

    assert asyncio.run(scene()) == 20


def test_who_is_cancelled_leaves_a_transcript_that_the_next_call_finds_in_order(tmp_path):
    async def scene():
        async with await AsyncMemory.open(tmp_path) as memory:
            session = await memory.session()
            await session.begin_turn("x")
            answering = asyncio.create_task(session.add_reply(says("y")))
            await asyncio.sleep(0)
            answering.cancel()
            with pytest.raises(asyncio.CancelledError):
                await answering
            await session.interrupt()
            return [message.role for message in session.messages]

    assert asyncio.run(scene()) == ["user", "assistant"]


def test_users_are_apart(tmp_path):
    async def scene():
        async with await AsyncMemory.open(tmp_path, user_id="ann") as ann:
            bo = ann.for_user("bo")
            session = await ann.session()
            await session.begin_turn("secret")
            assert bo.user_id == "bo"
            assert bo.own_sessions.recent() == []
            assert len(ann.own_sessions.recent()) == 1

    asyncio.run(scene())


def test_two_hundred_sessions_at_once_lose_nothing(tmp_path):
    async def one(memory, number):
        session = await memory.session()
        for turn in range(2):
            await session.begin_turn(f"会话 {number} turn {turn}")
            await session.add_reply(says(f"answer {number}/{turn}"))
            await session.end_turn()
        await session.close()
        return session.id

    async def all_of_them():
        async with await AsyncMemory.open(tmp_path) as memory:
            return await asyncio.gather(*(one(memory, number) for number in range(200)))

    ids = asyncio.run(all_of_them())
    with Memory.open(tmp_path) as memory:
        assert memory.sessions.totals().messages == 800
        for number, session_id in enumerate(ids):
            texts = [stored.message.text for stored in memory.sessions.messages(session_id)]
            assert texts == [
                f"会话 {number} turn 0",
                f"answer {number}/0",
                f"会话 {number} turn 1",
                f"answer {number}/1",
            ]


def test_closing_twice_does_nothing_and_a_closed_memory_says_so(tmp_path):
    async def scene():
        memory = await AsyncMemory.open(tmp_path)
        session = await memory.session()
        async with memory.for_user("ann"):
            pass
        await memory.close()
        await memory.close()
        with pytest.raises(StoreError, match="closed"):
            await session.begin_turn("x")

    asyncio.run(scene())


def test_who_is_cancelled_twice_waits_all_the_same(tmp_path):
    async def scene():
        async with await AsyncMemory.open(tmp_path) as memory:
            session = await memory.session()
            answering = asyncio.create_task(session.begin_turn("x"))
            await asyncio.sleep(0)
            for _ in range(2):
                answering.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await answering
            assert session.in_turn

    asyncio.run(scene())
