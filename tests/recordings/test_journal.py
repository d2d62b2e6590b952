from __future__ import annotations

import errno
import json
import logging
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.recorded import WORKED_FINAL, random_plies, worked_game, worked_moves

from game2048 import Board, Direction
from game2048.errors import RecordError
from recordings import GAMES_FILE, GameJournal, GameRecord, Move, append_record, read_records, recover, verify

FINAL = Board.from_text(WORKED_FINAL)


def begin(folder: Path) -> GameJournal:
    return GameJournal.create(folder, source="self-play", solver="hand", seed=7)


def append(journal: GameJournal, move: Move, *, scored: bool = True) -> int:
    score = move.score if scored else None
    return journal.append(Board.from_tiles(move.board), Direction(move.direction), score)


def leave(folder: Path, moves: list[Move]) -> Path:
    """The journal of a game whose program died after these moves."""
    with begin(folder) as journal:
        for move in moves:
            append(journal, move)
    return journal.path


def games_in(folder: Path) -> list[GameRecord]:
    return list(read_records(folder / GAMES_FILE))


def journals_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.journal*"))


# -- a game that ends ----------------------------------------------------------------------------------------


def test_a_finished_game_is_one_line_and_its_journal_is_gone(tmp_path: Path) -> None:
    journal = begin(tmp_path / "runs")
    for move in worked_moves():
        append(journal, move)
    record = journal.finish(FINAL, 16, "game_over")
    assert games_in(tmp_path / "runs") == [record]
    assert journals_in(tmp_path / "runs") == []
    assert record.moves == worked_game().moves
    assert (record.total_moves, record.final_score, record.max_tile) == (5, 16, 8)
    assert (record.source, record.solver, record.seed) == ("self-play", "hand", 7)
    assert (record.outcome, record.schema_version, record.id) == ("game_over", 1, journal.id)
    assert verify(record) is None


def test_each_move_is_a_line_on_disk_when_append_returns(tmp_path: Path) -> None:
    journal = begin(tmp_path)
    for number, move in enumerate(worked_moves(), 1):
        append(journal, move)
        lines = journal.path.read_bytes().splitlines()
        assert len(lines) == 1 + number == 1 + journal.lines
        assert json.loads(lines[-1]) == {
            "board": move.board,
            "direction": move.direction,
            "score": move.score,
        }


def test_without_a_shown_score_it_is_counted_from_the_merges(tmp_path: Path) -> None:
    journal = begin(tmp_path)
    assert [append(journal, move, scored=False) for move in worked_moves()] == [0, 4, 4, 4, 16]
    record = journal.finish(FINAL, None, "game_over")
    assert record.final_score == 16
    assert verify(record) is None


def test_a_score_that_is_not_shown_for_a_while_is_counted_on(tmp_path: Path) -> None:
    first, second, *_ = worked_moves()
    journal = begin(tmp_path)
    journal.append(Board.from_tiles(first.board), Direction.UP, 500)
    assert append(journal, second, scored=False) == 504


def test_a_game_without_moves_is_recorded_as_it_stands(tmp_path: Path) -> None:
    record = begin(tmp_path).finish(FINAL, None, "stopped")
    assert (record.moves, record.final_score, record.final_board) == ([], 0, [[2, 8], [4, 2]])
    assert games_in(tmp_path) == [record]


def test_keys_that_the_page_never_took_are_left_out(tmp_path: Path) -> None:
    moves = worked_moves()
    journal = begin(tmp_path)
    append(journal, moves[0])
    journal.append(Board.from_tiles(moves[1].board), Direction.UP, 4)  # dropped: the board stays
    journal.append(Board.from_tiles(moves[1].board), Direction.RIGHT, None)  # dropped too
    for move in moves[1:4]:
        append(journal, move, scored=False)
    append(journal, moves[4])  # Ctrl-C before the page took it
    record = journal.finish(Board.from_tiles(moves[4].board), None, "interrupted")
    assert record.moves == moves[:4]
    assert (record.total_moves, record.final_score, record.final_board) == (4, 16, [[2, 8], [0, 4]])
    assert verify(record) is None


