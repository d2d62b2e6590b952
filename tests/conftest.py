"""What all tests share."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from hypothesis import settings

# Kernels compile within the first example, so no example has a deadline.
settings.register_profile("bot2048", deadline=None, max_examples=100)
settings.load_profile("bot2048")

# Which engine plays by default must not depend on the tables that a developer has built.
os.environ["BOT2048_TABLES"] = str(Path(__file__).parent / "no-tables-here")

# A shell that starts the tests in the background has them ignore Ctrl-C, and all programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
