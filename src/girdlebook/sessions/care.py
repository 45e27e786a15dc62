"""Deleting old conversations by itself, where the settings want it (`sessions.*`)."""

import logging
import time

from girdlebook.sessions.filters import SessionFilter
from girdlebook.sessions.sqlite import SQLiteSessionStore
from girdlebook.sessions.store import SessionRecord

_LOG = logging.getLogger(__name__)

_LAST_PRUNED = "last_pruned"
_DAY = 86_400.0
_HOUR = 3_600.0


def older_than(days: float, now: float) -> SessionFilter:
    """Conversations that have ended and were quiet for that many days.

    Parameters:
        now: seconds since 1970.
    """
    return SessionFilter(ended=True, until=now - days * _DAY)


def prune_if_due(
    store: SQLiteSessionStore,
    *,
    retention_days: float,
    min_interval_hours: float,
    vacuum: bool,
    now: float | None = None,
) -> list[SessionRecord]:
    """Delete old conversations, unless that was done a short while ago.

    Parameters:
        retention_days: days without a message after which an ended conversation is old.
        min_interval_hours: hours between two prunings.
        vacuum: whether no deleted text is to be left in the file.
        now: seconds since 1970; None for now.

    Returns:
        what was deleted.

    Raises:
        StoreError: it could not be done.
    """
    moment = time.time() if now is None else now
    last = store.note(_LAST_PRUNED)
    if last is not None and moment - float(last) < min_interval_hours * _HOUR:
        return []
    store.set_note(_LAST_PRUNED, str(moment))
    pruned = store.prune(older_than(retention_days, moment))
    if pruned:
        _LOG.info("deleted %d conversations older than %g days", len(pruned), retention_days)
        if vacuum:
            store.erase_deleted()
    return pruned
