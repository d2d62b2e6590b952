"""The cache of compiled kernels."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ADD = """
from typing import Any, NamedTuple
from game2048.kernels.jit import kernel

class {name}(NamedTuple):
    number: int

@kernel
def add(pair: Any) -> int:
    return pair.number + 1
"""
USE = "import adding; assert adding.add(adding.{name}({number})) == {number} + 1; print(adding.add.stats)"


def run(folder: Path, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={
            **os.environ,
            "NUMBA_CACHE_DIR": str(folder / "cache"),
            # Python, too, tells sources apart by size and time.
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_kernels_are_cached_and_a_type_that_is_gone_does_not_spoil_the_cache(tmp_path: Path) -> None:
    module = tmp_path / "adding.py"
    module.write_text(ADD.format(name="First"))
    stamp = module.stat().st_mtime_ns
    assert "cache_hits=Counter()" in run(tmp_path, USE.format(name="First", number=1))
    assert "cache_misses=Counter()" in run(tmp_path, USE.format(name="First", number=1))
    # The same source file by size and time, whose index names a class that there is no more.
    module.write_text(ADD.format(name="Other"))
    os.utime(module, ns=(stamp, stamp))
    assert "cache_hits=Counter()" in run(tmp_path, USE.format(name="Other", number=2))


def test_processes_that_cache_a_kernel_at_once_do_not_get_each_other_s(tmp_path: Path) -> None:
    (tmp_path / "adding.py").write_text(ADD.format(name="Pair"))
    whole, half = USE.format(name="Pair", number=1), USE.format(name="Pair", number=1.5)
    run(tmp_path, half)
    (index,) = (tmp_path / "cache").rglob("*.nbi")
    written = index.read_bytes()
    # The other had read the index before it was written, and wrote its own before this one.
    index.unlink()
    run(tmp_path, whole)
    index.write_bytes(written)
    assert "cache_misses=Counter()" in run(tmp_path, half)
    assert "cache_hits=Counter()" in run(tmp_path, whole)
