"""The error of the dashboard."""

from __future__ import annotations

from game2048.errors import Error2048


class DashboardError(Error2048):
    """The dashboard cannot start, or cannot do what a page asked for. The message is a sentence for people.

    Attributes:
        status: the HTTP status that tells a program the same.
    """

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.status = status
