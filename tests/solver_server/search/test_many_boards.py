from __future__ import annotations

import threading

import numpy as np
import pytest

from game2048.board import Board
from game2048.kernels import bitboard
from solver_server.engine import Limit
from solver_server.engines import ENGINES
from solver_server.search.many_boards import ManyBoards, choose_each, downgrade_packed, pack_exponents
from solver_server.stop_flag import SearchStoppedError

TEXTS = [
    "2 4 8 16 / . . 2 4 / . . . 2 / . . . .",
    "2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2",
    "1024 512 256 128 / 8 16 32 64 / 4 2 . . / 2 . . .",
    "32768 32768 512 128 / 8 16 32 64 / 4 2 . . / 2 . . .",
    "4 2 2 4 / 8 16 32 64 / 16 8 64 32 / 2 4 8 16",
    ". . . . / . . . . / . . . 2 / . . 2 .",
]
BOARDS = [Board.from_text(text) for text in TEXTS]
PACKED = np.array([bitboard.from_board(board) for board in BOARDS], dtype=np.uint64)


@pytest.mark.parametrize("limit", [Limit(), Limit(depth=2)])
@pytest.mark.parametrize("name", list(ENGINES))
def test_many_boards_get_the_moves_that_each_gets_alone(name: str, limit: Limit) -> None:
    engine, alone = ENGINES[name].create(), ENGINES[name].create()
    assert isinstance(engine, ManyBoards)
    directions = np.full(len(BOARDS), 77, dtype=np.int8)
    done = 0
    while done < len(BOARDS):
        done += engine.choose_packed(downgrade_packed(PACKED[done:]), limit, directions[done:], np.inf)
    decisions = [alone.choose(board, limit) for board in BOARDS]
    assert directions.tolist() == [-1 if one is None else one.direction.index for one in decisions]


@pytest.mark.parametrize("name", ["order", "ntuple", "fast"])
def test_a_turn_that_is_over_answers_the_first_board_alone(name: str) -> None:
    boards = np.repeat(PACKED[:1], 50)
    directions = np.full(50, 77, dtype=np.int8)
    engine = ENGINES[name].create()
    assert isinstance(engine, ManyBoards)
    assert engine.choose_packed(boards, Limit(), directions, -1.0) == 1
    assert directions[0] in range(4)


@pytest.mark.parametrize("name", list(ENGINES))
@pytest.mark.parametrize("many", [False, True])
def test_a_set_flag_stops_a_search(name: str, many: bool) -> None:
    engine = ENGINES[name].create()
    limit = Limit(depth=ENGINES[name].max_depth, time_ms=60_000)
    board = Board.from_text("2 4 8 16 / 4 2 16 8 / . 2 . 4 / 2 . 4 .")
    flag = engine.stop_flag  # type: ignore[attr-defined]

    def search() -> None:
        if many:
            directions = np.zeros(1000, dtype=np.int8)
            boards = np.full(1000, bitboard.from_board(board))
            done = 0
            while done < 1000:
                done += engine.choose_packed(  # type: ignore[attr-defined]
                    boards[done:], limit, directions[done:], np.inf
                )
        else:
            while True:  # composite's deepest search may end by itself
                engine.choose(board, limit)

    engine.choose(board, Limit(time_ms=1))
    threading.Timer(0.1, flag.set).start()
    with pytest.raises(SearchStoppedError):
        search()
    flag.clear()
    assert engine.choose(board, Limit(time_ms=1)) is not None


def test_only_boards_with_two_tiles_of_32768_are_downgraded() -> None:
    narrow = downgrade_packed(PACKED)
    assert [i for i in range(len(BOARDS)) if narrow[i] != PACKED[i]] == [3]
    assert narrow[3] == bitboard.downgrade(np.frombuffer(BOARDS[3].cells, dtype=np.uint8))
    cells = np.frombuffer(b"".join(board.cells for board in BOARDS), dtype=np.uint8).reshape(-1, 16)
    assert pack_exponents(cells).tolist() == narrow.tolist()


def test_boards_of_other_sizes_are_chosen_for_one_by_one() -> None:
    engine = ENGINES["fast"].create()
    boards = [Board.from_text("2 2 / 0 4"), Board.from_text("2 4 / 4 2"), Board(5, 5).with_tile(0, 1)]
    directions = np.zeros(3, dtype=np.int8)
    assert choose_each(engine, boards, Limit(depth=1), directions) == 3
    alone = [engine.choose(board, Limit(depth=1)) for board in boards]
    assert alone[1] is None
    assert directions.tolist() == [-1 if one is None else one.direction.index for one in alone]
