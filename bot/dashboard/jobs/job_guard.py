"""Run a command that ends when standard input ends.

Call it as ``python -m bot.dashboard.jobs.job_guard COMMAND ARGUMENTS``.

The dashboard holds the other end of that pipe. So a job ends when it is stopped, when the dashboard ends, and
also when the dashboard is killed. The end is that of Ctrl-C, so that a training saves its checkpoint and a
game its record; after some patience it comes by force.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading

PATIENCE = 30.0
"""Seconds from the wish to stop until the command is killed."""


def run_guarded(command: list[str]) -> int:
    """Run a command; return its exit code, 128 + the number of the signal that ended it."""
    # A handler, not "ignore": the command would inherit that, and never hear of Ctrl-C.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    threading.Thread(target=_stop_at_end_of_input, args=(child,), daemon=True).start()
    code = child.wait()
    return 128 - code if code < 0 else code


def _stop_at_end_of_input(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 1024):
            pass
    if sys.platform == "win32":
        child.terminate()
        return
    child.send_signal(signal.SIGINT)
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        # What the command started is of the same group, which the dashboard made for this job alone.
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(run_guarded(sys.argv[1:]))
