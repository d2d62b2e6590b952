"""The errors of the whole project: one tree, one branch for each package.

    Error2048
    ├── RulesError (ValueError)     the rules do not allow a board, tile, direction or seed   game2048
    │   └── GameOverError           a move is asked for on a board that has none
    ├── WireError (ValueError)      a message breaks the protocol                             game2048
    ├── RecordError                 a game record cannot be read, written or trusted          recordings
    ├── PageError                   a page or a browser cannot be played                      scraper
    └── SolverError                 an engine, a server or a training run failed              solver_server
        └── SolverRefusedError      the solver server answered with an error

Every message says what is wrong, the value, what was expected and what to try. The fields of an error carry
the same facts for programs. Only the command line catches the root.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # raises these errors, so it imports this module
    from game2048.board import Board


class Error2048(Exception):
    """The root of all errors that this project raises on purpose."""


class RulesError(Error2048, ValueError):
    """The rules of 2048 do not allow a board, a tile, a direction or a seed."""


class GameOverError(RulesError):
    """No direction changes the board, so there is no move to choose.

    Attributes:
        board: the board at the end of the game.
    """

    def __init__(self, board: Board) -> None:
        super().__init__(f"the game is over on {board.text()!r}; expected a board with a legal move")
        self.board = board


class WireError(Error2048, ValueError):
    """A message breaks the wire protocol.

    Attributes:
        code: short, stable name of the fault, as an ``error`` message carries it.
        request_id: ``id`` of the request; ``None`` if it could not be read.
    """

    def __init__(self, code: str, message: str, request_id: int | str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.request_id = request_id


class RecordError(Error2048):
    """A game record cannot be read, written or trusted.

    Attributes:
        path: the file; ``None`` if unknown.
        line: line of the file, counted from 1; ``None`` if unknown.
    """

    def __init__(self, message: str, *, path: Path | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line


class PageError(Error2048):
    """A page or a browser cannot be played.

    Attributes:
        url: address of the page; ``None`` if unknown.
        reader: name of the reader that saw the board; ``None`` if none did.
    """

    def __init__(self, message: str, *, url: str | None = None, reader: str | None = None) -> None:
        super().__init__(message)
        self.url = url
        self.reader = reader


class SolverError(Error2048):
    """An engine, a solver server or a training run failed."""


class SolverRefusedError(SolverError):
    """The solver server answered a request with an error.

    Attributes:
        code: short, stable name of the fault (docs/protocol.md).
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
