"""The rules of `game2048.line` and `game2048.spawn` as compiled functions, the same code."""

from __future__ import annotations

from game2048.kernels.jit import kernel
from game2048.line import slide_line
from game2048.spawn import next_random, pick

compiled_slide_line = kernel(slide_line)
compiled_next_random = kernel(next_random)
compiled_pick = kernel(pick)
