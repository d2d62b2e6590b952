"""An engine for tests of files, without kernels. Run as a script, it is ``bot2048 generate`` with it."""

from __future__ import annotations

from dataclasses import replace

from fake_engines import FirstLegal

from solver_server.engines import ENGINES

# At import, so that worker processes know it too: they import the script that started them.
ENGINES["first"] = replace(ENGINES["fast"], name="first", make=lambda depths: FirstLegal())

if __name__ == "__main__":
    from solver_server.generate_cli import generate

    generate()
