"""What a played game is: its record, the crash-safe journal, JSONL files, replay and verification.

Datasets of many games are in `recordings.datasets`, pictures in `recordings.pictures`; importing this package
loads neither NumPy nor an imaging library.
"""

from recordings.journal import GameJournal
from recordings.jsonl import GAMES_FILE, append_record, prepare_folder, read_records
from recordings.record import SCHEMA_VERSION, GameRecord, Move, Outcome, build_record, new_info
from recordings.recovery import recover
from recordings.replay import Fault, verify

__all__ = [
    "GAMES_FILE",
    "SCHEMA_VERSION",
    "Fault",
    "GameJournal",
    "GameRecord",
    "Move",
    "Outcome",
    "append_record",
    "build_record",
    "new_info",
    "prepare_folder",
    "read_records",
    "recover",
    "verify",
]
