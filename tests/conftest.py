"""What all tests share."""

from __future__ import annotations

import signal

from hypothesis import settings

# Kernels compile within the first example, so no example has a deadline.
settings.register_profile("bot2048", deadline=None, max_examples=100)
settings.load_profile("bot2048")

# A shell that starts the tests in the background has them ignore Ctrl-C, and all programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
