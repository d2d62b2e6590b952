"""What a played game is: its record, the crash-safe journal, JSONL files, replay and verification, GIF.

Importing this package loads no imaging library; pictures live in `render` and `gif`.
"""

from recordings.journal import GameJournal, recover
from recordings.jsonl import GAMES_FILE, append_record, prepare_folder, read_records
from recordings.record import SCHEMA_VERSION, GameRecord, Move, Outcome, build_record
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
    "prepare_folder",
    "read_records",
    "recover",
    "verify",
]
