"""When there is compression, and how much of what stays (pure; article section 6.1)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

Kind = Literal["summary", "digest", "unchanged"]

DEFAULT_CONTEXT_LENGTH = 128_000
"""Tokens that are assumed where neither settings, model nor table know a model's window."""

MOST_OVERFLOWS = 3
"""How often a request that the model called too long is compressed and sent again."""

_DIGEST_SHARE = 0.20
_SUMMARY_SHARE = 0.20
_LEAST_SUMMARY, _MOST_SUMMARY = 400, 10_000
_SOFT_CEILING = 1.5
_LEAST_FREED = 0.10
_BACK_OFF_SECONDS = (60.0, 300.0, 900.0)


@dataclass(frozen=True, slots=True)
class CompressionPolicy:
    """The figures of layer 3.

    Parameters:
        enabled: whether compression starts by itself.
        threshold: the share of the window from which on it does.
        target_ratio: the share of the threshold that the untouched tail keeps, 0.10 to 0.80.
        protect_first_n: messages at the beginning that stay.
    """

    enabled: bool = True
    threshold: float = 0.50
    target_ratio: float = 0.20
    protect_first_n: int = 3

    def threshold_tokens(self, context_length: int) -> int:
        """Tokens of a request from which on there is compression."""
        return int(context_length * self.threshold)

    def room(self, context_length: int, reserved: int) -> int:
        """Tokens that a transcript may have below the threshold.

        Parameters:
            reserved: tokens of the system prompt and the tools, which no compression makes fewer.
        """
        threshold = self.threshold_tokens(context_length)
        return max(threshold // 4, threshold - reserved)

    def tail_tokens(self, room: int) -> int:
        """Tokens of the end that stays as it is."""
        return int(room * min(0.80, max(0.10, self.target_ratio)))

    def ceiling_tokens(self, room: int) -> int:
        """Tokens that the tail may reach so that a group of messages is not split."""
        return int(self.tail_tokens(room) * _SOFT_CEILING)

    def head_tokens(self, room: int) -> int:
        """Tokens that the protected head may have; a longer one gives up its last messages."""
        return self.tail_tokens(room)

    def digest_tokens(self, room: int) -> int:
        """Tokens of a summary that is made without a model."""
        return int(room * _DIGEST_SHARE)

    def summary_tokens(self, middle: int, room: int) -> int:
        """Tokens that a model's summary of `middle` tokens may have."""
        wanted = max(_LEAST_SUMMARY, int(middle * _SUMMARY_SHARE))
        return min(wanted, _MOST_SUMMARY, self.digest_tokens(room))


@dataclass(frozen=True, slots=True)
class Brake:
    """What keeps compression from running in circles (reports L3-17, L3-20, L3-22); stored with the session.

    Parameters:
        digests: compressions in a row in which a digest stood in for a summary that did not come.
        useless: compressions in a row that freed too little.
        failures: summaries in a row that could not be had at all.
        retry_at: seconds since 1970 before which no summary is tried.
    """

    digests: int = 0
    useless: int = 0
    failures: int = 0
    retry_at: float = 0.0

    def holds(self, now: float) -> bool:
        """Whether automatic compression waits."""
        return self.useless > 0 or self.digests > 1 or now < self.retry_at

    def after(self, kind: Kind, *, before: int, after: int, room: int, stood_in: bool) -> "Brake":
        """The brake after a compression that was done.

        Parameters:
            before, after: tokens of the transcript.
            room: tokens that it may have below the threshold.
            stood_in: whether a digest stands where a summary was wanted.
        """
        freed = kind != "unchanged" and after <= min(before, room) * (1 - _LEAST_FREED)
        return Brake(digests=self.digests + 1 if stood_in else 0, useless=0 if freed else self.useless + 1)

    def after_failure(self, now: float) -> "Brake":
        """The brake after a summary could not be had: a wait that grows."""
        wait = _BACK_OFF_SECONDS[min(self.failures, len(_BACK_OFF_SECONDS) - 1)]
        return replace(self, failures=self.failures + 1, retry_at=now + wait)

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Brake":
        """What `to_dict` gave."""
        return cls(**values)
