from __future__ import annotations

from pathlib import Path

import pytest
from support.dataset_games import hard_games, played
from support.recorded import worked_moves

from game2048 import Board, Direction
from game2048.errors import RecordError
from recordings.datasets.dataset_file import FORMATS, write_games
from recordings.datasets.formats.chunks import PartWriter
from recordings.datasets.formats.json_text import line_of
from recordings.datasets.game_index import open_index
from recordings.journal import GameJournal


@pytest.mark.parametrize("extension", [*FORMATS, ".part"])
def test_any_game_is_read_by_its_number(
    tmp_path: Path, extension: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordings.datasets.formats.writing.BATCH_PLIES", 300)  # several row groups
    games = [*hard_games(), *(played(4, 4, 1, number) for number in range(6)), *hard_games()]
    path = tmp_path / f"games{extension}"
    if extension == ".part":
        writer = PartWriter(path)
        writer.write(games[:5])
        writer.write(games[5:])
        writer.close()
    else:
        write_games(path, games)
    index = open_index(path)
    heads = index.heads()
    assert [head.info for head in heads] == [game.info for game in games]
    assert [head.final_score for head in heads] == [game.final_score for game in games]
    assert [head.size for head in heads] == [game.size for game in games]
    for number in (len(games) - 1, 0, 7, 5, 7):
        assert index.game(number).equals(games[number])
    assert index.fault is None
    for number in (-1, len(games)):
        with pytest.raises(RecordError, match=f"has no game {number + 1}; expected 1 to {len(games)}"):
            index.game(number)


def test_a_growing_file_of_lines_is_read_on_from_where_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "games.jsonl"
    lines = [line_of(played(4, 4, seed)) for seed in range(4)]
    path.write_bytes(b"\xef\xbb\xbf" + lines[0] + b"\n" + lines[1] + lines[2][:100])
    index = open_index(tmp_path)
    assert len(index.heads()) == 2
    taken: list[bytes] = []
    take = type(index)._take
    monkeypatch.setattr(type(index), "_take", lambda self, line: (taken.append(line), take(self, line)))
    with path.open("ab") as file:
        file.write(lines[2][100:] + lines[3].rstrip(b"\n"))
    assert len(index.heads()) == 4
    assert len(taken) == 2  # the first two games are not looked at again
    assert index.game(3).equals(played(4, 4, 3))
    path.write_bytes(lines[3])
    assert index.game(0).equals(played(4, 4, 3))
    assert len(index.heads()) == 1


def test_a_damaged_line_ends_the_list_and_is_named(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(line_of(played(3, 3, 1)) + b'{"totalMoves":1}\n' + line_of(played(3, 3, 2)))
    index = open_index(path)
    assert len(index.heads()) == 1
    assert index.fault is not None
    assert index.fault.line == 2
    assert index.fault.path == path
    with pytest.raises(RecordError, match="line 2"):
        index.game(1)


def test_a_json_array_in_any_layout_is_indexed(tmp_path: Path) -> None:
    path = tmp_path / "games.json"
    lines = [line_of(played(3, 4, seed)).strip() for seed in range(3)]
    path.write_bytes(b"[" + b", ".join(lines) + b"]")
    index = open_index(path)
    assert [head.final_score for head in index.heads()] == [played(3, 4, s).final_score for s in range(3)]
    assert index.game(2).equals(played(3, 4, 2))


def test_a_journal_is_a_game_while_it_is_played(tmp_path: Path) -> None:
    journal = GameJournal.create(tmp_path, source="x", solver="y")
    for move in worked_moves()[:2]:
        journal.append(Board.from_tiles(move.board), Direction(move.direction), move.score)
    index = open_index(journal.path)
    (head,) = index.heads()
    assert (head.info.total_moves, head.info.outcome) == (2, "interrupted")
    move = worked_moves()[2]
    journal.append(Board.from_tiles(move.board), Direction(move.direction), move.score)
    assert index.heads()[0].info.total_moves == 3
    exponents = [[max(0, tile.bit_length() - 1) for tile in row] for row in worked_moves()[2].board]
    assert index.game(0).cells[2].tolist() == exponents
    assert journal.path.exists()


def test_the_tables_of_different_datasets_do_not_make_games(tmp_path: Path) -> None:
    write_games(tmp_path / "a.parquet", [played(4, 4, 1), played(4, 4, 2)])
    write_games(tmp_path / "b.parquet", [played(4, 4, 3)])
    (tmp_path / "b.games.parquet").write_bytes((tmp_path / "a.games.parquet").read_bytes())
    with pytest.raises(RecordError):
        open_index(tmp_path / "b.parquet").game(1)


def test_what_is_not_a_file_of_games_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello")
    with pytest.raises(RecordError, match=r"the extension '\.txt' is not known"):
        open_index(tmp_path / "a.txt")
    with pytest.raises(RecordError, match="does not exist"):
        open_index(tmp_path)
