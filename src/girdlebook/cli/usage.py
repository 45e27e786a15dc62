"""Tokens and bars, for people."""

from girdlebook.messages import Usage


def describe(usage: Usage) -> str:
    """Tokens, for people."""
    if usage == Usage():
        return "the model reports no tokens"
    cost = "" if usage.cost_usd is None else f" · {usage.cost_usd:.4f} USD"
    return (
        f"{usage.input_tokens:,} tokens in ({usage.cache_read_tokens:,} from cache), {usage.output_tokens:,} out{cost}"
    )


def bar(value: int, most: int, columns: int) -> str:
    """A horizontal bar, in eighths of a column."""
    eighths = round(value * columns * 8 / most) if most else 0
    rest = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]
    return "█" * (eighths // 8) + rest
