"""What a list, a search or a clean-up is narrowed to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Sessions that fit everything that is given; the default fits all.

    `project` is a folder, and everything below it fits too.  `since` and `until` are seconds since 1970: a search
    compares them with the message's time, anything else with the session's last activity.
    """

    sources: tuple[str, ...] = ()
    excluded_sources: tuple[str, ...] = ()
    project: str | None = None
    since: float | None = None
    until: float | None = None
    ended: bool | None = None
    most_messages: int | None = None
    excluded_session: str | None = None

    def sql(self, time: str) -> tuple[str, list[object]]:
        """The conditions over `s`, joined by AND, and their parameters.

        Parameters:
            time: the expression that `since` and `until` are compared with.
        """
        conditions: list[tuple[str, list[object]]] = []
        for sources, word in ((self.sources, "IN"), (self.excluded_sources, "NOT IN")):
            if sources:
                conditions.append((f"s.source {word} ({','.join('?' * len(sources))})", list(sources)))
        if self.excluded_session is not None:
            conditions.append(("s.id != ?", [self.excluded_session]))
        if self.project is not None:
            folder = self.project.rstrip("/\\") or self.project
            conditions.append(
                ("(s.project = ? OR substr(s.project, 1, ?) = ?)", [folder, len(folder) + 1, folder + "/"])
            )
        if self.since is not None:
            conditions.append((f"{time} >= ?", [self.since]))
        if self.until is not None:
            conditions.append((f"{time} < ?", [self.until]))
        if self.ended is not None:
            conditions.append((f"s.ended_at IS {'NOT ' if self.ended else ''}NULL", []))
        if self.most_messages is not None:
            conditions.append(("s.message_count <= ?", [self.most_messages]))
        texts = [text for text, _ in conditions]
        return " AND ".join(texts) or "1", [value for _, values in conditions for value in values]
