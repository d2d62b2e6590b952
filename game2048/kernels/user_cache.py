"""Where the project keeps what it can make again."""

from __future__ import annotations

from pathlib import Path

import platformdirs


def user_cache() -> Path:
    """The project's part of the user's cache directory."""
    return platformdirs.user_cache_path("bot2048", appauthor=False)
