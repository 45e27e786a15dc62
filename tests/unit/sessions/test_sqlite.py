"""The SQLite session store."""

import datetime
import sqlite3
import stat
import threading
from contextlib import closing
from dataclasses import replace
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from girdlebook.database import Database
from girdlebook.errors import AmbiguousSession, ScopeError, SessionNotFound, StoreCorrupt, StoreError, TitleError
from girdlebook.messages import Attachment, ImagePart, Message, OpaquePart, TextPart, ToolCall, Usage
from girdlebook.sessions.filters import SessionFilter
from girdlebook.sessions.fulltext import FullTextIndex
from girdlebook.sessions.query import parse
from girdlebook.sessions.rows import call_words, content_words
from girdlebook.sessions.schema import sqlite_schema
from girdlebook.sessions.sqlite import EVERYBODY, SQLiteSessionStore
from girdlebook.sessions.store import DayActivity
from girdlebook.sessions.transfer import export_lines, import_lines


@pytest.fixture
def path(tmp_path):
    return tmp_path / "家 🏠" / "state.db"


@pytest.fixture
def store(path):
    with SQLiteSessionStore.open(path) as opened:
        yield opened


def fill(store, *texts, session="s", role="user"):
    store.create_session(session, source="test")
    return store.append_many(session, [Message(role, text) for text in texts])


def found(store, query, **narrowed):
    return [hit.message_id for hit in store.search(query, **narrowed)]


def check_index(path):
    """FTS5's own comparison of the index with the messages; raises where they differ."""
    with SQLiteSessionStore.open(path) as store, store._database.write() as connection:
        connection.execute("INSERT INTO messages_fts(messages_fts, rank) VALUES ('integrity-check', 1)")


any_text = st.text(st.characters(exclude_categories=()), max_size=40)
any_message = st.one_of(
    st.builds(Message, role=st.sampled_from(["user", "assistant", "system"]), content=any_text, reasoning=any_text),
    st.builds(
        Message,
        role=st.just("assistant"),
        content=any_text,
        tool_calls=st.tuples(st.builds(ToolCall, any_text, any_text, any_text)),
        finish_reason=any_text,
    ),
    st.builds(Message, role=st.just("tool"), content=any_text, tool_call_id=any_text, is_error=st.booleans()),
    st.builds(
        Message,
        role=st.just("user"),
        content=st.tuples(
            st.builds(TextPart, any_text),
            st.builds(ImagePart, any_text, st.just("image/png")),
            st.builds(OpaquePart, st.just("v"), st.dictionaries(any_text, st.integers())),
        ),
        attachments=st.tuples(st.builds(Attachment, st.just("recall"), any_text)),
    ),
)


@settings(max_examples=60, deadline=None)
@given(messages=st.lists(any_message, min_size=1, max_size=5))
def test_L2_50_any_message_comes_back_equal_and_the_index_stays_true(tmp_path_factory, messages):
    path = tmp_path_factory.mktemp("any") / "state.db"
    with SQLiteSessionStore.open(path) as store:
        store.create_session("s", source="test")
        for message in messages:
            store.append("s", message)
        assert [stored.message for stored in store.messages("s")] == messages
    check_index(path)


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["部署测试环境", "payments due", "🌙"])), max_size=12)
)
def test_deletes_leave_nothing_in_the_index(tmp_path_factory, steps):
    path = tmp_path_factory.mktemp("del") / "state.db"
    with SQLiteSessionStore.open(path) as store:
        for name, text in steps:
            fill(store, text, session=name)
        for name in {name for name, _ in steps}:
            store.delete_session(name)
        assert store.search("测试环境 payment") == []
    check_index(path)
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT count(*) FROM messages_fts_docsize").fetchone() == (0,)


@given(query=st.text(st.characters(exclude_categories=())))
@settings(max_examples=150, deadline=None)
def test_no_query_raises(shared_store, query):
    shared_store.search(query)


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory):
    with SQLiteSessionStore.open(tmp_path_factory.mktemp("shared") / "state.db") as store:
        fill(
            store,
            "部署网关到测试环境已完成",
            "error-log in src/app.py at 10.0.0.1, v2.1",
            "100% of a_b",
            "1000 sure",
            "axb",
        )
        yield store


