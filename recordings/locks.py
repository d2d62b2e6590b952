"""Advisory locks on open files, held until the file is closed or its process ends, however it ends."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import IO, Literal

LockState = Literal["held", "busy", "unsupported"]

_BUSY = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK}

if sys.platform == "win32":
    import msvcrt

    # Windows locks hold off every reader of the locked bytes, so lock one that no file of ours reaches.
    _OFFSET = 0x7FFF_FFF0

    def _lock(file: IO[bytes], wait: bool) -> None:
        place = file.tell()
        file.seek(_OFFSET)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        finally:
            file.seek(place)

else:
    import fcntl

    # flock, not lockf: those of POSIX are lost when the process closes any other handle of the same file.
    def _lock(file: IO[bytes], wait: bool) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def lock(file: IO[bytes], *, wait: bool) -> LockState:
    """Take the exclusive lock of an open file.

    Args:
        file: open for writing; closing it gives the lock back.
        wait: wait for another holder instead of giving up.

    Returns:
        ``held``; ``busy`` when another holder has it; ``unsupported`` on file systems without locks.
    """
    try:
        _lock(file, wait)
    except OSError as error:
        return "busy" if error.errno in _BUSY else "unsupported"
    return "held"


def is_open_at(file: IO[bytes], path: Path) -> bool:
    """Tell whether a path leads to that open file, and not to a newer one of the same name or to nothing."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
