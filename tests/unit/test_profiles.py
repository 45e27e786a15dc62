"""Homes and profiles."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from girdlebook import profiles
from girdlebook.errors import ProfileError, ScopeError
from girdlebook.profiles import Choice, Home


def test_the_home_is_GIRDLE_HOME(home: Path) -> None:
    assert profiles.resolve(None) == Home(home)


def test_without_GIRDLE_HOME_it_is_a_dot_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIRDLE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert profiles.root() == tmp_path / ".girdlebook"


def test_asking_makes_nothing(home: Path) -> None:
    profiles.resolve(None)
    profiles.profiles()
    assert not home.exists()


def test_L1_36_a_relative_home_is_absolute_wherever_it_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIRDLE_HOME", "mine")
    resolved = profiles.resolve(None)
    monkeypatch.chdir("/")
    assert resolved.path == tmp_path / "mine"


def test_L1_33_a_home_with_chinese_characters_and_a_blank_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    root = tmp_path / "我的 记忆 🗂"
    monkeypatch.setenv("GIRDLE_HOME", str(root))
    profiles.create("work")
    profiles.use("work")
    assert profiles.resolve(None).memories == root / "profiles" / "work" / "memories"


def test_a_tilde_in_GIRDLE_HOME_is_the_persons_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("GIRDLE_HOME", "~/memory")
    assert profiles.root() == tmp_path / "memory"


def test_a_home_has_the_agreed_places() -> None:
    home = Home(Path("/h"))
    places = [home.memories, home.state_db, home.config_file, home.env_file, home.plugins, home.logs]
    assert [place.name for place in places] == ["memories", "state.db", "config.yaml", ".env", "plugins", "logs"]


# ── which profile ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_flag_beats_the_environment_which_beats_the_sticky_choice(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("flag", "environment", "sticky"):
        profiles.create(name)
    profiles.use("sticky")
    assert profiles.resolve(None).path == home / "profiles" / "sticky"
    monkeypatch.setenv("GIRDLE_PROFILE", "environment")
    assert profiles.resolve(None).path == home / "profiles" / "environment"
    assert profiles.resolve("flag").path == home / "profiles" / "flag"


def test_default_is_the_home_itself_even_when_another_is_sticky(home: Path) -> None:
    profiles.create("work")
    profiles.use("work")
    assert profiles.resolve("default").path == home
    profiles.use("default")
    assert profiles.resolve(None).path == home


def test_a_profile_that_does_not_exist_is_refused_with_the_one_that_was_meant() -> None:
    profiles.create("work")
    with pytest.raises(ProfileError, match=r"no profile 'wrok' \(did you mean 'work'\?\).*profile create wrok"):
        profiles.resolve("wrok")


def test_a_damaged_sticky_file_is_an_error_and_not_the_default(home: Path) -> None:
    home.mkdir()
    (home / "active_profile").write_bytes(b"../\xff")
    with pytest.raises(ProfileError, match="profile use NAME"):
        profiles.resolve(None)
    profiles.use("default")
    assert profiles.resolve(None).path == home


# ── names ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["a", "0", "work", "a-b_c", "x" * 64, "com", "con-2"])
def test_good_names_make_profiles(name: str) -> None:
    assert profiles.create(name).path.is_dir()


@pytest.mark.parametrize("name", ["", "Work", "-a", "_a", ".a", "..", "../x", "a/b", "a b", "工作", "x" * 65, "a\n"])
def test_other_names_are_refused(name: str, home: Path) -> None:
    with pytest.raises(ProfileError, match="no profile's name"):
        profiles.create(name)
    assert not home.exists()


@pytest.mark.parametrize("name", ["con", "nul", "com1", "lpt9"])
def test_names_of_windows_devices_are_refused(name: str) -> None:
    with pytest.raises(ProfileError, match="reserved by Windows"):
        profiles.create(name)


@given(st.text(max_size=70))
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    try:
        place = profiles.home_of(name).path
    except ProfileError:
        return
    assert name == "default" or place.parent == profiles.root() / "profiles"


# ── create, list, use, delete ───────────────────────────────────────────────────────────────────────────────────────


def test_a_new_profile_is_private_whatever_the_umask(home: Path) -> None:
    before = os.umask(0)
    try:
        path = profiles.create("work").path
    finally:
        os.umask(before)
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (home, path.parent, path)] == [0o700] * 3


def test_a_taken_name_is_refused() -> None:
    profiles.create("work")
    for name in ("work", "default"):
        with pytest.raises(ProfileError, match="exists already"):
            profiles.create(name)


def test_the_list_holds_default_first_and_marks_the_sticky_one(home: Path) -> None:
    for name in ("zoo", "art"):
        profiles.create(name)
    profiles.use("zoo")
    (home / "profiles" / "Not A Profile").mkdir()
    (home / "profiles" / "file").touch()
    assert [(one.name, one.active) for one in profiles.profiles()] == [
        ("default", False),
        ("art", False),
        ("zoo", True),
    ]


def test_deleting_takes_everything_of_that_profile_and_nothing_else(home: Path) -> None:
    (profiles.create("old").path / "memories").mkdir()
    profiles.create("other")
    profiles.delete("old")
    assert [path.name for path in (home / "profiles").iterdir()] == ["other"]


def test_deleting_refuses_the_default_the_sticky_and_the_unknown_one(home: Path) -> None:
    profiles.create("work")
    profiles.use("work")
    for name, message in (("default", "the home itself"), ("work", "is in use"), ("wrok", "did you mean 'work'")):
        with pytest.raises(ProfileError, match=message):
            profiles.delete(name)
    assert (home / "profiles" / "work").is_dir()


def test_deleting_follows_no_symbolic_link(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    outside.mkdir()
    (outside / "file").touch()
    (profiles.create("real").path / "inner").symlink_to(outside)
    (home / "profiles" / "link").symlink_to(outside)
    profiles.delete("link")
    profiles.delete("real")
    assert [path.name for path in outside.iterdir()] == ["file"]
    assert list((home / "profiles").iterdir()) == []


# ── users of a gateway ──────────────────────────────────────────────────────────────────────────────────────────────


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1).filter(str.strip))
def test_each_user_has_a_folder_of_their_own_below_users(one: str, other: str) -> None:
    home = Home(Path("/h"))
    folders = {home.user_memories(one), home.user_memories(other)}
    assert len(folders) == len({one, other})
    assert {folder.parent for folder in folders} == {home.memories / "users"}


def test_a_blank_user_id_is_refused() -> None:
    with pytest.raises(ScopeError, match="blank"):
        Home(Path("/h")).user_memories(" ")


def repository(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / "deep").mkdir()
    return folder


def test_a_repository_has_its_own_profile_wherever_one_stands_in_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, other = repository(tmp_path / "工作"), repository(tmp_path / "other")
    made = profiles.create("work")
    profiles.bind("work", work)
    monkeypatch.chdir(work / "deep")
    assert profiles.choose(None) == Choice("work", made, f"bound to {work}")
    assert profiles.choose("default").name == "default"
    monkeypatch.setenv("GIRDLE_PROFILE", "default")
    assert profiles.choose(None).why == "named by GIRDLE_PROFILE"
    monkeypatch.delenv("GIRDLE_PROFILE")
    monkeypatch.chdir(other)
    assert profiles.choose(None).why == "no other was chosen"
    profiles.use("work")
    assert profiles.choose(None).why == "chosen with: girdle profile use"
    assert profiles.unbind(work)
    assert not profiles.unbind(work)
    assert profiles.bindings() == {}


def test_a_deleted_profile_is_bound_to_nothing(home: Path, tmp_path: Path) -> None:
    profiles.create("work")
    profiles.bind("work", tmp_path)
    profiles.delete("work")
    assert profiles.bindings() == {}


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}'])
def test_a_broken_list_of_projects_is_named(home: Path, text: str) -> None:
    home.mkdir()
    (home / "projects.json").write_text(text)
    with pytest.raises(ProfileError, match=r"projects\.json"):
        profiles.resolve(None)


def test_only_a_profile_that_exists_can_be_bound(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ProfileError):
        profiles.bind("nowhere", tmp_path)
    assert not (home / "projects.json").exists()
