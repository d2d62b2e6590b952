"""Golden counts of distinct states by ply, computed by the oracle (`naive.perft`), held by `Board`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support import naive

from game2048 import Board
from game2048.kernels import bitboard
from game2048.spawn import chance_outcomes

GOLDEN: list[dict[str, Any]] = json.loads((Path(__file__).parent / "perft.json").read_text())
each_start = pytest.mark.parametrize("golden", GOLDEN, ids=[g["name"] for g in GOLDEN])


@each_start
def test_board_counts(golden: dict[str, Any]) -> None:
    level = {Board.from_tiles(golden["start"])}
    for expected in (count for count in golden["counts"] if count < 15_000):
        level = {
            child
            for board in level
            for slide in board.slides().values()
            if slide.moved
            for _, child in chance_outcomes(slide.afterstate)
        }
        assert len(level) == expected


@each_start
def test_the_oracle_still_counts_so(golden: dict[str, Any]) -> None:
    counts = [count for count in golden["counts"] if count < 3_000]
    assert naive.perft(golden["start"], len(counts)) == counts


@pytest.mark.parametrize(
    "golden", [g for g in GOLDEN if max(map(max, g["start"])) < 16384 and len(g["start"]) == 4]
)
def test_bitboard_counts(golden: dict[str, Any]) -> None:
    tables = bitboard.make_row_tables()
    level = {int(bitboard.from_board(Board.from_tiles(golden["start"])))}
    for expected in (count for count in golden["counts"] if count < 15_000):
        following = set()
        for board in level:
            for direction in range(4):
                after = bitboard.slide(np.uint64(board), direction, tables)[0]
                if after != board:
                    mask = bitboard.empty_mask(np.uint64(after))
                    for bit in (1 << n for n in range(0, 64, 4) if mask >> n & 1):
                        following |= {after | bit, after | 2 * bit}
        level = following
        assert len(level) == expected