def test_a_discarded_game_leaves_nothing(tmp_path: Path) -> None:
    journal = begin(tmp_path)
    append(journal, worked_moves()[0])
    journal.discard()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("score", [-1, 1 << 53])
def test_a_score_that_cannot_be_recorded_is_refused(tmp_path: Path, score: int) -> None:
    journal = begin(tmp_path)
    with pytest.raises(RecordError, match="expected 0 to 9007199254740991"):
        journal.append(FINAL, Direction.UP, score)
    with pytest.raises(RecordError, match="expected 0 to 9007199254740991"):
        journal.finish(FINAL, score, "stopped")


def test_a_game_beyond_what_a_record_holds_is_told_and_can_be_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordings.journal.MAX_LINE_BYTES", (1 << 20) + 200)
    first, second, third, *_ = worked_moves()
    journal = begin(tmp_path)
    append(journal, first)
    append(journal, second)
    with pytest.raises(RecordError, match="too long for one record \\(2 moves\\)"):
        append(journal, third)
    assert journal.finish(Board.from_tiles(third.board), 4, "stopped").total_moves == 2


def test_games_played_into_one_folder_at_once_do_not_meet(tmp_path: Path) -> None:
    journals = [begin(tmp_path) for _ in range(8)]
    assert len({journal.path for journal in journals}) == 8
    for move in worked_moves():
        for journal in journals:
            append(journal, move)
    ids = [journal.finish(FINAL, 16, "game_over").id for journal in journals]
    assert [game.id for game in games_in(tmp_path)] == ids
    assert all(verify(game) is None for game in games_in(tmp_path))


