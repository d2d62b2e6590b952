"""An engine for tests of files, without kernels. Run as a script, it is ``bot2048 generate`` with it."""

from __future__ import annotations

from dataclasses import replace

from solver_server.engines import ENGINES
from support.fake_engines import FirstLegal

FIRST = replace(ENGINES["fast"], name="first", make=lambda depths, threads: FirstLegal())

# Worker processes know it too: they import the script that started them under the second name.
if __name__ in ("__main__", "__mp_main__"):
    ENGINES[FIRST.name] = FIRST

if __name__ == "__main__":
    from solver_server.cli.generate import generate

    generate()