@pytest.mark.parametrize(
    "query", ["a" * 100_000, "测" * 5_000, '"', "(((", "NEAR(a b)", "words:x", "*", "-", "\0", "\ud800"]
)
def test_odd_queries_are_answered(shared_store, query):
    shared_store.search(query)


def test_L2_01_an_inner_chinese_word_is_found(store):
    assert found(store, "测试环境") == []
    [first] = fill(store, "部署网关到测试环境已完成")
    assert found(store, "测试环境") == [first]


def test_L2_03_two_character_words_joined_by_or_are_both_found(store):
    first, second, _ = fill(store, "合同已签", "发票寄出", "别的事")
    assert sorted(found(store, "合同 OR 发票")) == [first, second]


def test_L2_05_a_latin_name_in_chinese_text_is_found(store):
    [first] = fill(store, "部署nimbus网关到测试环境")
    assert found(store, "nimbus") == [first]


@pytest.mark.parametrize("query", ["error-log", "error-log OR archive", "v2.1", "src/app.py", "10.0.0.1"])
def test_L2_09_L2_10_signs_in_a_query_are_no_syntax(shared_store, query):
    assert "error-log" in shared_store.messages("s")[1].message.text
    assert found(shared_store, query)[0] == 2


def test_L2_13_percent_and_underscore_are_no_wildcards(shared_store):
    assert found(shared_store, "100%") == [3]
    assert found(shared_store, "a_b") == [3]


def test_L2_19_a_word_in_message_50_of_100_is_found(store):
    ids = fill(store, *(f"line {n}" if n != 50 else "line with a zeppelin" for n in range(100)))
    assert found(store, "zeppelin") == [ids[50]]


def test_L2_20_tool_names_and_arguments_are_found_when_asked_for(store):
    store.create_session("s", source="test")
    number = store.append("s", Message("assistant", "", tool_calls=(ToolCall("1", "deploy", '{"host": "gamma"}'),)))
    assert found(store, "gamma") == []
    assert found(store, "gamma", roles=["assistant", "tool"]) == [number]
    assert found(store, "deploy", roles=["assistant", "tool"]) == [number]


def test_a_plain_question_finds_its_answer_first(store):
    ids = fill(
        store, "We talked about trains.", "The database port is 6432.", "I like ports in winter.", "数据库端口是 6432"
    )
    assert found(store, "What is the port of our database?")[0] == ids[1]
    assert found(store, "数据库端口是多少？")[0] == ids[3]


def test_rows_with_every_word_come_before_rows_with_some(store):
    ids = fill(store, "alpha alpha alpha", "x", "alpha beta gamma", "y", "beta")
    assert found(store, "alpha beta gamma")[0] == ids[2]


def test_search_can_be_narrowed(store):
    fill(store, "moon", session="a")
    [other] = fill(store, "moon", session="b", role="assistant")
    assert found(store, "moon", session_id="b") == [other]
    assert found(store, "moon", roles=["assistant"]) == [other]
    assert len(found(store, "moon", limit=1)) == 1


def test_L2_24_a_store_bound_to_a_user_knows_nobody_else(store):
    ann, bob = store.for_user("ann"), store.for_user("bob")
    for who, name in ((ann, "a"), (bob, "b")):
        who.create_session(name, source="test")
        who.append(name, Message("user", f"secret {name}"))
    assert [hit.session_id for hit in bob.search("secret")] == ["b"]
    assert [record.id for record in bob.recent()] == ["b"]
    for forbidden in (
        lambda: bob.session("a"),
        lambda: bob.messages("a"),
        lambda: bob.append("a", Message("user", "x")),
        lambda: bob.end_session("a", "x"),
        lambda: bob.delete_session("a"),
        lambda: bob.around(ann.messages("a")[0].id),
    ):
        with pytest.raises(SessionNotFound):
            forbidden()
    for forbidden in (
        lambda: bob.search("secret", user_id="ann"),
        lambda: bob.for_user("ann"),
        lambda: bob.create_session("c", source="test", user_id="ann"),
        lambda: bob.create_session("a", source="test"),
    ):
        with pytest.raises(ScopeError):
            forbidden()
    assert bob.search("secret", session_id="a") == []


