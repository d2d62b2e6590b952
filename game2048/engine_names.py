"""The names of the engines, and which one plays where none is named.

Names alone, so that client and command line know them without loading an engine (`solver_server.engines`).
"""

from __future__ import annotations

ENGINE_NAMES = ("order", "ntuple", "exact", "fast", "composite", "gradient")
"""All engines of this project, in the order in which they are tried for a board."""

DEFAULT_FOR_PLAY = "order"
"""The strongest: it plays where none is named in `play`, `demo`, `harvest`, `serve`, `hint`, `evaluate`."""

DEFAULT_FOR_DATA = "ntuple"
"""The engine of `generate` where none is named: its values are score points, as learning needs them."""

NETWORK_ENGINE = "ntuple"
"""The engine that plays by a weights file; the default wherever one is given."""

SMALL_BOARD_ENGINE = "exact"
"""The engine for boards of up to nine cells."""

ANY_BOARD_ENGINE = "fast"
"""The engine for all other boards that the default does not play."""


def default_in_words(default: str) -> str:
    """Return a sentence for help texts: which engine plays where none is named.

    Args:
        default: `DEFAULT_FOR_PLAY` or `DEFAULT_FOR_DATA`.
    """
    weights = "" if default == NETWORK_ENGINE else f"{NETWORK_ENGINE} with --weights; "
    others = f"{SMALL_BOARD_ENGINE} on boards of up to nine cells; {ANY_BOARD_ENGINE} on all other boards"
    return f"{default}; {weights}{others}"
