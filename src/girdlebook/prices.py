"""What model calls cost, where the settings know the price and the vendor did not say."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from girdlebook.messages import Usage

_MILLION = 1_000_000


class Price(Protocol):
    """US dollars for a million tokens of each kind; None where it is not known."""

    @property
    def input(self) -> float | None: ...

    @property
    def output(self) -> float | None: ...

    @property
    def cache_read(self) -> float | None: ...

    @property
    def cache_write(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by the model's name.  Nothing is ever guessed: a cost with an unknown part is unknown."""

    by_model: Mapping[str, Price]

    def priced(self, usage: Usage, model: str | None) -> Usage:
        """The usage with its cost, where it can be known."""
        price = self.by_model.get(model or "")
        if usage.cost_usd is not None or price is None:
            return usage
        uncached = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
        parts = (
            (uncached, price.input),
            (usage.cache_read_tokens, price.cache_read),
            (usage.cache_write_tokens, price.cache_write),
            (usage.output_tokens, price.output),
        )
        if any(tokens and dollars is None for tokens, dollars in parts):
            return usage
        return replace(usage, cost_usd=sum(tokens * (dollars or 0.0) for tokens, dollars in parts) / _MILLION)
