"""Full solutions of small boards, held against play spelled out with the slow rules."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support import naive

from game2048 import Board, Direction
from game2048.errors import SolverError
from game2048.size import Size
from solver_server.cli.tables import tables
from solver_server.engine import Limit
from solver_server.engines import default_for_data, default_for_play, spec_of
from solver_server.solutions import solve as solving
from solver_server.solutions.engine import SolutionEngine, SolutionShelf
from solver_server.solutions.small_board import (
    make_small_rules,
    pack_small,
    slide_small,
    small_board_of,
    small_key_of,
    unpack_small,
)
from solver_server.solutions.solution_file import (
    build_solution,
    check_solution,
    read_solution,
    write_solution,
)

Rows = tuple[tuple[int, ...], ...]


@cache
def best(tiles: Rows, goal: int) -> float:
    """The value of the best move by the rules alone: score to come, or chance to make the tile ``goal``."""
    moves = [
        naive.slide([list(row) for row in tiles], name) for name in naive.legal([list(r) for r in tiles])
    ]
    if goal:
        return max((chance_to_make(freeze(after), goal) for after, _ in moves), default=0.0)
    return max((reward + mean_after(freeze(after), goal) for after, reward in moves), default=0.0)


@cache
def chance_to_make(after: Rows, goal: int) -> float:
    return 1.0 if max(map(max, after)) >= goal else mean_after(after, goal)


@cache
def mean_after(after: Rows, goal: int) -> float:
    return sum(chance * best(freeze(board), goal) for chance, board in naive.spawns([list(r) for r in after]))


def freeze(tiles: naive.Tiles) -> Rows:
    return tuple(map(tuple, tiles))


def value_of_game(size: Size, goal: int = 0) -> float:
    """The mean over all first boards."""
    empty = [[0] * size.columns for _ in range(size.rows)]
    return sum(
        one * two * best(freeze(board), goal)
        for one, first in naive.spawns(empty)
        for two, board in naive.spawns(first)
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("solutions")
    build_solution(Size(2, 2), folder)
    build_solution(Size(3, 2), folder)
    return folder


@pytest.mark.parametrize(("goal", "published"), [(0, None), (8, 1.0), (16, 0.96), (32, 0.08)])
def test_two_by_two_is_solved_as_the_rules_say_and_as_others_found(
    goal: int, published: float | None
) -> None:
    positions = solving.find_positions(Size(2, 2))
    exponent = goal.bit_length() - 1 if goal else 0
    value = solving.value_of_start(positions, solving.values_of(positions, exponent))
    assert value == pytest.approx(value_of_game(Size(2, 2), goal), rel=1e-12)
    if published is not None:  # jdlm.info/articles/2018/03/18/markov-decision-process-2048.html
        assert value == pytest.approx(published, abs=0.005)


def test_late_boards_of_two_by_three_have_the_values_that_the_rules_give(folder: Path) -> None:
    solution = read_solution(folder / "2x3.solution")
    late = Board.from_text("64 32 2 / 8 16 0").with_tile(5, 1)
    checked = 0
    for board in (late, Board.from_text("32 64 8 / 16 2 0"), Board.from_text("64 16 4 / 32 8 4")):
        values = solving.move_values(board, solution)
        assert values is not None
        for name in naive.legal(board.tiles()):
            after, reward = naive.slide(board.tiles(), name)
            assert values[Direction(name)] == pytest.approx(reward + mean_after(freeze(after), 0), rel=1e-6)
            checked += 1
        assert len(values) == len(naive.legal(board.tiles()))
    assert checked >= 4


def test_play_for_the_score_makes_a_tile_at_most_as_often_as_play_for_the_tile() -> None:
    positions = solving.find_positions(Size(2, 3))
    values = solving.values_of(positions)
    for exponent in (5, 6, 7):
        aimed = solving.values_of(positions, exponent)
        by_score = solving.chances_by_score(positions, values, exponent)
        assert (by_score <= aimed + 1e-12).all()
        assert 0 < solving.value_of_start(positions, by_score) <= solving.value_of_start(positions, aimed)
    # No 2x3 board holds a 256: it would take 128, 64, … , 4 and another 4 on seven cells.
    assert not solving.values_of(positions, 8).any()


@pytest.mark.parametrize("size", [Size(2, 2), Size(2, 3), Size(2, 4), Size(3, 3)])
def test_images_share_a_key_and_slides_are_those_of_the_rules(size: Size) -> None:
    rules = make_small_rules(size)
    random = np.random.default_rng(3)
    for _ in range(40):
        board = Board(*size, bytes(int(n) for n in random.integers(0, size.cells + 2, size.cells)))
        packed = pack_small(board)
        assert unpack_small(packed, size) == board
        tiles = board.tiles()
        images = [tiles, tiles[::-1], [row[::-1] for row in tiles], [row[::-1] for row in tiles[::-1]]]
        if size.rows == size.columns:
            images += [[list(column) for column in zip(*image, strict=True)] for image in images]
        keys = {int(small_key_of(pack_small(Board.from_tiles(image)), rules)) for image in images}
        assert len(keys) == 1
        again = unpack_small(np.uint64(small_board_of(np.uint32(keys.pop()), rules)), size)
        assert again.tiles() in images
        for index, name in enumerate(naive.STEP):
            after, reward = slide_small(packed, index, rules)
            assert (unpack_small(after, size).tiles(), reward) == naive.slide(tiles, name)


def test_a_board_on_its_side_has_the_same_values(folder: Path) -> None:
    engine = SolutionEngine(spec_of("fast").create(), SolutionShelf(folder), spec_of("fast").depths)
    lying = engine.choose(Board.from_text("32 64 8 / 16 2 0"), Limit())
    standing = engine.choose(Board.from_text("32 16 / 64 2 / 8 0"), Limit())
    assert lying is not None
    assert standing is not None
    assert lying.found_by == standing.found_by == "table"
    turned = {"up": "left", "left": "up", "down": "right", "right": "down"}
    assert {turned[d.value]: value for d, value in lying.values.items()} == {
        d.value: value for d, value in standing.values.items()
    }
    assert lying.values[lying.direction] == max(lying.values.values())


def test_without_a_solution_and_off_the_paths_of_play_the_search_answers(
    folder: Path, tmp_path: Path
) -> None:
    fast = spec_of("fast")
    limit = Limit(depth=2)
    engine = SolutionEngine(fast.create(), SolutionShelf(folder), fast.depths)
    for board in (Board.from_text("256 0 / 0 2"), Board.from_text("2 2 0 / 0 0 0 / 0 0 4")):
        found, expected = engine.choose(board, limit), fast.create().choose(board, limit)
        assert found is not None
        assert expected is not None
        assert (found.found_by, found.values) == ("search", expected.values)
    unsolved = SolutionEngine(fast.create(), SolutionShelf(tmp_path), fast.depths)
    decision = unsolved.choose(Board.from_text("2 2 / 0 4"), limit)
    assert decision is not None
    assert decision.found_by == "search"


def test_a_solved_board_keeps_the_contract_of_engines(folder: Path) -> None:
    engine = SolutionEngine(spec_of("fast").create(), SolutionShelf(folder), spec_of("fast").depths)
    assert engine.choose(Board.from_text("2 4 / 4 2"), Limit()) is None
    for limit in (Limit(depth=99), Limit(time_ms=0)):
        with pytest.raises(SolverError, match="out of range"):
            engine.choose(Board.from_text("2 4 / 0 2"), limit)


def test_damage_is_told_and_the_engine_plays_on(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "2x2.solution"
    contents = bytearray((folder / path.name).read_bytes())
    contents[-3] ^= 16
    path.write_bytes(contents)
    with pytest.raises(SolverError, match="damaged"):
        read_solution(path)
    engine = SolutionEngine(spec_of("fast").create(), SolutionShelf(tmp_path), spec_of("fast").depths)
    decision = engine.choose(Board.from_text("2 4 / 0 2"), Limit(depth=1))
    assert decision is not None
    assert decision.found_by == "search"
    assert "damaged" in caplog.text


def test_a_wrong_value_is_found_and_a_large_board_refused(folder: Path, tmp_path: Path) -> None:
    solution = read_solution(folder / "2x2.solution")
    values = solution.values.copy()
    values[40] += 1
    write_solution(tmp_path, solving.Solution(solution.positions, values, solution.start_value))
    with pytest.raises(SolverError, match="wrong at"):
        check_solution(tmp_path / "2x2.solution")
    with pytest.raises(SolverError, match="3x4 is too large to be solved; expected at most 9 cells"):
        build_solution(Size(3, 4), tmp_path)


def test_the_commands_build_list_verify_and_remove_a_solution(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        result = CliRunner().invoke(tables, [*arguments, "--folder", str(tmp_path)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    assert str(tmp_path / "2x2.solution") in run("build", "2x2")
    assert "2x2                       68 positions" in run("list")
    assert "mean score 67.0" in run("list")
    assert "2x2: good" in run("verify", "2x2")
    run("remove", "2x2")
    assert not (tmp_path / "2x2.solution").exists()


def test_small_boards_are_played_exactly_where_no_engine_is_named() -> None:
    assert default_for_play(Size(3, 3)) == default_for_data(Size(4, 2)) == "exact"
    assert default_for_play(Size(3, 4)) == default_for_data(Size(2, 5)) == "fast"


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_three_by_three_has_the_published_chances() -> None:
    positions = solving.find_positions(Size(3, 3))
    for exponent, published in ((9, 0.74), (10, 0.01)):  # jdlm.info, as above
        chance = solving.value_of_start(positions, solving.values_of(positions, exponent))
        assert chance == pytest.approx(published, abs=0.005)
