"""Signals while a conversation runs.  Real ones, sent to this very process."""

import signal

import pytest

from girdlebook.cli.signals import Signals


def test_ctrl_c_ends_a_wait() -> None:
    with Signals() as signals, pytest.raises(KeyboardInterrupt), signals.waiting():
        signal.raise_signal(signal.SIGINT)


def test_SIGTERM_ends_a_wait_with_the_shells_code() -> None:
    with Signals() as signals, pytest.raises(SystemExit) as left, signals.waiting():
        signal.raise_signal(signal.SIGTERM)
    assert left.value.code == 128 + signal.SIGTERM


def test_a_signal_outside_a_wait_is_kept_for_the_next_one() -> None:
    with Signals() as signals:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt), signals.waiting():
            pytest.fail("the wait began")
        with signals.waiting():
            pass


def test_SIGTERM_is_not_hidden_by_ctrl_c() -> None:
    with Signals() as signals:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(SystemExit), signals.waiting():
            pass


def test_afterwards_the_former_handlers_are_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Signals():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
