"""`girdle profile`, and -p."""

from pathlib import Path


def test_a_profile_has_memory_of_its_own(girdle) -> None:
    girdle("profile", "create", "work")
    girdle("-p", "work", "memory", "add", "user", "at work")
    girdle("memory", "add", "user", "at home")
    assert girdle("-p", "work", "memory", "list", "user").out == "at work\n"
    girdle("profile", "use", "work")
    assert girdle("memory", "list", "user").out == "at work\n"
    assert girdle("-p", "default", "memory", "list", "user").out == "at home\n"


def test_the_list_marks_the_one_in_use(girdle, home: Path) -> None:
    girdle("profile", "create", "work")
    girdle("profile", "use", "work")
    assert girdle("profile", "list").out == f"  default  {home}\n* work  {home / 'profiles' / 'work'}\n"
    assert [row["active"] for row in girdle("profile", "list", "--json").json["profiles"]] == [False, True]


def test_CLI_03_listing_makes_nothing(girdle, home: Path) -> None:
    assert girdle("profile", "list").code == 0
    assert not home.exists()


def test_an_unknown_profile_is_refused_by_every_command_and_not_made(girdle, home: Path) -> None:
    for command in (["memory", "show"], ["search"], ["doctor"], ["chat", "-m", "x"]):
        refused = girdle("-p", "nope", *command)
        assert (refused.code, refused.out) == (1, "")
        assert "girdle profile create nope" in refused.err
    assert not home.exists()


def test_deleting_without_a_terminal_wants_yes(girdle, home: Path) -> None:
    girdle("profile", "create", "old")
    refused = girdle("profile", "delete", "old")
    assert (refused.code, "--yes" in refused.err) == (1, True)
    assert (home / "profiles" / "old").is_dir()
    assert girdle("profile", "delete", "old", "--yes").out == "deleted old\n"
    assert not (home / "profiles" / "old").exists()


def test_a_wrong_name_is_one_line(girdle) -> None:
    refused = girdle("profile", "create", "工作", "--json")
    assert refused.code == 1
    assert refused.json["kind"] == "ProfileError"
