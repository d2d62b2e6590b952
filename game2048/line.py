"""How one line of tiles slides: the rule of 2048.

`Board` calls `slide_line` as plain Python, so the client needs no compiled kernel. `grid` and `bitboard`
compile the same function. Code that slides lines under other rules says so: endgame tables with locked cells
(`solver_server.tables`), and pages with rule variants or unknown tiles (`scraper`).
"""

from __future__ import annotations

from typing import Any


def slide_line(line: Any, length: int) -> int:
    """Slide the first ``length`` exponents of ``line`` towards its start, in place.

    Tiles move until something blocks them. Two equal tiles merge into one tile of the next exponent. A merged
    tile does not merge again in the same move. Of three equal tiles the two nearest to the start merge.

    Args:
        line: mutable sequence of exponents (0 = empty); a list, a bytearray or an integer array.
        length: number of entries that form the line.

    Returns:
        The merge reward: the sum of the face values of the merged tiles.
    """
    reward = 0
    fill = 0  # where the next tile comes to rest
    open_exponent = 0  # exponent of the last tile at rest while it may still merge, else 0
    for i in range(length):
        exponent = line[i]
        if exponent == 0:
            continue
        line[i] = 0
        if exponent == open_exponent:
            line[fill - 1] = exponent + 1
            reward += 1 << (int(exponent) + 1)
            open_exponent = 0
        else:
            line[fill] = exponent
            open_exponent = exponent
            fill += 1
    return reward
