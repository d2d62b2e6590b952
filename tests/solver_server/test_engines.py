"""Engines as they are asked through `Engine`."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from support import naive

from game2048 import Board, Direction
from game2048.engine_names import (
    ANY_BOARD_ENGINE,
    DEFAULT_FOR_DATA,
    DEFAULT_FOR_PLAY,
    ENGINE_NAMES,
    NETWORK_ENGINE,
)
from game2048.errors import SolverError
from game2048.size import Size
from solver_server.engine import Engine, Limit
from solver_server.engines import ENGINES, default_for_data, default_for_play, spec_of

MIDDLE = Board.from_text("2 4 8 16 / 0 0 2 4 / 2 0 64 8 / 0 2 256 512")


@pytest.fixture(scope="module")
def agents() -> dict[str, Engine]:
    return {name: spec.create() for name, spec in ENGINES.items()}


@pytest.mark.parametrize("name", ENGINES)
def test_a_decision_is_a_legal_direction_of_the_highest_value(name: str, agents: dict[str, Engine]) -> None:
    decision = agents[name].choose(MIDDLE, Limit())
    assert decision is not None
    assert [d.value for d in decision.values] == naive.legal(MIDDLE.tiles())
    assert decision.values[decision.direction] == max(decision.values.values())
    assert all(math.isfinite(value) for value in decision.values.values())
    fixed = spec_of(name).default_depth
    assert decision.depth == fixed if fixed is not None else 3 <= decision.depth <= spec_of(name).max_depth
    assert decision.nodes > 0
    assert decision.elapsed_ms > 0


@pytest.mark.parametrize("name", ENGINES)
def test_the_same_board_gets_the_same_answer_whatever_was_asked_before(
    name: str, agents: dict[str, Engine]
) -> None:
    first = agents[name].choose(MIDDLE, Limit(depth=2))
    agents[name].choose(Board.from_text("2 2 0 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"), Limit(depth=2))
    again = agents[name].choose(MIDDLE, Limit(depth=2))
    fresh = spec_of(name).create().choose(MIDDLE, Limit(depth=2))
    assert first is not None
    assert again is not None
    assert fresh is not None
    assert first.values == again.values == fresh.values


@pytest.mark.parametrize("name", ENGINES)
def test_a_dead_board_has_no_move(name: str, agents: dict[str, Engine]) -> None:
    dead = Board.from_text("2 4 2 4 / 4 2 4 2 / 2 4 2 4 / 4 2 4 2")
    assert agents[name].choose(dead, Limit()) is None


@pytest.mark.parametrize("name", ENGINES)
def test_the_largest_tiles_are_merged(name: str, agents: dict[str, Engine]) -> None:
    board = Board.from_text("65536 65536 2 4 / 2 4 8 2 / 4 2 4 8 / 2 4 2 4")
    decision = agents[name].choose(board, Limit(depth=2))
    assert decision is not None
    assert set(decision.values) == {Direction.LEFT, Direction.RIGHT}


@pytest.mark.parametrize("size", [(2, 2), (3, 3), (5, 5), (4, 6), (8, 8)])
def test_fast_plays_any_board(size: tuple[int, int], agents: dict[str, Engine]) -> None:
    board = Board(*size).with_tile(0, 1).with_tile(3, 1)
    decision = agents["fast"].choose(board, Limit(depth=2))
    assert decision is not None
    assert decision.direction in board.legal_directions()


def test_fast_gives_grids_and_bitboards_the_same_values(agents: dict[str, Engine]) -> None:
    from solver_server.search.chance import make_policy
    from solver_server.search.expectimax_engine import ExpectimaxEngine, make_search
    from solver_server.search.heuristics import make_line_heuristic

    search = make_search(make_line_heuristic(), make_policy(), log2_entries=12)
    on_grid = ExpectimaxEngine(search, spec_of("fast").depths, on_grid=True).choose(MIDDLE, Limit(depth=2))
    packed = ExpectimaxEngine(search, spec_of("fast").depths).choose(MIDDLE, Limit(depth=2))
    assert on_grid is not None
    assert packed is not None
    assert on_grid.values == pytest.approx(packed.values)


@pytest.mark.parametrize("name", ENGINES)
def test_a_time_limit_deepens_and_always_answers(name: str, agents: dict[str, Engine]) -> None:
    quick = agents[name].choose(MIDDLE, Limit(time_ms=1e-6))
    assert quick is not None
    rule = spec_of(name).depths
    longer = agents[name].choose(MIDDLE, Limit(depth=rule.minimum + 2, time_ms=10_000))
    assert longer is not None
    assert quick.depth <= longer.depth == rule.minimum + 2


@pytest.mark.parametrize(
    "limit", [Limit(depth=0), Limit(depth=99), Limit(time_ms=0), Limit(time_ms=math.inf)]
)
@pytest.mark.parametrize("name", ENGINES)
def test_limits_out_of_range_are_told(name: str, limit: Limit, agents: dict[str, Engine]) -> None:
    with pytest.raises(SolverError, match="out of range; expected"):
        agents[name].choose(MIDDLE, limit)


def test_unknown_engines_are_told_with_the_known_ones() -> None:
    with pytest.raises(
        SolverError,
        match="engine 'deep' is unknown: expected one of order, ntuple, exact, fast, composite, gradient",
    ):
        spec_of("deep")


def test_the_names_are_those_of_the_engines() -> None:
    assert tuple(ENGINES) == ENGINE_NAMES
    assert {DEFAULT_FOR_PLAY, DEFAULT_FOR_DATA, NETWORK_ENGINE, ANY_BOARD_ENGINE} <= set(ENGINE_NAMES)


def test_where_no_engine_is_named_the_default_plays_unless_weights_are_given(tmp_path: Path) -> None:
    assert default_for_play() == default_for_play(Size(4, 4)) == DEFAULT_FOR_PLAY == "order"
    assert default_for_data() == default_for_data(Size(4, 4)) == DEFAULT_FOR_DATA == "ntuple"
    for default in (default_for_play, default_for_data):
        assert default(Size(3, 5)) == ANY_BOARD_ENGINE == "fast"
        assert default(Size(5, 5), tmp_path / "mine.n2048") == NETWORK_ENGINE == "ntuple"
