"""An extract has the moves of its tables for its boards, and nothing for others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from game2048 import Board
from game2048.direction import DIRECTIONS
from game2048.errors import SolverError
from game2048.kernels import bitboard
from game2048.kernels.bitboard import IMAGE_DIRECTIONS, IMAGES, next_image
from solver_server import array_file
from solver_server.engine import Limit
from solver_server.engines import default_for_play, spec_of
from solver_server.tables import storage
from solver_server.tables.build import builder
from solver_server.tables.build.builder import EndgameTable, solve_table
from solver_server.tables.extract import extract_file, extractor
from solver_server.tables.extract.extract_file import Extract, extract_move, make_numbering, number_in_extract
from solver_server.tables.formations import BLOCK, HOOK, TableSpec
from solver_server.tables.lookup import image_moves, make_table_set
from solver_server.tables.matching import make_fits, order_of, top_of
from solver_server.tables.verification import check_extract

UP, RIGHT, DOWN, LEFT = (direction.index for direction in DIRECTIONS)
ROWS = bitboard.make_row_tables()
SPECS = (TableSpec(HOOK, 5, slack=8, large=3, spare=2), TableSpec(BLOCK, 5, slack=8, large=3, spare=2))
FULL_SIZE = (TableSpec(HOOK, 7), TableSpec(BLOCK, 8))
LARGE = (15, 14, 13, 12, 11, 10)

Made = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]


@pytest.fixture(scope="module")
def tables() -> list[EndgameTable]:
    return [solve_table(spec) for spec in SPECS]


@pytest.fixture(scope="module")
def made(tables: list[EndgameTable]) -> Made:
    return extractor.find_most_met(tables, games=3, visits=60_000, count=3_000, seed=5, log2_slots=17)


def board_numbered(number: int, specs: tuple[TableSpec, ...] = SPECS) -> np.uint64:
    """A board of that number, large tiles on its locked cells."""
    formations = order_of(specs)
    firsts = [int(first) for first in make_numbering(make_fits(specs)).firsts]
    which = max(i for i, first in enumerate(firsts) if first <= number)
    formation, rest = formations[which], number - firsts[which]
    top = next(spec.top for spec in specs if spec.formation == formation)
    board = sum(rank << (4 * cell) for rank, cell in zip(LARGE, formation.locked, strict=False))
    for cell in formation.moving:
        rest, rank = divmod(rest, top - formation.below_top(cell) + 1)
        board |= rank << (4 * cell)
    assert rest == 0
    return np.uint64(board)


def move_at(moves: npt.NDArray[np.uint8], place: int) -> int:
    return int(moves[place // 4]) >> (2 * (place % 4)) & 3


def test_boards_are_numbered_by_formation_and_moving_tiles() -> None:
    numbering = make_numbering(make_fits(FULL_SIZE))
    # The hook comes first. Its cells hold 7, 8, 7, 7 · 7 · 7 · 7 and 6 · 6 · 6 · 6 kinds of tile, none too.
    assert list(numbering.firsts) == [0, 7 * 8 * 7 * 7**4 * 6**4]
    # A 4 on cell 7, which counts 7 · 8, and a 2 on cell 11, which counts 7 · 8 · 7 · 7³.
    board = np.uint64((2 << 28) | (1 << 44) | 0x00FE_0DCB)
    assert number_in_extract(board, 0, numbering) == 2 * 56 + 392 * 343
    assert number_in_extract(board_numbered(1_500_000_000, FULL_SIZE), 1, numbering) == 1_500_000_000


def test_a_set_that_would_not_fit_32_bits_is_refused() -> None:
    with pytest.raises(SolverError, match="are too many for an extract"):
        make_numbering(make_fits((TableSpec(HOOK, 9), TableSpec(BLOCK, 9))))


def test_every_move_is_the_best_by_the_tables(tables: list[EndgameTable], made: Made) -> None:
    numbers, moves = made
    assert numbers.size == 3_000
    assert (np.diff(numbers.astype(np.int64)) > 0).all()
    known = make_table_set(tables)
    values = np.zeros(4, dtype=np.int64)
    seen = set()
    for place, number in enumerate(numbers):
        board = board_numbered(int(number))
        formation = int(number >= known_firsts()[1])
        top = top_of(board, formation, known.fits)
        largest = image_moves(board, formation, top, ROWS, known, values)
        assert values[move_at(moves, place)] == largest > 0
        seen.add(move_at(moves, place))
    assert len(seen) == 4


def test_a_set_is_checked_against_its_tables(tables: list[EndgameTable], made: Made) -> None:
    numbers, moves = made
    check_extract(extract_file.make_extract(SPECS, numbers, moves), tables)
    known = make_table_set(tables)
    values = np.zeros(4, dtype=np.int64)
    for place in (0, numbers.size // 2, numbers.size - 1):
        board = board_numbered(int(numbers[place]))
        formation = int(numbers[place] >= known_firsts()[1])
        best = image_moves(board, formation, top_of(board, formation, known.fits), ROWS, known, values)
        worse = int(np.flatnonzero(values < best)[0])
        wrong = moves.copy()
        wrong[place // 4] ^= (move_at(moves, place) ^ worse) << (2 * (place % 4))
        with pytest.raises(SolverError, match=f"move {place:,} of the extract is not the best"):
            check_extract(extract_file.make_extract(SPECS, numbers, wrong), tables)


def known_firsts() -> list[int]:
    return [int(first) for first in make_numbering(make_fits(SPECS)).firsts]


def test_boards_met_most_are_kept_first(tables: list[EndgameTable], made: Made) -> None:
    few, _ = extractor.find_most_met(tables, games=3, visits=60_000, count=200, seed=5, log2_slots=17)
    assert set(few) < set(made[0])
    assert few.size == 200


def test_a_set_answers_in_every_image(made: Made) -> None:
    known = extract_file.make_extract(SPECS, *made)
    asked = 0
    for place in range(0, made[0].size, 50):
        image = board_numbered(int(made[0][place]))
        answers = set()
        for turn in range(IMAGES):
            move = extract_move(image, ROWS, known)
            answers.add(int(IMAGE_DIRECTIONS[turn, move]) if move >= 0 else -1)
            image = np.uint64(next_image(image, turn))
        assert -1 not in answers
        asked += len(answers) == 1  # a board that fits in two images may have two best moves
    assert asked > 40


def empty_set() -> Extract:
    return extract_file.make_extract(SPECS, np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.uint8))


def test_a_goal_at_hand_needs_no_set() -> None:
    # 16 · 8 · 4 · 4 below the block; left brings the upper 4 beside the 8.
    board = Board.from_text("4096 2048 1024 0 / 512 256 32 0 / 16 8 0 4 / 4 2 0 4")
    assert extract_move(bitboard.from_board(board), ROWS, empty_set()) == LEFT


def test_of_what_is_not_in_it_a_set_says_nothing(made: Made) -> None:
    known = extract_file.make_extract(SPECS, *made)
    assert extract_move(np.uint64(0x1234), ROWS, known) == -1
    # Without moving tiles there is no goal at hand, and play never meets such a board: two tiles spawn first.
    bare = board_numbered(0)
    assert 0 not in made[0]
    assert extract_move(bare, ROWS, known) == -1
    in_it = board_numbered(int(made[0][0]))
    assert extract_move(in_it, ROWS, known) >= 0
    assert extract_move(in_it, ROWS, empty_set()) == -1


def test_a_file_holds_the_set(tmp_path: Path, made: Made) -> None:
    path = tmp_path / "some.extract"
    tables_told = [storage.table_header(spec, 1) for spec in SPECS]
    extract_file.write_extract(
        path, extract_file.ExtractHeader(tables=tables_told, games=3, visits=60_000, seed=5), *made
    )
    known = extract_file.read_extract(path)
    assert np.array_equal(known.numbers, made[0])
    assert np.array_equal(known.moves, made[1])
    whole = path.read_bytes()
    path.write_bytes(whole[:-7] + bytes([whole[-7] ^ 1]) + whole[-6:])
    with pytest.raises(SolverError, match="is damaged: its SHA-256"):
        extract_file.read_extract(path)
    header, _ = array_file.read_array_header(tmp_path / "some.extract")
    for text, told in (
        (header.replace(b'"count":3000', b'"count":3001'), "a stream has 3000 bytes; expected 3001"),
        (header.replace(b'"kind":"distilled"', b'"kind":"weights"'), "is not an extract"),
        (header.replace(b'"lengths":[', b'"lengths":[1,'), "its streams do not add up"),
    ):
        array_file.write_array(path, text, np.frombuffer(whole[4096:], dtype=np.uint8))
        with pytest.raises(SolverError, match=told):
            extract_file.read_extract(path)


def test_without_a_table_taken_up_there_is_nothing_to_extract(tables: list[EndgameTable]) -> None:
    with pytest.raises(SolverError, match="none of 0 games entered a table"):
        extractor.find_most_met(tables, games=0, visits=10, count=10)


def test_tables_on_disk_are_extracted_into_a_file(tmp_path: Path) -> None:
    for spec in SPECS:
        builder.build_table(spec, tmp_path)
    built = [builder.load_table(path) for path in storage.finished_tables(tmp_path)]
    told: list[int] = []
    kept = extractor.write_most_met(
        tmp_path / "out.extract", built, games=2, visits=5_000, count=100, advance=told.append
    )
    assert kept == 100
    assert sum(told) == 5_000
    header = extract_file.read_extract_header(tmp_path / "out.extract")
    assert [table.sha256 for table in header.tables] == [table.sha256 for table in built]
    assert (header.count, header.games, header.visits) == (100, 2, 5_000)


def test_the_set_that_comes_with_the_project_plays_by_its_rules() -> None:
    known = extract_file.read_extract()
    assert extract_file.BUNDLED_EXTRACT.stat().st_size <= 10_000_000
    assert known.numbers.size > 1_000_000
    assert (np.diff(known.numbers.astype(np.int64)) > 0).all()
    for place in np.random.default_rng(1).integers(0, known.numbers.size, 2_000):
        board = board_numbered(int(known.numbers[place]), FULL_SIZE)
        direction = move_at(known.moves, int(place))
        after, _ = bitboard.slide(board, direction, ROWS)
        formation = int(np.searchsorted(known.numbering.firsts, known.numbers[place], side="right")) - 1
        assert after != board
        assert (np.uint64(after) ^ board) & known.fits.masks[formation] == 0


def test_the_strongest_engine_plays_by_it_where_no_tables_are_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT2048_TABLES", str(tmp_path))
    (tmp_path / "torn.t2048").write_bytes(b"nothing of the kind")
    known = extract_file.read_extract()
    agent = spec_of(default_for_play()).create()
    for place in (0, known.numbers.size // 2, known.numbers.size - 1):
        board = board_numbered(int(known.numbers[place]), FULL_SIZE)
        decision = agent.choose(bitboard.to_board(board), Limit())
        assert decision is not None
        assert decision.values[decision.direction] == 1.0
        assert decision.depth == 1  # looked up, not searched
