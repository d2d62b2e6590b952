from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from support.recorded import random_game, worked_game

from game2048.errors import RecordError
from recordings import append_record, prepare_folder, read_records
from recordings.record import encode_record


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "games.jsonl"


def test_games_come_back_in_the_order_they_were_appended(file: Path) -> None:
    games = [worked_game(), random_game(3, 5, 1), random_game(4, 4, 2)]
    for game in games:
        assert append_record(file, game)
    assert list(read_records(file)) == games
    assert file.read_bytes().count(b"\n") == 3


def test_a_game_is_written_once_where_that_is_asked(file: Path) -> None:
    named = msgspec.structs.replace(worked_game(), id="1f" * 16)
    other = msgspec.structs.replace(worked_game(), id="2f" * 16)
    assert append_record(file, named, once=True)
    assert append_record(file, other, once=True)
    assert not append_record(file, named, once=True)
    assert append_record(file, worked_game(), once=True)  # without a name there is nothing to compare
    assert [game.id for game in read_records(file)] == ["1f" * 16, "2f" * 16, None]


def test_an_id_is_found_across_the_blocks_that_a_file_is_searched_in(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordings.jsonl._BLOCK", 7)
    named = msgspec.structs.replace(worked_game(), id="1f" * 16)
    append_record(file, named)
    append_record(file, worked_game())
    assert not append_record(file, named, once=True)


def test_a_line_cut_off_at_any_byte_harms_no_game_before_or_after(file: Path) -> None:
    first, torn, last = worked_game(), random_game(2, 2, 5), random_game(2, 3, 6)
    line = encode_record(torn)
    for cut in range(1, len(line) - 1):
        file.write_bytes(encode_record(first) + line[:cut])
        reader = read_records(file)
        assert next(reader) == first
        with pytest.raises(RecordError, match=r"games\.jsonl, line 2: the last line is cut off"):
            next(reader)
        assert list(read_records(file, skip_torn=True)) == [first]

        append_record(file, last)
        assert list(read_records(file)) == [first, last]
        aside = file.with_name("games.jsonl.torn")
        assert aside.read_bytes() == line[:cut] + b"\n"
        aside.unlink()


def test_a_whole_last_line_without_its_line_end_is_kept(file: Path) -> None:
    file.write_bytes(encode_record(worked_game()).rstrip(b"\n"))
    assert list(read_records(file)) == [worked_game()]
    append_record(file, random_game(2, 2, 1))
    assert list(read_records(file)) == [worked_game(), random_game(2, 2, 1)]
    assert not file.with_name("games.jsonl.torn").exists()


def test_a_torn_line_longer_than_the_blocks_it_is_moved_in_is_moved_whole(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordings.jsonl._BLOCK", 7)
    file.write_bytes(encode_record(worked_game()) + b'{"totalMoves":12345678901234567890')
    append_record(file, worked_game())
    assert list(read_records(file)) == [worked_game()] * 2
    assert file.with_name("games.jsonl.torn").read_bytes() == b'{"totalMoves":12345678901234567890\n'


def test_a_bad_line_is_named_after_the_games_before_it(file: Path) -> None:
    good = encode_record(worked_game())
    file.write_bytes(good + b"\n" + good.replace(b'"down"', b'"north"') + good)
    reader = read_records(file)
    assert next(reader) == worked_game()
    with pytest.raises(RecordError, match=r"games\.jsonl, line 3: .*north.*\$\.moves\[2\]\.direction"):
        next(reader)


def test_a_byte_order_mark_and_windows_line_ends_are_read(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + encode_record(worked_game()).replace(b"\n", b"\r\n"))
    assert list(read_records(file)) == [worked_game()]


def test_a_line_beyond_the_limit_is_refused_without_reading_it_all(file: Path) -> None:
    line = encode_record(worked_game())
    file.write_bytes(line)
    assert list(read_records(file, max_line_bytes=len(line))) == [worked_game()]
    with pytest.raises(RecordError, match=rf"line 1: over {len(line) - 1} bytes"):
        list(read_records(file, max_line_bytes=len(line) - 1))


def test_a_line_that_no_reader_would_take_is_not_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recordings.jsonl.MAX_LINE_BYTES", 100)
    with pytest.raises(RecordError, match="too long"):
        append_record(file, worked_game())
    assert not file.exists()


def test_a_missing_file_is_told(file: Path) -> None:
    with pytest.raises(RecordError, match=r"games\.jsonl cannot be read: No such file"):
        list(read_records(file))


APPENDER = """
import sys
from support.recorded import random_game
from recordings import append_record
for seed in range(25):
    append_record(sys.argv[1], random_game(4, 4, seed))
"""


def test_programs_that_append_at_once_do_not_mix_their_lines(file: Path) -> None:
    command = [sys.executable, "-c", APPENDER, str(file)]
    environment = child_environment()
    running = [subprocess.Popen(command, env=environment) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    seeds = [game.seed for game in read_records(file)]
    assert sorted(seed for seed in seeds if seed is not None) == sorted(list(range(25)) * 4)


def child_environment() -> dict[str, str]:
    """For a child process that imports what this one imports."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


FULL_DISK = """
import resource, sys
from support.recorded import worked_game
from recordings import append_record
from game2048.errors import RecordError
append_record(sys.argv[1], worked_game())
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    append_record(sys.argv[1], worked_game())
except RecordError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files as POSIX does")
def test_a_write_that_the_disk_does_not_take_is_told_and_undone(file: Path) -> None:
    limit = len(encode_record(worked_game())) + 100
    command = [sys.executable, "-c", FULL_DISK, str(file), str(limit)]
    done = subprocess.run(command, env=child_environment(), capture_output=True, text=True, check=True)
    assert "the game cannot be written to" in done.stdout
    assert file.read_bytes() == encode_record(worked_game())


def test_a_folder_is_made_with_its_parents_and_left_empty(tmp_path: Path) -> None:
    assert prepare_folder(tmp_path / "runs" / "one") == tmp_path / "runs" / "one"
    prepare_folder(tmp_path / "runs" / "one")
    assert list((tmp_path / "runs" / "one").iterdir()) == []


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "runs"):
        with pytest.raises(RecordError, match="games cannot be written to"):
            prepare_folder(folder)
    if sys.platform == "linux":
        with pytest.raises(RecordError, match="games cannot be written to '/proc/runs'"):
            prepare_folder("/proc/runs")
