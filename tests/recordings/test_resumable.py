from __future__ import annotations

import logging
from pathlib import Path

import pytest
from support.dataset_games import hard_games, late_game, played

from game2048.errors import RecordError
from recordings.datasets.dataset_file import FORMATS, read_games, write_games
from recordings.datasets.formats import chunks
from recordings.datasets.formats.chunks import Chunk, decode_chunk, encode_chunk
from recordings.datasets.resumable import GrowingDataset, working_files
from recordings.game_arrays import GameArrays


def chunk(*games: GameArrays, first: int = 0) -> Chunk:
    return Chunk(first, len(games), list(games))


def same(found: list[GameArrays], expected: list[GameArrays]) -> bool:
    return len(found) == len(expected) and all(map(GameArrays.equals, found, expected))


def parts(path: Path) -> set[str]:
    return {file.name for file in path.parent.iterdir()}


def test_a_message_holds_every_bit_of_its_games() -> None:
    message = encode_chunk(Chunk(7, 12, hard_games(), 0.5))
    decoded = decode_chunk(message)
    assert (decoded.first, decoded.played, decoded.seconds) == (7, 12, 0.5)
    assert same(decoded.games, hard_games())


def test_what_is_no_message_is_told() -> None:
    message = encode_chunk(chunk(late_game()))
    for broken in (b"", b"\x93", message[:-1], message + b"x", message.replace(b"hand", b"han\xff")):
        with pytest.raises(RecordError, match="not a message of games"):
            decode_chunk(broken)


@pytest.mark.parametrize("extension", FORMATS)
def test_a_dataset_grows_to_what_is_written_at_once(tmp_path: Path, extension: str) -> None:
    games = [played(4, 4, 1, game) for game in range(4)]
    path = tmp_path / "new" / f"games{extension}"
    with GrowingDataset(path, "new") as dataset:
        assert list(dataset.games()) == []
        dataset.append(chunk(*games[:3]))
        dataset.append(chunk(first=3))
        dataset.append(chunk(games[3], first=4))
        dataset.finish()
    write_games(tmp_path / f"once{extension}", games)
    assert path.read_bytes() == (tmp_path / f"once{extension}").read_bytes()
    assert len(parts(path)) == (2 if FORMATS[extension].paired else 1)


@pytest.mark.parametrize("extension", FORMATS)
def test_what_was_left_unfinished_or_finished_is_gone_on_with(tmp_path: Path, extension: str) -> None:
    games = [played(4, 4, 1, game) for game in range(4)]
    path = tmp_path / f"games{extension}"
    with GrowingDataset(path, "new") as dataset:
        dataset.append(chunk(games[0]))
    with GrowingDataset(path, "resume") as dataset:
        assert same(list(dataset.games()), games[:1])
        dataset.append(chunk(games[1], first=1))
        dataset.finish()
    assert same(list(read_games(path)), games[:2])
    with GrowingDataset(path, "resume") as dataset:
        assert same(list(dataset.games()), games[:2])
        dataset.append(chunk(games[2], games[3], first=2))
        dataset.finish()
    assert same(list(read_games(path)), games)


@pytest.mark.parametrize("extension", FORMATS)
def test_a_resumed_dataset_that_is_finished_at_once_stays_as_it_was(tmp_path: Path, extension: str) -> None:
    path = tmp_path / f"games{extension}"
    write_games(path, [late_game()])
    before = path.read_bytes()
    with GrowingDataset(path, "resume") as dataset:
        dataset.finish()
    assert path.read_bytes() == before


@pytest.mark.parametrize("extension", FORMATS)
def test_a_dataset_that_was_begun_or_finished_is_not_begun_again_in_silence(
    tmp_path: Path, extension: str
) -> None:
    path = tmp_path / f"games{extension}"
    with GrowingDataset(path, "new") as dataset:
        dataset.append(chunk(late_game()))
    with pytest.raises(RecordError, match=r"--force"):
        GrowingDataset(path, "new")
    with GrowingDataset(path, "resume") as dataset:
        dataset.finish()
    with pytest.raises(RecordError, match=r"exists; expected a new name, or --force"):
        GrowingDataset(path, "new")
    with GrowingDataset(path, "overwrite") as dataset:
        dataset.append(chunk(played(2, 2, 1)))
        dataset.finish()
    assert same(list(read_games(path)), [played(2, 2, 1)])


def test_an_overwritten_dataset_is_there_until_the_new_one_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "games.parquet"
    write_games(path, [late_game()])
    with GrowingDataset(path, "overwrite") as dataset:
        assert list(dataset.games()) == []
        dataset.append(chunk(played(2, 2, 1)))
        assert same(list(read_games(path)), [late_game()])