def test_an_append_that_is_tried_again_is_stored_once(store):
    store.create_session("s", source="test")
    first = store.append("s", Message("user", "hi"), client_id="k", usage=Usage(1, 1))
    assert store.append("s", Message("user", "hi"), client_id="k", usage=Usage(1, 1)) == first
    assert store.session("s").message_count == 1
    assert store.session("s").usage == Usage(1, 1)


def test_several_messages_go_in_together_or_not_at_all(store):
    store.create_session("s", source="test")
    with pytest.raises(AttributeError):
        store.append_many("s", [Message("user", "a"), "no message"])
    assert store.messages("s") == []
    with pytest.raises(ValueError, match="argument 2"):
        store.append_many("s", [Message("user", "a")], timestamps=[1.0, 2.0])


def test_counters_and_last_activity_are_kept(store):
    store.create_session("old", source="test", started_at=10.0)
    store.create_session("new", source="test", started_at=20.0)
    store.append(
        "old", Message("assistant", "x", tool_calls=(ToolCall("1", "t"),)), timestamp=30.0, usage=Usage(5, 2, 3)
    )
    record = store.session("old")
    assert (record.message_count, record.tool_call_count, record.last_active) == (1, 1, 30.0)
    assert record.usage == Usage(5, 2, 3)
    assert [r.id for r in store.recent()] == ["old", "new"]
    assert [r.id for r in store.recent(limit=1, offset=1)] == ["new"]


def test_no_price_is_ever_guessed(store):
    store.create_session("s", source="test")
    store.append("s", Message("assistant", "x"), usage=Usage(5, 2))
    assert store.session("s").usage.cost_usd is None
    store.append("s", Message("assistant", "x"), usage=Usage(5, 2, cost_usd=0.5))
    assert store.session("s").usage.cost_usd == 0.5


def test_a_session_that_exists_is_left_as_it_is(store):
    store.create_session("s", source="test", title="first")
    assert store.create_session("s", source="other", title="second").title == "first"


def test_the_first_end_reason_stays(store):
    store.create_session("s", source="test")
    store.end_session("s", "closed")
    store.end_session("s", "again")
    assert store.session("s").end_reason == "closed"


def test_around_gives_the_neighbours_of_a_message(store):
    ids = fill(store, *"abcdefg")
    assert [m.message.text for m in store.around(ids[3], window=2)] == list("bcdef")
    assert [m.message.text for m in store.around(ids[0], window=2)] == list("abc")
    with pytest.raises(StoreError, match="no message"):
        store.around(999)


def test_an_unknown_session_is_named(store):
    for asked in (store.session, store.messages, lambda name: store.append(name, Message("user", "x"))):
        with pytest.raises(SessionNotFound, match="nowhere"):
            asked("nowhere")


def test_L2_32_a_damaged_index_keeps_no_message_from_being_stored(path):
    with SQLiteSessionStore.open(path) as store:
        fill(store, "the moon is full")
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE messages_fts_data SET block = x'00'")
    with SQLiteSessionStore.open(path) as store:
        store.append("s", Message("user", "another moon"))
        assert [m.message.text for m in store.messages("s")] == ["the moon is full", "another moon"]
        assert len(store.search("moon")) == 2
        assert store.degraded


def test_a_file_that_is_no_database_is_an_error_and_stays(path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"precious text, not a database" * 100)
    with pytest.raises(StoreCorrupt, match=r"state\.db"):
        SQLiteSessionStore.open(path)
    assert path.read_bytes().startswith(b"precious")


def test_a_newer_file_is_read_and_never_written(path):
    with SQLiteSessionStore.open(path) as store:
        session = store.create_session(source="cli")
        store.append(session.id, Message("user", "旧的消息"))
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version=99")
        raw.commit()
    with SQLiteSessionStore.open(path) as store:
        assert [hit.session_id for hit in store.search("消息")] == [session.id]
        with pytest.raises(StoreError, match="upgrade"):
            store.append(session.id, Message("user", "more"))
        assert "upgrade" in (store.read_only or "")


