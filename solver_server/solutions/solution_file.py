"""Keep solutions in array files (`solver_server.array_file`), beside the endgame tables.

The payload is uint32 [2 · positions]: the keys, then the bits of the float32 values.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import filelock
import msgspec
import numpy as np

from game2048.errors import RulesError, SolverError
from game2048.size import Size
from solver_server.array_file import decode_header, read_array, read_array_header, write_array
from solver_server.solutions.small_board import is_solvable, make_small_rules, upright
from solver_server.solutions.solve import Positions, Solution, first_wrong_position, solve

SOLUTION_SUFFIX = ".solution"
_LOCK = ".lock"
_MOST_LAYERS = 1 << 11
_SAMPLE = 10_000


class SolutionHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a solution's file.

    Attributes:
        kind: always ``"solution"``.
        board: size of the board, its shorter side first, as ``3x3``.
        starts: start of each layer, and the number of positions (`Positions.starts`).
        start_value: expected score of a game.
        seconds: time to solve it, on the wall clock.
    """

    kind: str
    board: str
    starts: tuple[int, ...]
    start_value: float
    seconds: float = 0.0

    @property
    def size(self) -> Size:
        """Size of the board.

        Raises:
            RulesError: the text is not a size.
        """
        return Size.parse(self.board)

    @property
    def positions(self) -> int:
        """Number of positions."""
        return self.starts[-1]


def solution_path(folder: Path, size: Size) -> Path:
    """Return the file of a solution; both orientations of a board share it."""
    return folder / f"{upright(size)}{SOLUTION_SUFFIX}"


def finished_solutions(folder: Path) -> list[Path]:
    """List the solutions of a folder, by name."""
    return sorted(folder.glob("*" + SOLUTION_SUFFIX)) if folder.is_dir() else []


def write_solution(folder: Path, solution: Solution, seconds: float = 0.0) -> Path:
    """Write a solution; if the process dies, no part of the file is left.

    Args:
        folder: folder of the file; made if it is missing.
        solution: the solution.
        seconds: time that it took.

    Raises:
        OSError: the file cannot be written.
    """
    positions = solution.positions
    path = solution_path(folder, positions.size)
    header = SolutionHeader(
        kind="solution",
        board=str(positions.size),
        starts=tuple(int(start) for start in positions.starts),
        start_value=solution.start_value,
        seconds=round(seconds, 1),
    )
    payload = np.concatenate((positions.keys, solution.values.view(np.uint32)))
    write_array(path, msgspec.json.encode(header), payload)
    return path


def build_solution(size: Size, folder: Path, advance: Callable[[int], None] = lambda count: None) -> Path:
    """Solve a board and write its file.

    Args:
        size: at most nine cells, sides of at most four.
        folder: folder of the file; made if it is missing.
        advance: called with numbers of positions; each position counts twice.

    Raises:
        SolverError: such boards have too many positions, the file cannot be written, or another process
            solves the same board.
    """
    make_small_rules(size)
    path = solution_path(folder, size)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(path.with_name(path.name + _LOCK), timeout=0):
            begun = time.monotonic()
            solution = solve(size, advance)
            return write_solution(folder, solution, time.monotonic() - begun)
    except filelock.Timeout:
        raise SolverError(
            f"solution {path} is being built by another process; wait for it, or stop it"
        ) from None
    except OSError as error:
        raise SolverError(f"cannot write solution {path}: {error.strerror or error}") from error


def read_solution_header(path: Path) -> SolutionHeader:
    """Read the header of a solution's file.

    Raises:
        SolverError: the file is missing, damaged, or not a solution.
    """
    text, _ = read_array_header(path)
    header = decode_header(path, text, SolutionHeader, "a solution")
    starts = header.starts
    try:
        sound = header.kind == "solution" and is_solvable(header.size) and header.size == upright(header.size)
    except RulesError:
        sound = False
    sound = sound and 2 <= len(starts) <= _MOST_LAYERS and starts[0] == 0 and list(starts) == sorted(starts)
    if not sound:
        raise SolverError(f"{path} is not a solution: its header does not fit; remove it and build it again")
    return header


def read_solution(path: Path) -> Solution:
    """Map a solution into memory; its digest is checked.

    Raises:
        SolverError: see `read_solution_header`.
    """
    header = read_solution_header(path)
    numbers = read_array(path).payload
    if numbers.nbytes != 8 * header.positions:
        raise SolverError(
            f"solution {path} is damaged: it has {numbers.nbytes:,} bytes of numbers; expected "
            f"{8 * header.positions:,}; remove it and build it again"
        )
    words = numbers.view("<u4")
    return Solution(
        Positions(header.size, words[: header.positions], np.array(header.starts, dtype=np.int64)),
        words[header.positions :].view("<f4"),
        header.start_value,
    )


def check_solution(path: Path) -> None:
    """Check a solution: its digest, and the equation of 10,000 positions.

    Raises:
        SolverError: the file is damaged, or a value is wrong.
    """
    wrong = first_wrong_position(read_solution(path), _SAMPLE)
    if wrong is not None:
        raise SolverError(
            f"solution {path} is wrong at {wrong}: its value is not the mean over the spawns; remove it and "
            "build it again"
        )
