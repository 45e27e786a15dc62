"""What becomes of entries when facts change."""

import pytest

from girdlebook.models.extractive.revise import Operation, forgetting, storing
from girdlebook.models.extractive.understand import understand


def stored(said: str, *entries: str) -> list[Operation]:
    return list(storing(understand(said), {"user": entries, "memory": ()}))


def test_a_new_value_replaces_the_entry_about_the_same_thing() -> None:
    assert stored("My phone number is 555-0199.", "My phone number is 555-0142", "I live in Ghent") == [
        Operation("user", "replace", "My phone number is 555-0199", "My phone number is 555-0142")
    ]


def test_a_correction_replaces_and_leaves_no_old_value() -> None:
    [change] = stored("Correction: our database is CockroachDB now, not MySQL.", "Our database is MySQL")
    assert change.action == "replace"
    assert "MySQL" not in str(change.content)


def test_a_bare_value_is_put_into_the_entry() -> None:
    [change] = stored("it's not Kepler, it's Tycho", "I live in Ghent", "The demo is in room Kepler")
    assert change == Operation("user", "replace", "The demo is in room Tycho", "The demo is in room Kepler")


def test_another_one_of_its_kind_is_added() -> None:
    [second] = stored("My other sister is called Lea.", "My sister is called Noor")
    [server] = stored("The production server is prd-01.", "The staging server is stg-04")
    assert (second.action, server.action) == ("add", "add")


def test_another_relative_is_not_replaced() -> None:
    [change] = stored("我姐姐在天津工作。", "我妹妹在上海工作")
    assert change.action == "add"


def test_a_correction_changes_one_clause_of_a_compound_entry() -> None:
    [change] = stored("更正，我今年七岁。", "我叫孙浩，我今年六岁，养了一只柴犬")
    assert change.content == "我叫孙浩，我今年七岁，养了一只柴犬"


def test_forgetting_removes_only_what_is_about_the_topic() -> None:
    entries = {"user": ("My sister is called Noor", "I'm allergic to penicillin"), "memory": ()}
    assert list(forgetting(["my sister"], entries)) == [Operation("user", "remove", None, "My sister is called Noor")]


def test_forgetting_keeps_the_other_clauses() -> None:
    [change] = forgetting(["我的职业"], {"user": ("我叫周敏，在厦门当小学老师，养了一只柴犬",)})
    assert change.content == "我叫周敏，养了一只柴犬"


def test_forgetting_an_attribute_nobody_told_removes_nothing() -> None:
    assert list(forgetting(["my sister's birthday"], {"user": ("My sister is called Noor",)})) == []


def test_forgetting_takes_the_one_entry_that_comes_near() -> None:
    entries = {"user": ("I go to the Hillside climbing hall on Tuesdays", "I live in Ghent"), "memory": ()}
    [change] = forgetting(["that Hillside nonsense"], entries)
    assert change.old_text == "I go to the Hillside climbing hall on Tuesdays"


def test_two_facts_of_one_subject_are_both_kept() -> None:
    [age] = stored("My sister is 34.", "My sister is a nurse")
    [trade] = stored("我女儿是医生。", "我女儿叫小美")
    assert (age.action, trade.action) == ("add", "add")


def test_a_moved_thing_replaces_where_it_was() -> None:
    [backup] = stored("备份迁到阿里云了。", "备份放在腾讯云")
    [meeting] = stored("Our retro got moved to Thursday.", "Our retro is on Monday")
    assert (backup.action, meeting.action) == ("replace", "replace")


def test_forgetting_finds_an_entry_that_shares_only_characters() -> None:
    [change] = forgetting(["离婚的事"], {"user": ("我离过婚", "我住在厦门")})
    assert change.old_text == "我离过婚"


@pytest.mark.parametrize(
    ("entry", "said", "kept", "gone"),
    [
        ("Our API gateway is Kong", "We replaced Kong with Envoy.", "Envoy", "Kong"),
        ("We deploy with Ansible", "we switched from Ansible to Salt", "Salt", "Ansible"),
        ("The standup is at 9:45", "They moved the standup, it's at 10:15 now.", "10:15", "9:45"),
        ("My flat is on the fifth floor", "We moved, the flat's on the second floor now.", "second", "fifth"),
        ("I work at Northwind", "I changed jobs, I'm at Contoso now.", "Contoso", "Northwind"),
        ("We meet every Tuesday at 9", "sorry, I meant Wednesday, not Tuesday", "Wednesday at 9", "Tuesday"),
        ("我在腾讯上班", "我跳槽了，现在在美团。", "我在美团上班", "腾讯"),
        ("我的导师是郑老师", "我换导师了，现在是吴老师。", "吴老师", "郑老师"),
        ("我们的代码放在 GitLab 上", "我们已经从 GitLab 迁到 Gitea 了", "Gitea", "GitLab"),
    ],
)
def test_a_change_told_in_passing_replaces_what_was_there(entry: str, said: str, kept: str, gone: str) -> None:
    [change] = stored(said, "I'm allergic to penicillin", entry, "我对花生过敏")
    assert change.action == "replace"
    assert change.old_text == entry
    assert kept in str(change.content)
    assert gone not in str(change.content)


def test_a_value_is_replaced_as_a_whole_word_only() -> None:
    [change] = stored("it's not Ada, it's Eve", "Ada's room is in building Adamant, ask for Ada")
    assert change.content == "Eve's room is in building Adamant, ask for Eve"