def test_every_cut_of_a_working_file_gives_back_the_whole_games(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    games = [played(2, 2, seed) for seed in range(3)]
    path = tmp_path / "games.csv"
    with GrowingDataset(path, "new") as dataset:
        for number, game in enumerate(games):
            dataset.append(chunk(game, first=number))
    part = working_files(path)[0]
    whole = part.read_bytes()
    ends = [end for _, end in chunks.scan_chunks(part)]
    for cut in range(len(whole)):
        part.write_bytes(whole[:cut])
        expected = games[: sum(end <= cut for end in ends)]
        with caplog.at_level(logging.CRITICAL):
            assert same(list(read_games(part)), expected), cut
    part.write_bytes(whole[: ends[1] + 5])
    with GrowingDataset(path, "resume") as dataset:
        assert len(list(dataset.games())) == 2
        dataset.append(chunk(games[2], first=2))
        dataset.finish()
    assert same(list(read_games(path)), games)


def test_a_working_file_that_is_damaged_in_the_middle_is_told(tmp_path: Path) -> None:
    path = tmp_path / "games.h5"
    with GrowingDataset(path, "new") as dataset:
        dataset.append(chunk(played(2, 2, 1)))
        dataset.append(chunk(played(2, 2, 2), first=1))
    part = working_files(path)[0]
    damaged = bytearray(part.read_bytes())
    damaged[40] ^= 1
    part.write_bytes(damaged)
    with GrowingDataset(path, "resume") as dataset, pytest.raises(RecordError, match="is damaged at byte 24"):
        list(dataset.games())
    part.write_bytes(b"something else entirely")
    with pytest.raises(RecordError, match="is not a working file of a dataset"):
        list(read_games(part))


@pytest.mark.parametrize("cut", [1, 100, 5000])
def test_lines_that_were_cut_off_are_set_aside_and_gone_on_after(tmp_path: Path, cut: int) -> None:
    games = [played(4, 4, 1, game) for game in range(3)]
    path = tmp_path / "games.jsonl"
    with GrowingDataset(path, "new") as dataset:
        dataset.append(chunk(*games[:2]))
    path.write_bytes(path.read_bytes()[:-cut])
    with GrowingDataset(path, "resume") as dataset:
        assert same(list(dataset.games()), games[: 2 if cut == 1 else 1])
        dataset.append(chunk(*games[1 if cut > 1 else 2 :], first=1))
        dataset.finish()
    assert same(list(read_games(path)), games)


def test_games_before_their_turn_wait_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    third, second = chunk(played(2, 2, 3), first=2), chunk(played(2, 2, 2), first=1)
    with GrowingDataset(path, "new") as dataset:
        dataset.set_aside(third)
        dataset.set_aside(second)
    with GrowingDataset(path, "resume") as dataset:
        waiting = dataset.waiting()
        assert sorted(waiting) == [1, 2]
        assert same(waiting[2].games, third.games)
        dataset.set_aside(chunk(played(2, 2, 4), first=3))
        assert sorted(dataset.waiting()) == [1, 2, 3]
        dataset.clear_aside()
        assert dataset.waiting() == {}
        dataset.set_aside(second)
        assert sorted(dataset.waiting()) == [1]
        dataset.finish()
    # Broken off by Ctrl-C, say: the file is finished, and what was set aside is kept.
    assert parts(path) == {"games.jsonl", "games.jsonl.ahead"}
    with GrowingDataset(path, "resume") as dataset:
        assert sorted(dataset.waiting()) == [1]
        dataset.clear_aside()
        dataset.finish()
    assert parts(path) == {"games.jsonl"}


def test_two_programs_do_not_write_one_dataset(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with GrowingDataset(path, "new") as dataset:
        for mode in ("resume", "overwrite"):
            with pytest.raises(RecordError, match=r"games\.jsonl is being written by another program"):
                GrowingDataset(path, mode)
        dataset.append(chunk(late_game()))
        dataset.finish()
    assert len(list(read_games(path))) == 1


def test_a_format_that_is_none_and_a_folder_that_cannot_be_made_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="is not known"):
        GrowingDataset(tmp_path / "games.txt", "new")
    (tmp_path / "file").write_text("")
    with pytest.raises(RecordError, match="cannot be written"):
        GrowingDataset(tmp_path / "file" / "games.jsonl", "new")
    assert parts(tmp_path / "file") == {"file"}
