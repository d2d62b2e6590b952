"""What the tests of `solver_server.workers` ask workers to do; workers find it by its name."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

from game2048.errors import RulesError


def double(number: int) -> bytes:
    return b"%d" % (2 * number)


def die_once(folder: str, number: int) -> bytes:
    """Die in the middle of task 3 the first time that it is worked on."""
    if number == 3:
        try:
            (Path(folder) / "died").touch(exist_ok=False)
        except FileExistsError:
            return b"3, again"
        os.kill(os.getpid(), signal.SIGKILL)
    return b"%d" % number


def die_always() -> bytes:
    os.kill(os.getpid(), signal.SIGKILL)
    return b""


def refuse(number: int) -> bytes:
    raise RulesError(f"number {number} is refused")


def stand_still(folder: str) -> bytes:
    """Tell that it is being worked on, and never end."""
    (Path(folder) / str(os.getpid())).touch()
    threading.Event().wait()
    return b""
