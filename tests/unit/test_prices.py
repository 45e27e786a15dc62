"""Costs from prices: known or none, never guessed."""

import pytest

from girdlebook.config import Price
from girdlebook.messages import Usage
from girdlebook.prices import Prices

PRICES = Prices({"m": Price(input=2.0, output=10.0, cache_read=0.2), "free": Price(input=0.0, output=0.0)})


@pytest.mark.parametrize(
    ("model", "usage", "cost"),
    [
        ("m", Usage(1_000_000, 100_000), 3.0),
        ("m", Usage(1_000_000, 0, cache_read_tokens=500_000), 1.1),
        ("m", Usage(1_000, 0, cache_write_tokens=1), None),
        ("m", Usage(10, 10, cost_usd=7.0), 7.0),
        ("free", Usage(10, 10), 0.0),
        ("other", Usage(10, 10), None),
        (None, Usage(10, 10), None),
    ],
)
def test_a_cost_is_known_when_every_part_is(model: str | None, usage: Usage, cost: float | None) -> None:
    assert PRICES.priced(usage, model).cost_usd == (cost if cost is None else pytest.approx(cost))
