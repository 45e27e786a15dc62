"""Requests to forget, in the words that people use."""

import pytest

from girdlebook.models.extractive.revise import forgetting
from girdlebook.models.extractive.understand import READ_CHARACTERS, understand

ENTRIES = {
    "user": ("我在和小雅谈恋爱", "我会弹吉他", "You can reach me at 555-0142", "I play the cello"),
    "memory": ("The server is called Atlas",),
}


@pytest.mark.parametrize(
    ("request_text", "gone"),
    [
        ("别再记得小雅的事了，忘掉吧", "我在和小雅谈恋爱"),
        ("forget my phone number please", "You can reach me at 555-0142"),
        ("Please erase everything about Atlas.", "The server is called Atlas"),
    ],
)
def test_the_entry_that_is_meant_goes_and_no_other(request_text: str, gone: str) -> None:
    changes = list(forgetting(understand(request_text).topics, ENTRIES))
    assert [(change.action, change.old_text) for change in changes] == [("remove", gone)]


def test_a_pasted_log_is_read_only_at_its_beginning() -> None:
    log = "ERROR connection reset by peer\n" * 20_000
    assert understand(log) == understand(log[:READ_CHARACTERS])
