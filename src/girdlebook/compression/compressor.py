"""`ContextCompressor`: the five phases, in order (article section 6.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from girdlebook.compression.digest import digest
from girdlebook.compression.policy import CompressionPolicy, Kind
from girdlebook.compression.prune import prune, shorten_output
from girdlebook.compression.summary import (
    Origin,
    SummaryUnfit,
    Written,
    body_of,
    bridge,
    origin_of,
    summary_message,
    write_summary,
)
from girdlebook.compression.window import Window, divide, units
from girdlebook.errors import ModelError, ModelUnavailable
from girdlebook.messages import Message, Usage
from girdlebook.models.base import ChatModel
from girdlebook.tokens import estimate_message
from girdlebook.transcripts import mended


@dataclass(frozen=True, slots=True)
class CompressionResult:
    """What a compression gave.

    `kind` is `summary` (a model's), `digest` (made without one) or `unchanged`, with the `reason`.  Token counts are
    estimates of the transcript alone.  `kept` says for each message which of the old ones it is, None for a new one.
    `is_out_of_reach` is whether no model could be had; `stood_in` is whether a digest stands where a summary was
    wanted.  `usage` is what `model` used for it.
    """

    messages: list[Message]
    summary: str | None
    kind: Kind
    tokens_before: int
    tokens_after: int
    kept: tuple[int | None, ...]
    reason: str = ""
    is_out_of_reach: bool = False
    stood_in: bool = False
    usage: Usage = field(default_factory=Usage)
    model: str | None = None


class ContextCompressor:
    """Makes a transcript short; holds nothing of it afterwards, so one serves any number of sessions.

    Parameters:
        context_length: the window of the model that reads the transcript, in tokens.
        model: who summarises; without one the digest serves.
        policy: the figures; None for the article's.
        fallback: asked where `model` gives no summary.
        model_window: the window of whoever summarises, in tokens; None for `context_length`.
    """

    def __init__(
        self,
        context_length: int,
        model: ChatModel | None = None,
        policy: CompressionPolicy | None = None,
        *,
        fallback: ChatModel | None = None,
        model_window: int | None = None,
    ) -> None:
        self.context_length = context_length
        self.policy = policy or CompressionPolicy()
        self._models = [one for one in (model, fallback) if one is not None]
        self._model_window = model_window or context_length

    def compress(
        self,
        messages: Sequence[Message],
        focus: str | None = None,
        *,
        notes: str = "",
        session_id: str | None = None,
        numbers: Sequence[int] = (),
        reserved: int = 0,
        must: bool = False,
    ) -> CompressionResult:
        """Compress a transcript; the one given is left alone.  It never becomes longer and never invalid.

        Parameters:
            focus: what a summary is to be thorough about.
            notes: what an external memory wants to be kept, at most 6,000 characters.
            session_id, numbers: the session and its messages' numbers, so that the summary can say what it stands for.
            reserved: tokens of the system prompt and the tools, which stand beside the transcript.
            must: whether room is needed at any price: then a digest serves where no summary can be had.
        """
        transcript = mended(messages)
        sizes = {id(message): estimate_message(message) for message in transcript}
        before = sum(sizes.values())
        room = self.policy.room(self.context_length, reserved)
        window = self._divide(transcript, sizes, room)
        if not window.middle:
            return _unchanged(transcript, before, "there is nothing between the beginning and the end to compress")
        middle = [transcript[index] for index in window.middle]
        previous = None if window.previous is None else body_of(transcript[window.previous])
        try:
            written = self._written(middle, previous, focus, notes, sizes, room, must)
        except ModelUnavailable as error:
            unchanged = _unchanged(transcript, before, f"no summary could be had: {error}")
            return replace(unchanged, is_out_of_reach=True)
        origin = _origin(session_id, numbers, window, transcript)
        result, kept = self._joined(transcript, window, summary_message(written.text, origin), room)
        after = sum(sizes.get(id(message)) or estimate_message(message) for message in result)
        if after >= before:
            return _unchanged(transcript, before, "the summary would be longer than what it replaces")
        return CompressionResult(
            result,
            written.text,
            "summary" if written.model else "digest",
            before,
            after,
            kept,
            stood_in=not written.model and bool(self._models),
            usage=written.usage,
            model=written.model,
        )

    def _divide(self, transcript: Sequence[Message], sizes: dict[int, int], room: int) -> Window:
        return divide(
            transcript,
            protect_first=self.policy.protect_first_n,
            head_tokens=self.policy.head_tokens(room),
            tail_tokens=self.policy.tail_tokens(room),
            ceiling_tokens=self.policy.ceiling_tokens(room),
            size=lambda message: sizes[id(message)],
        )

    def _written(
        self,
        middle: Sequence[Message],
        previous: str | None,
        focus: str | None,
        notes: str,
        sizes: dict[int, int],
        room: int,
        must: bool,
    ) -> Written:
        """The summary of a model, else the digest, which no model wrote.

        Raises:
            ModelUnavailable: no model can be had now, and none is needed at any price.
        """
        most = self.policy.summary_tokens(sum(sizes[id(message)] for message in middle), room)
        unavailable: ModelUnavailable | None = None
        for model in self._models:
            try:
                return write_summary(
                    model,
                    middle,
                    previous=previous,
                    focus=focus,
                    notes=notes,
                    most_tokens=most,
                    window=self._model_window,
                )
            except ModelUnavailable as error:
                unavailable = error
            except (SummaryUnfit, ModelError):
                continue
        if unavailable is not None and not must:
            raise unavailable
        most = self.policy.digest_tokens(room)
        return Written(digest(middle, previous=previous, notes=notes, most_tokens=most), Usage(), None)

    def _joined(
        self, transcript: Sequence[Message], window: Window, summary: Message, room: int
    ) -> tuple[list[Message], tuple[int | None, ...]]:
        """Head, summary and tail, with a word of the assistant wherever two messages of the person would meet."""
        head = prune([transcript[index] for index in window.head], keep_from=len(window.head))
        tail = self._fitted([transcript[index] for index in window.kept], room)
        between: list[Message] = []
        if head and head[-1].role in ("user", "tool"):
            between.append(bridge())
        between.append(summary)
        if tail and tail[0].role == "user":
            between.append(bridge())
        messages = [*head, *between, *tail]
        places = [*window.head, *([None] * len(between)), *window.kept]
        kept = tuple(
            place if place is not None and message is transcript[place] else None
            for message, place in zip(messages, places, strict=True)
        )
        return messages, kept

    def _fitted(self, tail: list[Message], most: int) -> list[Message]:
        """The tail as it is; where even it is too much, older outputs go, then the middle of the newest ones."""
        if sum(map(estimate_message, tail)) <= most:
            return tail
        last = units(tail)[-1]
        tail = prune(tail, keep_from=last.start)
        over = sum(map(estimate_message, tail)) - most
        outputs = [index for index in last if tail[index].role == "tool"]
        if over <= 0 or not outputs:
            return tail
        total = sum(estimate_message(tail[index]) for index in outputs)
        share = max(0.02, 1 - over / total)
        for index in outputs:
            tail[index] = shorten_output(tail[index], int(len(tail[index].text) * share))
        return tail


def _origin(
    session_id: str | None, numbers: Sequence[int], window: Window, transcript: Sequence[Message]
) -> Origin | None:
    """The stored messages from the first that an earlier summary stands for to the last of the middle."""
    if session_id is None or not numbers:
        return None
    earlier = None if window.previous is None else origin_of(transcript[window.previous])
    known = [numbers[index] for index in window.middle if numbers[index]]
    firsts = [*known[:1], *([earlier.first] if earlier else [])]
    return Origin(session_id, min(firsts), max(known)) if known else None


def _unchanged(transcript: list[Message], tokens: int, reason: str) -> CompressionResult:
    return CompressionResult(
        transcript, None, "unchanged", tokens, tokens, tuple(range(len(transcript))), reason=reason
    )
