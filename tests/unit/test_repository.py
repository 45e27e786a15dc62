"""Which folder a piece of work belongs to."""

import subprocess

from girdlebook.repository import project_of


def git(folder, *arguments):
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_folder_without_a_repository_is_its_own_project(tmp_path):
    (tmp_path / "记").mkdir()
    assert project_of(tmp_path / "记") == tmp_path / "记"


def test_a_folder_in_a_repository_belongs_to_its_root(tmp_path):
    git(tmp_path, "init", "-q", ".")
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert project_of(tmp_path / "a" / "b") == tmp_path


def test_a_linked_worktree_belongs_to_the_repository_it_was_made_from(tmp_path):
    main = tmp_path / "main repo"
    main.mkdir()
    git(main, "init", "-q", ".")
    git(main, "commit", "-q", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    (tmp_path / "linked" / "deep").mkdir()
    assert project_of(tmp_path / "linked" / "deep") == main


def test_an_unreadable_git_file_leaves_the_folder_as_the_project(tmp_path):
    (tmp_path / ".git").write_bytes(b"gitdir: \xff/nowhere")
    assert project_of(tmp_path) == tmp_path
