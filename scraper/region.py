"""Positions in the window of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.async_api import Frame


@dataclass(frozen=True, slots=True)
class Region:
    """The rectangle of the board in the window, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> tuple[float, float]:
        """The centre of the rectangle: x, y."""
        return self.x + self.width / 2, self.y + self.height / 2


async def place_in_window(frame: Frame, x: float, y: float) -> tuple[float, float]:
    """Convert a point from a frame's coordinates to the window's coordinates."""
    if frame.parent_frame is not None:
        box = await (await frame.frame_element()).bounding_box()  # in the window's coordinates, however deep
        if box is not None:
            return x + box["x"], y + box["y"]
    return x, y
