"""The kernels mean the same as plain Python: a subset of their tests, run uncompiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_kernels_are_right_uncompiled() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_kernels.py", "-k", "slides or downgrading or merge"],
        cwd=Path(__file__).parent,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout
    assert "11 passed" in done.stdout