def test_a_folder_that_cannot_be_written_to_is_told_before_the_game(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("")
    with pytest.raises(RecordError, match="games cannot be written to"):
        begin(tmp_path / "runs")


def test_a_game_that_cannot_be_appended_stays_in_its_journal_for_another_try(tmp_path: Path) -> None:
    journal = begin(tmp_path)
    for move in worked_moves():
        append(journal, move)
    (tmp_path / GAMES_FILE).mkdir()
    with pytest.raises(RecordError, match="the game cannot be written"):
        journal.finish(FINAL, 16, "game_over")
    (tmp_path / GAMES_FILE).rmdir()
    record = journal.finish(FINAL, 16, "game_over")
    assert games_in(tmp_path) == [record]
    assert record.moves == worked_moves()
    assert journals_in(tmp_path) == []


def test_a_game_that_was_appended_but_not_forced_to_the_disk_is_not_appended_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    journal = begin(tmp_path)
    for move in worked_moves():
        append(journal, move)
    with monkeypatch.context() as patched:
        patched.setattr("recordings.jsonl.os.fsync", fail)
        with pytest.raises(RecordError, match="Input/output error"):
            journal.finish(FINAL, 16, "game_over")
    record = journal.finish(FINAL, 16, "game_over")
    assert games_in(tmp_path) == [record]


# -- recovery of what a dead program left --------------------------------------------------------------------


def test_recovery_keeps_every_move_and_ends_with_the_slide_of_the_last(tmp_path: Path) -> None:
    leave(tmp_path, worked_moves()[:4])
    (record,) = recover(tmp_path)
    assert record.moves == worked_moves()[:4]
    assert record.outcome == "interrupted"
    assert record.final_board == [[0, 8], [0, 4]]  # right on 4 4 / 2 2, without a spawn
    assert (record.final_score, record.max_tile) == (16, 8)
    assert (record.source, record.solver, record.seed) == ("self-play", "hand", 7)
    assert verify(record) is None
    assert games_in(tmp_path) == [record]
    assert journals_in(tmp_path) == []
    assert recover(tmp_path) == []


def test_a_journal_cut_off_at_any_byte_gives_back_its_whole_lines(tmp_path: Path) -> None:
    moves = worked_moves()
    data = leave(tmp_path / "whole", moves).read_bytes()
    for cut in range(len(data) + 1):
        folder = tmp_path / str(cut)
        folder.mkdir()
        (folder / "game.journal").write_bytes(data[:cut])
        whole = max(data[:cut].count(b"\n") - 1, 0)  # lines of moves
        games = recover(folder)
        assert [game.moves for game in games] == ([moves[:whole]] if whole else [])
        assert journals_in(folder) == []


def test_an_ended_journal_is_recovered_with_its_true_end(tmp_path: Path) -> None:
    journal = begin(tmp_path)
    for move in worked_moves():
        append(journal, move)
    (tmp_path / GAMES_FILE).mkdir()
    with pytest.raises(RecordError):
        journal.finish(FINAL, 16, "game_over")
    journal.close()
    (tmp_path / GAMES_FILE).rmdir()
    (record,) = recover(journal.path)
    assert (record.outcome, record.final_board, record.final_score) == ("game_over", [[2, 8], [4, 2]], 16)
    assert games_in(tmp_path) == [record]


def test_a_game_whose_journal_outlived_it_is_not_written_twice(tmp_path: Path) -> None:
    journal = begin(tmp_path)
    for move in worked_moves():
        append(journal, move)
    before = journal.path.read_bytes()
    record = journal.finish(FINAL, 16, "game_over")
    journal.path.write_bytes(before)
    assert recover(tmp_path) == []
    assert games_in(tmp_path) == [record]
    assert journals_in(tmp_path) == []


def test_a_damaged_journal_gives_its_moves_up_to_the_damage_and_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = leave(tmp_path, worked_moves())
    lines = path.read_bytes().splitlines(keepends=True)
    lines[3] = b'{"board":[[3,2],[2,0]],"direction":"down","score":4}\n'  # 3 is not a tile
    path.write_bytes(b"".join(lines))
    (record,) = recover(tmp_path)
    assert record.moves == worked_moves()[:2]
    assert verify(record) is None
    assert [kept.name for kept in journals_in(tmp_path)] == [path.name + ".damaged"]
    assert "is damaged from line 4 on" in caplog.text


@pytest.mark.parametrize(
    "data", [b"not JSON\n", b'{"journal":2,"id":"x","source":"","solver":""}\n', b"\x00" * 50]
)
def test_what_is_no_journal_does_not_stop_the_others(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "0.journal").write_bytes(data)
    leave(tmp_path, worked_moves()[:1])
    assert [game.moves for game in recover(tmp_path)] == [worked_moves()[:1]]


def test_only_journals_are_recovered(tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("dear")
    with pytest.raises(RecordError, match="is not a journal"):
        recover(file)
    assert file.read_text() == "dear"
    with pytest.raises(RecordError, match="cannot be recovered: No such file"):
        recover(tmp_path / "missing.journal")


def test_the_journal_of_a_running_game_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    journal = begin(tmp_path)
    append(journal, worked_moves()[0])
    leave(tmp_path, worked_moves()[:2])
    with caplog.at_level(logging.WARNING):
        games = recover(tmp_path)
    assert [game.total_moves for game in games] == [2]
    assert f"{journal.path} belongs to a game that is being played" in caplog.text
    append(journal, worked_moves()[1])
    assert journal.finish(Board.from_tiles(worked_moves()[2].board), 4, "stopped").total_moves == 2


def test_without_locks_a_journal_is_taken_for_running_until_it_was_quiet_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordings.recovery.lock", lambda file, wait: "unsupported")
    path = leave(tmp_path, worked_moves()[:2])
    assert recover(tmp_path) == []
    modified = path.stat().st_mtime - 601
    os.utime(path, (modified, modified))
    assert [game.total_moves for game in recover(tmp_path)] == [2]


# -- real processes, really killed ---------------------------------------------------------------------------


@contextmanager
def player(folder: Path, mode: str, seed: int) -> Iterator[subprocess.Popen[str]]:
    """A process that plays games through journals into a folder (journal_child.py)."""
    script = Path(__file__).parents[1] / "support" / "journal_child.py"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        [sys.executable, str(script), str(folder), mode, str(seed)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def lines_until_killed(process: subprocess.Popen[str], count: int) -> list[str]:
    """Kill a player once it printed ``count`` lines; everything it printed."""
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(count)]
    process.kill()
    lines += process.stdout.readlines()
    assert process.wait() == -signal.SIGKILL
    return [line.strip() for line in lines]


def moves_of(seed: int) -> list[Move]:
    return [Move.of(*ply) for ply in random_plies(3, 3, seed)[:-1]]


def test_kill_9_in_mid_game_loses_no_move(tmp_path: Path) -> None:
    with player(tmp_path, "hold", seed=1) as process:
        lines_until_killed(process, 3)
    (record,) = recover(tmp_path)
    assert record.moves == moves_of(1)[:3]
    assert record.outcome == "interrupted"
    assert verify(record) is None


def test_the_journal_of_another_process_is_left_alone_until_that_is_killed(tmp_path: Path) -> None:
    with player(tmp_path, "hold", seed=1) as process:
        assert process.stdout is not None
        for _ in range(3):
            process.stdout.readline()
        assert recover(tmp_path) == []
        lines_until_killed(process, 0)
    assert [game.total_moves for game in recover(tmp_path)] == [3]


def test_kill_9_while_the_record_is_written_leaves_the_game_whole(tmp_path: Path) -> None:
    append_record(tmp_path / GAMES_FILE, worked_game())
    with player(tmp_path, "half-append", seed=2) as process:
        assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / GAMES_FILE).read_bytes().endswith(b"\n")
    assert list(read_records(tmp_path / GAMES_FILE, skip_torn=True)) == [worked_game()]
    (record,) = recover(tmp_path)
    assert record.moves == moves_of(2)
    assert record.outcome == "game_over"
    assert games_in(tmp_path) == [worked_game(), record]
    assert journals_in(tmp_path) == []


def test_kill_9_before_the_journal_is_removed_does_not_double_the_game(tmp_path: Path) -> None:
    with player(tmp_path, "no-removal", seed=3) as process:
        assert process.wait() == -signal.SIGKILL
    assert len(journals_in(tmp_path)) == 1
    assert recover(tmp_path) == []
    assert [game.moves for game in games_in(tmp_path)] == [moves_of(3)]
    assert journals_in(tmp_path) == []


def test_kill_9_at_twenty_moments_loses_no_game_and_doubles_none(tmp_path: Path) -> None:
    draw = random.Random(20)
    finished: list[str] = []
    seen = 0
    for kill in range(20):
        with player(tmp_path, "forever", seed=1000 * kill) as process:
            lines = lines_until_killed(process, draw.randint(1, 150))
        done = [line.split()[1] for line in lines if line.startswith("finished")]
        finished += done
        pressed = (
            len(lines) - 1 - max((i for i, line in enumerate(lines) if line.startswith("fin")), default=-1)
        )
        recover(tmp_path)
        games = games_in(tmp_path)
        assert all(verify(game) is None for game in games)
        new = games[seen:]
        assert [game.seed for game in new] == list(range(1000 * kill, 1000 * kill + len(new)))
        assert len(new) - len(done) in {0, 1}
        if pressed:
            # What was pressed is there; at most one move more reached the disk before the kill.
            last = new[-1]
            assert last.seed is not None
            assert last.moves == moves_of(last.seed)[: last.total_moves]
            assert last.total_moves - pressed in {0, 1}
        seen = len(games)
    ids = [game.id for game in games_in(tmp_path)]
    assert len(set(ids)) == len(ids)
    assert set(finished) <= set(ids)
    assert journals_in(tmp_path) == []