def test_files_are_private_whatever_the_umask(path):
    import os

    before = os.umask(0)
    try:
        with SQLiteSessionStore.open(path) as store:
            fill(store, "x")
            modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert modes == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_closed_store_says_so(path):
    store = SQLiteSessionStore.open(path)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.recent()


OLD_STEP = (resources.files("girdlebook.sessions") / "sql" / "sqlite" / "0001_sessions.sql").read_text("utf-8")


def old_file(path):
    """A file of schema 1 with a message in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as raw:
        raw.create_function("girdle_words", 1, content_words, deterministic=True)
        raw.create_function("girdle_call_words", 2, call_words, deterministic=True)
        raw.executescript(OLD_STEP)
        raw.execute("INSERT INTO sessions (id, source, started_at, last_active) VALUES ('old', 'cli', 5, 5)")
        raw.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('old', 'user', '旧消息', 7)")
        raw.execute("INSERT INTO messages_fts(messages_fts) VALUES ('rebuild')")
        raw.execute("PRAGMA user_version=1")
        raw.commit()


def test_L2_43_an_old_file_gets_what_it_lacks_and_keeps_a_copy(path):
    old_file(path)
    with SQLiteSessionStore.open(path) as store:
        assert store.recent()[0].project is None
        assert store.search("旧消息")
        store.append("old", Message("user", "new"), usage=Usage(3, 2), model="m")
        assert store.usage("old")[0].usage == Usage(3, 2)
    with closing(sqlite3.connect(path.with_name("state.db.schema-1"))) as copy:
        assert copy.execute("SELECT content FROM messages").fetchall() == [("旧消息",)]


def test_L2_43_columns_are_compared_whatever_the_version_says(path):
    SQLiteSessionStore.open(path).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("INSERT INTO sessions (id, source, started_at, last_active) VALUES ('old', 'cli', 5, 5)")
        raw.execute("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('old', 'user', 'x', 7)")
        raw.execute("DROP INDEX sessions_by_activity")
        for column in ("last_active", "message_count", "model_config"):
            raw.execute(f"ALTER TABLE sessions DROP COLUMN {column}")
        raw.commit()
    with SQLiteSessionStore.open(path) as store:
        [record] = store.recent()
        assert (record.last_active, record.message_count) == (7, 1)
        store.append("old", Message("user", "y"))
        assert store.session("old").message_count == 2


def test_L2_46_an_old_file_shows_its_rows_to_a_reader_and_is_left_as_it_is(path):
    old_file(path)
    before = path.read_bytes()
    with SQLiteSessionStore.open_read_only(path) as store:
        assert [record.id for record in store.recent()] == ["old"]
        assert [hit.session_id for hit in store.search("旧消息")] == ["old"]
        with pytest.raises(StoreError, match="reading only"):
            store.rename("old", "x")
    assert path.read_bytes() == before


def test_a_reader_sees_what_a_running_writer_stored(path):
    with SQLiteSessionStore.open(path) as writer:
        session = writer.create_session(source="cli")
        writer.append(session.id, Message("user", "现在"))
        with SQLiteSessionStore.open_read_only(path) as reader:
            assert [stored.message.text for stored in reader.messages(session.id)] == ["现在"]


def test_titles_are_cleaned_and_unlike_one_another(store):
    first = store.create_session(source="cli", title="  旅行\u200b\n计划 ")
    second = store.create_session(source="cli")
    assert first.title == "旅行 计划"
    with pytest.raises(TitleError, match=first.id):
        store.rename(second.id, "旅行 计划")
    free = store.free_title("旅行 计划")
    assert store.rename(second.id, free).title == "旅行 计划 #2"
    assert store.create_session(source="cli", user_id="u", title="旅行 计划").title == "旅行 计划"
    with pytest.raises(TitleError, match="100"):
        store.rename(second.id, "长" * 101)
    assert store.rename(second.id, "  ").title is None


def test_a_session_is_found_by_id_beginning_and_title(store):
    old = store.create_session("20260101-aa", source="cli", title="plan", started_at=1.0)
    new = store.create_session("20260102-bb", source="cli", title="plan #2", started_at=2.0)
    assert store.resolve("20260101-aa").id == old.id
    assert store.resolve("20260102").id == new.id
    assert store.resolve("plan").id == new.id
    with pytest.raises(AmbiguousSession, match="20260101-aa"):
        store.resolve("2026")
    for nothing in ("", "%", "nobody"):
        with pytest.raises(SessionNotFound):
            store.resolve(nothing)


def test_usage_is_counted_by_model_and_task_and_unknown_prices_stay_unknown(store):
    session = store.create_session(source="cli")
    store.append(session.id, Message("assistant", "a"), usage=Usage(10, 5, 8, 1, 2), model="big")
    store.append(session.id, Message("assistant", "b"), usage=Usage(20, 5, cost_usd=0.5), model="big")
    store.record_usage(session.id, Usage(7, 1), model="small", task="summary")
    used = {(one.model, one.task): (one.calls, one.usage) for one in store.usage(session.id)}
    assert used == {
        ("big", "chat"): (2, Usage(30, 10, 8, 1, 2, 0.5)),
        ("small", "summary"): (1, Usage(7, 1)),
    }
    assert store.session(session.id).usage == Usage(37, 11, 8, 1, 2, 0.5)


def test_L2_18_paging_shows_every_session_once(store):
    ids = {store.create_session(source="cli", started_at=float(n // 7)).id for n in range(120)}
    pages = [store.recent(limit=50, offset=offset) for offset in (0, 50, 100)]
    listed = [record.id for page in pages for record in page]
    assert len(listed) == 120
    assert set(listed) == ids


def test_lists_and_searches_are_narrowed_to_source_time_and_project(store):
    here = store.create_session(source="cli", project="/home/ana/project", started_at=10.0)
    below = store.create_session(source="cron", project="/home/ana/project/docs", started_at=20.0)
    beside = store.create_session(source="cli", project="/home/ana/project-2", started_at=30.0)
    for number, record in enumerate((here, below, beside), 1):
        store.append(record.id, Message("user", "部署完成"), timestamp=number * 10.0)

    def found(**fields):
        return {hit.session_id for hit in store.search("部署", where=SessionFilter(**fields))}

    assert found(project="/home/ana/project/") == {here.id, below.id}
    assert found(sources=("cron",)) == {below.id}
    assert found(excluded_sources=("cron",)) == {here.id, beside.id}
    assert found(since=20.0, until=30.0) == {below.id}
    assert [record.id for record in store.recent(where=SessionFilter(sources=("cron",)))] == [below.id]


def test_L2_39_pruning_takes_what_the_dry_run_showed_and_spares_the_living(store):
    live = [store.create_session(source="cli", started_at=1.0) for _ in range(5)]
    old = [store.create_session(source="cli", started_at=1.0) for _ in range(10)]
    for record in (*live, *old):
        store.append(record.id, Message("user", "秘密 secretword"), timestamp=2.0)
    for record in old:
        store.end_session(record.id, "closed")
    where = SessionFilter(ended=True, until=100.0)
    shown = store.prunable(where)
    assert shown == store.prune(where)
    assert {record.id for record in shown} == {record.id for record in old}
    assert {hit.session_id for hit in store.search("secretword")} == {record.id for record in live}


def test_nothing_of_deleted_text_is_left_when_asked(path):
    with SQLiteSessionStore.open(path) as store:
        kept = store.create_session(source="cli")
        store.append(kept.id, Message("user", "保留 keptword"))
        gone = store.create_session(source="cli", system_prompt="promptword")
        store.append_many(gone.id, [Message("user", f"privateword {n}") for n in range(50)])
        store.delete_session(gone.id)
        store.erase_deleted()
        assert store.search("keptword")
    left = path.read_bytes()
    assert b"keptword" in left
    assert b"privateword" not in left
    assert b"promptword" not in left


def test_L2_32_a_damaged_index_is_known_to_the_next_process_and_can_be_rebuilt(path):
    with SQLiteSessionStore.open(path) as store:
        session = store.create_session(source="cli")
        store.append(session.id, Message("user", "索引之前"))
        assert store.index.fault() is None
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("DELETE FROM messages_fts_data WHERE id > 9")
        raw.execute("UPDATE messages_fts_data SET block = x'00ff00ff00ff' WHERE id < 11")
        raw.commit()
    with SQLiteSessionStore.open(path) as store:
        store.append(session.id, Message("user", "索引之后"))
    with SQLiteSessionStore.open(path) as store:
        assert store.degraded
        assert len(store.search("索引")) == 2
        assert store.index.fault()
        store.index.rebuild()
        assert store.index.fault() is None
        assert len(store.search("索引")) == 2
    with SQLiteSessionStore.open(path) as store:
        assert not store.degraded


def test_an_index_that_lacks_a_message_is_told_from_a_sound_one(path):
    with SQLiteSessionStore.open(path) as store:
        session = store.create_session(source="cli")
        store.append(session.id, Message("user", "hello"))
        with store.database.write() as connection:
            connection.execute("UPDATE messages SET content = 'other'")
        assert store.index.fault() == "it does not agree with the messages"
        store.index.rebuild()
        assert [hit.role for hit in store.search("other")] == ["user"]


def test_a_copy_made_during_writes_is_whole(path, tmp_path):
    with SQLiteSessionStore.open(path) as store:
        session = store.create_session(source="cli")
        store.append_many(session.id, [Message("user", f"记忆 {n}" * 50) for n in range(2000)])
        writer = threading.Thread(target=lambda: [store.append(session.id, Message("user", "x")) for _ in range(50)])
        writer.start()
        store.database.copy_to(tmp_path / "copy.db")
        writer.join(30)
    with SQLiteSessionStore.open(tmp_path / "copy.db") as copy:
        assert copy.index.fault() is None
        assert len(copy.messages(session.id)) >= 2000


def test_L2_15_a_lineage_has_one_root_and_a_loop_ends(store):
    root = store.create_session("root", source="cli")
    child = store.create_session("child", source="cli", parent_session_id=root.id)
    grandchild = store.create_session("grandchild", source="cli", parent_session_id=child.id)
    assert {store.root_of(record.id) for record in (root, child, grandchild)} == {root.id}
    with store.database.write() as connection:
        connection.execute("UPDATE sessions SET parent_session_id = 'grandchild' WHERE id = 'root'")
    assert store.root_of(child.id) in {"root", "child", "grandchild"}


def test_live_messages_of_a_session_can_be_left_out_and_archived_ones_are_found(store):
    archived, live = fill(store, "部署 archived", "部署 live")
    with store.database.write() as connection:
        connection.execute("UPDATE messages SET active = 0, compacted = 1 WHERE id = ?", [archived])
    assert found(store, "部署", live_excluded="s") == [archived]
    assert [stored.id for stored in store.history("s")] == [archived, live]
    assert [stored.id for stored in store.messages("s")] == [live]


def test_sessions_are_found_by_words_of_their_titles(store):
    store.create_session(source="cli", title="Deploying the gateway", started_at=1.0)
    tea = store.create_session(source="cli", title="绿茶计划", started_at=2.0)

    def words(query):
        return [word for term in parse(query).terms for word in term]

    assert [record.title for record in store.titled(words("deploy gateway"))] == ["Deploying the gateway"]
    assert store.titled(words("绿茶")) == [tea]
    assert store.titled([]) == []


def test_a_session_that_goes_on_has_no_end(store):
    session = store.create_session(source="cli")
    store.end_session(session.id, "closed")
    store.reopen(session.id)
    assert (store.session(session.id).ended_at, store.session(session.id).end_reason) == (None, None)


def without_fts5(path):
    """A store of an SQLite that lacks the module: the step that wants it names one that is nowhere."""
    schema = sqlite_schema()
    steps = [step.replace("USING fts5(", "USING fts_of_nobody(") for step in schema.steps]
    assert steps != list(schema.steps)
    database = Database(path, replace(schema, steps=steps))
    return SQLiteSessionStore(database, FullTextIndex(database), EVERYBODY)


def test_L2_41_without_full_text_search_everything_else_works_and_it_is_said(path):
    with without_fts5(path) as store:
        store.create_session("a", source="cli")
        store.append("a", Message("user", "生产数据库端口是 6432"))
        assert [hit.session_id for hit in store.search("数据库")] == ["a"]
        assert store.degraded
        assert "without FTS5" in store.limits
        assert "without FTS5" in store.index.fault()
        store.create_session("b", source="cli")
        store.delete_session("b")
        store.erase_deleted()
    with SQLiteSessionStore.open(path) as store:
        assert store.degraded
        store.index.rebuild()
        assert (store.degraded, store.limits, store.index.fault()) == (False, None, None)
        assert [hit.session_id for hit in store.search("端口 6432")] == ["a"]


def test_L2_48_sessions_without_later_columns_are_listed_found_and_gone_on_with(path):
    with SQLiteSessionStore.open(path) as store:
        store.create_session("old", source="cli")
        store.append("old", Message("user", "long ago"))
        with store.database.write() as connection:
            later = ("project", "tool_specs", "system_prompt", "model")
            connection.execute(f"UPDATE sessions SET {', '.join(f'{name} = NULL' for name in later)}")
        assert [record.id for record in store.recent()] == ["old"]
        assert store.search("long ago")
        assert store.prompt_of("old") == (None, None)
        store.reopen("old")


def test_L2_50_five_megabytes_with_images_and_thinking_come_back_equal(store):
    thinking = OpaquePart("anthropic", {"type": "thinking", "thinking": "嗯\ud800", "signature": "EqQ="})
    long = "长文 🍵 \0 \ud800 " * 400_000
    messages = [
        Message("user", (TextPart(long), ImagePart("A" * 1_000_000, "image/png"), TextPart("end"))),
        Message("assistant", (thinking, TextPart("done")), (ToolCall("c", "x", '{"a": "\\ud800"}'),)),
    ]
    store.create_session("big", source="cli")
    store.append_many("big", messages)
    assert [stored.message for stored in store.messages("big")] == messages
    (hit, *_) = store.search("长文")
    assert "\ud800" not in hit.snippet


def test_activity_is_counted_by_day(store):
    noon = datetime.datetime(2026, 11, 30, 12).timestamp()
    for name, days in (("a", 0), ("b", 0), ("c", -3)):
        store.create_session(name, source="cli")
        for number in range(2):
            at = noon + 86_400 * days + number
            store.append(name, Message("assistant", "x"), timestamp=at, usage=Usage(5, 7), model="m")
    assert store.activity(since=noon - 86_400) == [DayActivity("2026-11-30", 2, 4, 28)]
    assert [day.day for day in store.activity(since=0)] == ["2026-11-27", "2026-11-30"]
    assert (store.totals().sessions, store.totals().messages) == (3, 6)


def test_usage_by_model_and_archived_messages_survive_a_transfer(store, tmp_path):
    store.create_session("a", source="cli")
    (first, _) = store.append_many("a", [Message("user", "early"), Message("user", "late")])
    store.record_usage("a", Usage(10, 2, cost_usd=0.5), model="m", task="chat")
    store.record_usage("a", Usage(3, 1), model="n", task="summary")
    with store.database.write() as connection:
        connection.execute("UPDATE messages SET active = 0, compacted = 1 WHERE id = ?", [first])
    with SQLiteSessionStore.open(tmp_path / "other" / "state.db") as other:
        assert [one.outcome for one in import_lines(other, export_lines(store, store.recent()))] == ["imported"]
        assert other.usage("a") == store.usage("a")
        assert [stored.message.text for stored in other.messages("a")] == ["late"]
        assert [stored.archived for stored in other.history("a")] == [True, False]


def test_what_goes_on_while_a_pruning_waits_is_spared(path):
    with SQLiteSessionStore.open(path) as store, SQLiteSessionStore.open(path) as other:
        store.create_session("old", source="cli", started_at=5.0)
        store.end_session("old", "closed")
        where = SessionFilter(ended=True)
        with other.database.write() as connection:
            pruning = threading.Thread(target=store.prune, args=(where,))
            pruning.start()
            connection.execute("UPDATE sessions SET ended_at = NULL WHERE id = 'old'")
        pruning.join(10)
        assert store.session("old").ended_at is None
