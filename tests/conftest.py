"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# Kernels compile within the first example, so no example has a deadline.
settings.register_profile("bot2048", deadline=None, max_examples=100)
settings.load_profile("bot2048")
