"""How the tab of a game may be driven."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scraper.chromium.launch import BrowserOptions


@dataclass(frozen=True, slots=True)
class TabSetting:
    """How a tab may be driven.

    Attributes:
        watched: somebody may watch the window, so drawing and animations keep their size and pace.
        is_device: the tab imitates a device.
        slow_mo: the browser waits before each action, so that people can follow.
    """

    watched: bool = False
    is_device: bool = False
    slow_mo: bool = False

    @classmethod
    def of(cls, options: BrowserOptions) -> Self:
        """Return the setting for the tabs of a browser with these options."""
        watched = not options.headless or options.cdp is not None
        return cls(watched, options.device is not None, options.slow_mo > 0)

    @property
    def may_shrink(self) -> bool:
        """Whether the tab may be drawn small; a device has metrics that only the browser driver knows."""
        return not self.watched and not self.is_device
