"""Damaged and hostile files of games: read, or refused with one sentence (`support.mutants`)."""

from __future__ import annotations

import logging
import shutil
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.dataset_games import late_game, played, with_search
from support.mutants import check_loader, mutants
from support.recorded import worked_moves

from game2048 import Board, Direction
from game2048.errors import RecordError
from recordings.datasets.dataset_file import read_games, write_games
from recordings.datasets.formats.chunks import PartWriter
from recordings.datasets.game_index import open_index
from recordings.datasets.hub_card import check_card
from recordings.journal import GameJournal
from recordings.jsonl import read_records
from recordings.recovery import read_journal, recover
from recordings.replay import verify

COUNTS = pytest.mark.parametrize("count", [30, pytest.param(500, marks=pytest.mark.slow)])
GAMES = [played(4, 4, 1, max_moves=40), with_search(played(3, 5, 2, max_moves=30)), late_game()]


@pytest.fixture(autouse=True)
def _kernels_and_no_warnings() -> Iterator[None]:
    for game in GAMES:
        verify(game)  # compiles once, and not within the time of a mutant
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def read_all(path: Path) -> None:
    """What commands do with a dataset: read, verify, list, and take single games."""
    for game in read_games(path):
        verify(game)


def read_indexed(path: Path) -> None:
    index = open_index(path)
    for number in range(len(index.heads())):
        verify(index.game(number))
    if index.fault is not None:
        raise index.fault


def part_file(path: Path) -> Path:
    writer = PartWriter(path)
    writer.write(GAMES)
    writer.close()
    return path


@COUNTS
@pytest.mark.parametrize("load", [read_all, read_indexed])
@pytest.mark.parametrize("extension", [".jsonl", ".json", ".csv", ".parquet", ".h5", ".part"])
def test_mutants_of_datasets(extension: str, load: object, count: int, tmp_path: Path) -> None:
    whole = tmp_path / f"whole{extension}"
    if extension == ".part":
        part_file(whole)
    else:
        write_games(whole, GAMES)
    target = tmp_path / f"mutant{extension}"
    games, others = (tmp_path / f"{name}.games{extension}" for name in ("whole", "mutant"))
    if games.exists():  # the table of games is damaged in turn
        target.write_bytes(whole.read_bytes())
        copies = mutants(games.read_bytes(), count // 2, 3)
        check_loader(lambda _: load(target), others, copies, RecordError)
        shutil.copy(games, others)
    outcomes = check_loader(load, target, mutants(whole.read_bytes(), count, 4), RecordError)
    assert sum(outcomes.refused.values()) > count // 5


@COUNTS
def test_chunks_with_a_right_checksum_and_a_damaged_message(count: int, tmp_path: Path) -> None:
    data = part_file(tmp_path / "whole.part").read_bytes()
    magic, message = data[:16], data[24:]

    def copies() -> Iterator[bytes]:
        for mutant in mutants(message, count, 5):
            yield magic + struct.pack("<II", len(mutant), zlib.crc32(mutant)) + mutant

    outcomes = check_loader(read_all, tmp_path / "mutant.part", copies(), RecordError)
    assert sum(outcomes.refused.values()) > count // 5


@COUNTS
def test_mutants_of_lines_read_as_records(count: int, tmp_path: Path) -> None:
    whole = tmp_path / "whole.jsonl"
    write_games(whole, GAMES)

    def load(path: Path) -> None:
        for record in read_records(path, skip_torn=True):
            verify(record)

    check_loader(load, tmp_path / "mutant.jsonl", mutants(whole.read_bytes(), count, 6), RecordError)


@COUNTS
def test_mutants_of_journals(count: int, tmp_path: Path) -> None:
    journal = GameJournal.create(tmp_path, source="https://example.org/", solver="y")
    for move in worked_moves():
        journal.append(Board.from_tiles(move.board), Direction(move.direction), move.score)
    journal.close()
    data = journal.path.read_bytes()
    journal.discard()

    def load(path: Path) -> None:
        try:
            verify(read_journal(path))
        finally:
            for game in recover(path.parent):
                verify(game)

    folder = tmp_path / "runs"
    folder.mkdir()
    check_loader(load, folder / "game.journal", mutants(data, count, 7), RecordError)
    for record in read_records(folder / "games.jsonl"):
        verify(record)


@COUNTS
def test_mutants_of_dataset_cards(count: int, tmp_path: Path) -> None:
    card = b"---\npretty_name: 2048 games\n---\n<!-- written by bot2048 -->\n# 2048 games\n"
    copies = mutants(card * 20, count, 8)
    check_loader(lambda path: check_card(path.parent), tmp_path / "README.md", copies, RecordError)
