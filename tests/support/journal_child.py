"""A process that plays random games through journals, for tests that kill it.

    python journal_child.py FOLDER MODE SEED

Prints a line after each move that is on disk ("pressed"), and ``finished <id>`` after each finished game.
MODE: ``forever``; ``hold`` (three moves, then wait); ``half-append`` and ``no-removal`` kill themselves
in the middle of writing the first game's record, and before its journal is removed.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import IO

import recordings.journal
import recordings.jsonl
from recordings import GameJournal
from support.recorded import random_plies


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def write_half(file: IO[bytes], line: bytes) -> None:
    file.write(line[: len(line) // 2])
    die()


def play(folder: Path, seed: int, hold_after: int | None) -> None:
    *plies, (final, _, score) = random_plies(3, 3, seed)
    with GameJournal.create(folder, source="self-play", solver="random", seed=seed) as journal:
        for number, ply in enumerate(plies, 1):
            journal.append(*ply)
            print("pressed", flush=True)
            if number == hold_after:
                sys.stdin.read()
        journal.finish(final, score, "game_over")
        print("finished", journal.id, flush=True)


def main() -> None:
    folder, mode, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if mode == "half-append":
        recordings.jsonl.write_whole = write_half
    if mode == "no-removal":
        recordings.journal.remove_journal = die
    while True:
        play(folder, seed, 3 if mode == "hold" else None)
        seed += 1


if __name__ == "__main__":
    main()
