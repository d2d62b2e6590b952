"""What knew a move, in words."""

from __future__ import annotations

_WORDS = {"search": "search", "table": "endgame table", "extract": "extract of the endgame tables"}


def found_by_words(found_by: str, *, depth: int, nodes: int, elapsed_ms: float) -> str:
    """Return what knew a move and how long that took.

    Args:
        found_by: as a decision says (`game2048.wire.messages.FoundBy`), or another server's own word.
        depth: of the search, in the engine's own unit.
        nodes: positions evaluated or expanded.
        elapsed_ms: milliseconds of the decision.
    """
    words = _WORDS.get(found_by, found_by)
    if found_by == "search":
        words += f", depth {depth}, {nodes:,} nodes"
    return f"{words}, {elapsed_ms:.2f} ms"
