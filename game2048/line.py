"""How one line of tiles slides: the rules of 2048, stated once.

`slide_line` is plain Python within the subset that numba compiles. `Board` calls it as it is, so that the
client needs no compiled kernel; `grid` and `bitboard` compile it. There is no second statement of the rules.
"""

from __future__ import annotations

from typing import Any


def slide_line(line: Any, length: int) -> int:
    """Slide the first ``length`` exponents of ``line`` towards its start, in place.

    Tiles move until blocked; two equal tiles merge into one of the next exponent; a merged tile does not
    merge again in the same move; of three equal ones the two nearest the start merge.

    Args:
        line: mutable sequence of exponents (0 = empty); a list, a bytearray or an integer array.
        length: how many of its entries form the line.

    Returns:
        The merge reward: the sum of the face values of the tiles made.
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
