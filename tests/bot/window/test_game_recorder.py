from __future__ import annotations

from pathlib import Path

from bot.window.desktop_game import DesktopGame
from bot.window.game_recorder import GameRecorder
from game2048.size import Size
from recordings.journal_contents import JOURNAL_SUFFIX, JournalContents
from recordings.jsonl import read_records
from recordings.replay import verify


def play(game: DesktopGame, recorder: GameRecorder, moves: int, *, by_engine: bool = False) -> None:
    for _ in range(moves):
        assert game.move(game.board.legal_directions()[0], by_engine=by_engine) is not None
        recorder.add(game)


def journals(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{JOURNAL_SUFFIX}"))


def test_a_game_is_on_disk_after_every_move_and_recorded_at_its_end(tmp_path: Path) -> None:
    game, recorder = DesktopGame(Size(4, 4), seed=2), GameRecorder(tmp_path / "out", "order")
    assert not (tmp_path / "out").exists()
    play(game, recorder, 7)
    (journal,) = journals(tmp_path / "out")
    assert len(JournalContents.read(journal, check_boards=True).moves) == 7
    record = recorder.finish(game, "stopped")
    assert record is not None
    assert verify(record) is None
    assert (record.total_moves, record.final_score, record.outcome) == (7, game.score, "stopped")
    assert (record.source, record.solver) == ("window", "person")
    assert journals(tmp_path / "out") == []
    assert list(read_records(tmp_path / "out" / "games.jsonl")) == [record]


def test_undone_moves_are_not_in_the_record(tmp_path: Path) -> None:
    game, recorder = DesktopGame(Size(4, 4), seed=2), GameRecorder(tmp_path, "order")
    play(game, recorder, 9)
    for _ in range(4):
        game.undo()
    play(game, recorder, 2)
    (journal,) = journals(tmp_path)
    assert len(JournalContents.read(journal, check_boards=True).moves) == 7
    game.undo()
    record = recorder.finish(game, "stopped")
    assert record is not None
    assert verify(record) is None
    assert record.total_moves == 6
    assert record.final_board == game.board.tiles()


def test_a_game_that_was_undone_to_its_start_leaves_nothing(tmp_path: Path) -> None:
    game, recorder = DesktopGame(Size(4, 4), seed=2), GameRecorder(tmp_path, "order")
    play(game, recorder, 1)
    game.undo()
    assert recorder.finish(game, "stopped") is None
    assert list(tmp_path.iterdir()) == []


def test_the_record_names_who_chose_the_moves(tmp_path: Path) -> None:
    game, recorder = DesktopGame(Size(4, 4), seed=2), GameRecorder(tmp_path, "fast")
    play(game, recorder, 3, by_engine=True)
    play(game, recorder, 3)
    game_record = recorder.finish(game, "stopped")
    game.restart()
    play(game, recorder, 2, by_engine=True)
    next_record = recorder.finish(game, "stopped")
    assert game_record is not None
    assert next_record is not None
    assert (game_record.solver, next_record.solver) == ("fast and person", "fast")
    assert [record.total_moves for record in read_records(tmp_path / "games.jsonl")] == [6, 2]
