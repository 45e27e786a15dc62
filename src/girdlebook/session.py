"""One conversation: the class in which the layers meet, and the only one.

A turn is five verbs: `begin_turn`, then `context` and `add_reply` (with `add_tool_result` for the caller's own tools)
until the model asks for nothing, then `end_turn`.  This class calls the layers in order and decides nothing else.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType

from girdlebook.compression.compressor import CompressionResult
from girdlebook.context import Context
from girdlebook.curated.tool import NAME, MemoryTool
from girdlebook.errors import ContextOverflow, TurnError
from girdlebook.making_room import MakingRoom
from girdlebook.messages import Attachment, Message, Reply, ToolCall, ToolResult, Usage
from girdlebook.meter import ContextFill, ContextMeter
from girdlebook.prices import Prices
from girdlebook.prompts.assemble import read
from girdlebook.sessions.store import SessionStore
from girdlebook.tools import Toolbox, ToolSpec
from girdlebook.transcripts import open_calls, turns_since_call


class MemorySession:
    """A conversation that is remembered.  `Memory.session` makes one.

    The system prompt and the tools are fixed here for the whole session, so the prompt prefix cannot move
    (article section 4).  Nothing is stored before the first turn, so a session without turns leaves no trace.

    Parameters:
        session_id: the id under which the transcript is stored.
        start: stores or reopens the session's row; called once, at the first turn.
        store: where the transcript goes.
        system: the system prompt, already holding the frozen snapshot.
        memory_tool: layer 1's tool, None where the settings switched both targets off.
        toolbox: our own tools, run inside `add_reply`.
        tools: everything on offer, ours included; calls of the others wait in `pending_calls`.
        making_room: layer 3; None for a transcript that grows without end.
        messages: what was said before, where a session goes on; a valid transcript but for its end.
        numbers: the messages' numbers in the store, 0 for those that are not there.
        last: the number of the last stored message, 0 for none.
        turns: how many turns there were before.
        usage: what was used before.
        prices: what models cost where their vendor does not say.
    """

    def __init__(
        self,
        session_id: str,
        *,
        start: Callable[[], object],
        store: SessionStore,
        system: str,
        memory_tool: MemoryTool | None,
        toolbox: Toolbox,
        tools: Sequence[ToolSpec],
        making_room: MakingRoom | None = None,
        messages: Sequence[Message] = (),
        numbers: Sequence[int] = (),
        last: int = 0,
        turns: int = 0,
        usage: Usage = Usage(),  # noqa: B008
        prices: Prices = Prices({}),  # noqa: B008
    ) -> None:
        self.id = session_id
        self.usage = usage
        self.turns = turns
        self._prices = prices
        self._last = last
        self._start = start
        self._started = False
        self._store = store
        self._system = system
        self._memory_tool = memory_tool
        self._toolbox = toolbox
        self._tools = tuple(tools)
        self._trust = {spec.name: spec.trust for spec in self._tools}
        self._making_room = making_room
        self._messages = list(messages)
        self._numbers = list(numbers)
        self._meter = ContextMeter(system, self._tools, messages)
        self._flushed_at = turns
        self._call_ids = {call.id for message in messages for call in message.tool_calls}
        self._unanswered = open_calls(messages)
        self._in_turn = False
        self._replied = False
        self._closed = False

    # ── a turn ──────────────────────────────────────────────────────────────────────────────────────────────────

    def begin_turn(self, text: str) -> None:
        """Start a turn with what the person wrote, and store it.

        Raises:
            TurnError: the session is closed, a turn is open, or the text is blank.
            StoreError: it could not be stored; the turn has not begun.
        """
        if self._closed:
            raise TurnError(f"session {self.id} is closed; start a new one")
        if self._in_turn:
            raise TurnError("the last turn is still open; call end_turn() or interrupt() first")
        if not text.strip():
            raise TurnError("there is nothing to answer: the text is blank")
        if not self._started:
            self._start()
            self._started = True
            self._close_transcript("interrupted")
        self._append(Message(role="user", content=text, attachments=self._nudge()))
        self._in_turn, self._replied = True, False
        if self._memory_tool is not None:
            self._memory_tool.start_turn(self.id, text)

    def context(self) -> Context:
        """What the model is to see now; equal to the last one but for messages added at its end.

        Where it has become too long, room is made first: the only moment at which its beginning moves.

        Raises:
            ContextTooLarge: what cannot be compressed does not fit into the model's window.
            StoreError: the compressed transcript could not be stored; the old one stays.
        """
        room = self._making_room
        if room is not None and self.awaiting_model:
            room.check(self._meter, self._messages)
            if room.is_due(self.fill):
                self._compress(room, None, must=room.is_over(self.fill))
        return self._context()

    def add_reply(self, reply: Reply) -> None:
        """Store the model's answer and run its calls of our own tools.

        Calls of the caller's tools wait in `pending_calls`.  An answer with neither text nor calls ends the turn and
        is not kept, since no model accepts it back.

        Raises:
            TurnError: no answer is awaited.
            StoreError: it could not be stored.
        """
        if not self.awaiting_model:
            raise TurnError("no answer is awaited: begin a turn, and answer pending calls with add_tool_result()")
        if reply.usage is not None:
            reply = replace(reply, usage=self._prices.priced(reply.usage, reply.model))
        message = self._with_unique_ids(reply.message)
        if message.text.strip() or message.tool_calls:
            self._append(message, reply)
        self.usage += reply.usage or Usage()
        if reply.usage is not None:
            self._meter.reported(reply.usage, answer=int(bool(self._messages) and self._messages[-1] is message))
        self._replied = not message.tool_calls
        self._unanswered = list(message.tool_calls)
        for call in message.tool_calls:
            if call.name in self._toolbox or call.name not in {spec.name for spec in self._tools}:
                self._answer(call, self._toolbox.run(call))

    def add_tool_result(self, call_id: str, content: str, *, is_error: bool = False) -> None:
        """Store what one of the caller's own tools gave.

        Raises:
            TurnError: no such call is waiting.
            StoreError: it could not be stored.
        """
        waiting = {call.id: call for call in self.pending_calls}
        if call_id not in waiting:
            raise TurnError(f"no call {call_id!r} is waiting; waiting are: {', '.join(waiting) or 'none'}")
        self._answer(waiting[call_id], ToolResult(call_id, content, is_error))

    def end_turn(self) -> None:
        """Close a turn that was answered.

        Raises:
            TurnError: no turn is open, or it is not answered yet.
        """
        if not self._in_turn or not self._replied:
            raise TurnError("the turn is not answered yet; go on with it, or give it up with interrupt()")
        self._in_turn = False
        self.turns += 1

    def interrupt(self, why: str = "interrupted") -> None:
        """Give the open turn up and leave a transcript that any model accepts.

        Open calls get a result that says so, and a short note of the assistant closes the turn.  Without an open turn
        nothing happens.

        Parameters:
            why: the words of the note.
        """
        if not self._in_turn:
            return
        self._close_transcript(why)
        self._in_turn = False
        self.turns += 1

    # ── making room ─────────────────────────────────────────────────────────────────────────────────────────────

    def compress(self, focus: str | None = None) -> CompressionResult:
        """Make room now: flush, summarise, archive and swap, take a new snapshot, build the prompt anew.

        Parameters:
            focus: what a summary is to be thorough about.

        Raises:
            TurnError: the session was opened without layer 3, or is closed.
            StoreError: the compressed transcript could not be stored; the old one stays.
        """
        if self._making_room is None or self._closed:
            raise TurnError("this session makes no room: it was opened without compression, or is closed")
        return self._compress(self._making_room, focus, must=False)

    def overflowed(self, error: ContextOverflow) -> None:
        """Make room after the model said that the request is too long; a limit that it named is learned.

        Parameters:
            error: what the model said.

        Raises:
            ContextOverflow: no room can be made; the same error.
            StoreError: the compressed transcript could not be stored; the old one stays.
        """
        room = self._making_room
        if room is None:
            raise error
        known = room.learn_window(error.limit, self._meter.tokens)
        if self._compress(room, None, must=True).kind == "unchanged":
            room.restore_window(known)
            raise error

    @property
    def fill(self) -> ContextFill:
        """How full the context is: by the model's own figure as soon as there is one, estimated until then."""
        tokens = self._meter.tokens
        return ContextFill(tokens, 0, 0) if self._making_room is None else self._making_room.fill(tokens)

    @property
    def notices(self) -> list[str]:
        """What a person should be told of compressions and flushes; whoever shows it empties the list."""
        return [] if self._making_room is None else self._making_room.notices

    # ── what can be asked ───────────────────────────────────────────────────────────────────────────────────────

    @property
    def messages(self) -> tuple[Message, ...]:
        """The transcript so far, without the system prompt."""
        return tuple(self._messages)

    @property
    def in_turn(self) -> bool:
        """Whether a turn is open."""
        return self._in_turn

    @property
    def pending_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the caller's tools that wait for `add_tool_result`."""
        return tuple(self._unanswered) if self._in_turn else ()

    @property
    def awaiting_model(self) -> bool:
        """Whether the model is to be asked next."""
        return self._in_turn and not self._replied and not self._unanswered

    @property
    def turns_since_memory(self) -> int:
        """Turns since the `memory` tool was last called; the nudge counts by it, across a stop too."""
        return turns_since_call(self._messages, NAME)

    @property
    def last_text(self) -> str:
        """The text of the assistant's last message in this turn; empty where there is none."""
        for message in reversed(self._messages):
            if message.role == "user":
                break
            if message.role == "assistant" and message.text:
                return message.text
        return ""

    # ── the end ─────────────────────────────────────────────────────────────────────────────────────────────────

    def close(self, reason: str = "closed") -> None:
        """End the session: give an open turn up and store the reason.  A second call does nothing."""
        if self._closed:
            return
        self.interrupt()
        if self._started:
            self._flush_at_the_end()
            self._store.end_session(self.id, reason)
        self._closed = True

    def __enter__(self) -> "MemorySession":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close("closed" if kind is None else "error")

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _context(self) -> Context:
        return Context(self._system, tuple(self._messages), self._tools)

    def _compress(self, room: MakingRoom, focus: str | None, *, must: bool) -> CompressionResult:
        """Flush, compress, then archive and swap in one transaction and go on with the new beginning."""
        self._flush(room)
        result = room.compress(
            self._messages,
            focus,
            session_id=self.id,
            numbers=self._numbers,
            reserved=self._meter.beginning,
            must=must,
        )
        self._record(result.usage, result.model, "compression")
        if result.kind == "unchanged":
            self._store.set_compression_state(self.id, room.state)
        else:
            self._swap(result, room.rebuild(), room.state)
        return result

    def _swap(self, result: CompressionResult, system: str, state: str) -> None:
        self._numbers = self._store.compact(
            self.id,
            result.messages,
            numbers=[None if place is None else self._numbers[place] or None for place in result.kept],
            expected=[number for number in self._numbers if number],
            system_prompt=system,
            state=state,
        )
        self._last = max(self._last, *self._numbers)
        self._messages, self._system = list(result.messages), system
        self._meter.restart(system, self._messages)

    def _flush(self, room: MakingRoom) -> None:
        flushed = room.flush(self._context())
        if flushed is not None:
            self._flushed_at = self.turns
            self._record(flushed.usage, flushed.model, "flush_memories")

    def _flush_at_the_end(self) -> None:
        room = self._making_room
        if room is not None and 0 < room.flush_min_turns <= self.turns - self._flushed_at:
            self._flush(room)

    def _record(self, usage: Usage, model: str | None, task: str) -> None:
        """Count a model call that stored no message."""
        if usage != Usage():
            priced = self._prices.priced(usage, model)
            self._store.record_usage(self.id, priced, model=model, task=task)
            self.usage += priced

    def _nudge(self) -> tuple[Attachment, ...]:
        """A reminder for this turn, where enough have passed without a memory call (article section 7.4)."""
        interval = self._making_room.nudge_interval if self._making_room and self._memory_tool else 0
        return (Attachment("nudge", read("nudge")),) if 0 < interval <= self.turns_since_memory + 1 else ()

    def _append(self, message: Message, reply: Reply | None = None) -> None:
        usage, model = (reply.usage, reply.model) if reply else (None, None)
        self._last = self._store.append(self.id, message, usage=usage, model=model, after=self._last)
        self._messages.append(message)
        self._numbers.append(self._last)
        self._meter.add(message)

    def _close_transcript(self, why: str) -> None:
        """Answer open calls with a word that they were not run, and let the assistant have the last word."""
        for call in tuple(self._unanswered):
            self._answer(call, ToolResult(call.id, f"not run: {why}", is_error=True))
        if self._messages and self._messages[-1].role != "assistant":
            self._append(Message(role="assistant", content=f"({why})", finish_reason="interrupted"))

    def _answer(self, call: ToolCall, result: ToolResult) -> None:
        self._append(
            Message(
                role="tool",
                content=result.content,
                tool_call_id=call.id,
                tool_name=call.name,
                is_error=result.is_error,
            )
        )
        self._unanswered.remove(call)
        if self._memory_tool is not None and call.name not in self._toolbox:
            self._memory_tool.heard(self._trust.get(call.name, "untrusted"))

    def _with_unique_ids(self, message: Message) -> Message:
        """The message with every call's id given and unlike all earlier ones: some servers count from zero again."""
        calls = []
        for call in message.tool_calls:
            call_id = call.id
            while not call_id or call_id in self._call_ids:
                call_id = f"call_{len(self._call_ids) + 1}{'_' if call_id else ''}{call_id}"
            self._call_ids.add(call_id)
            calls.append(replace(call, id=call_id))
        return replace(message, tool_calls=tuple(calls))
