"""The errors of the whole project: one tree, each package its branch.

    Error2048
    ├── RulesError (ValueError)   a board, tile, direction or seed the rules do not know   game2048
    ├── WireError (ValueError)    a message that is not of the protocol                    game2048
    ├── RecordError               a game record that cannot be read, written or believed   recordings
    ├── PageError                 a page or a browser that cannot be played                scraper
    └── SolverError               an engine, a server or a training that cannot go on      solver_server

Every message says what is wrong, the value, what was expected and what to try.
Only the command line catches the root.
"""

from __future__ import annotations

from pathlib import Path


class Error2048(Exception):
    """The root of every error this project raises on purpose."""


class RulesError(Error2048, ValueError):
    """A board, tile, direction or seed that the rules of 2048 do not know."""


class WireError(Error2048, ValueError):
    """A message that is not of the wire protocol.

    Attributes:
        code: the short, stable name of the fault, as sent in an ``error`` message.
        request_id: the ``id`` of the offending request, where it could be read.
    """

    def __init__(self, code: str, message: str, request_id: int | str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class RecordError(Error2048):
    """A game record that cannot be read, written or believed.

    Attributes:
        path: the file, where one is known.
        line: the line in it, counted from 1, where one is known.
    """

    def __init__(self, message: str, *, path: Path | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class PageError(Error2048):
    """A page or a browser that cannot be played.

    Attributes:
        url: the address of the page, where one is known.
        reader: the name of the reader that saw the board, where one did.
    """

    def __init__(self, message: str, *, url: str | None = None, reader: str | None = None) -> None:
        super().__init__(message)
        self.url = url
        self.reader = reader


class SolverError(Error2048):
    """An engine, a solver server or a training run that cannot go on."""
