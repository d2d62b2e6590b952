"""Find out which events a page listens to, so that useless input methods can be skipped."""

from __future__ import annotations

import contextlib
from typing import Annotated, Any

import msgspec
from playwright.async_api import CDPSession, Page
from playwright.async_api import Error as PlaywrightError

KEYS = frozenset({"keydown", "keyup", "keypress"})
MOUSE = frozenset(
    {"mousedown", "mouseup", "mousemove", "pointerdown", "pointerup", "pointermove", "dragstart"}
)
TOUCH = frozenset({"touchstart", "touchend", "touchmove", "pointerdown", "pointerup", "pointermove"})
ANYHOW: frozenset[str] = frozenset()
"""For buttons: those of forms and links work without a listener, and a test for them is quick."""

_GROUP = "listeners"


class _Listener(msgspec.Struct, frozen=True):
    type: Annotated[str, msgspec.Meta(max_length=200)]


class _Found(msgspec.Struct, frozen=True):
    listeners: list[_Listener]


async def heard_by(page: Page, session: CDPSession) -> frozenset[str] | None:
    """Return the types of events that the page listens to; ``None`` if they are unknown.

    Args:
        page: a page of Playwright.
        session: a session to the browser for this page.
    """
    if len(page.frames) > 1:
        return None  # the browser does not give the windows of frames
    kinds: set[str] = set()
    with contextlib.suppress(PlaywrightError, msgspec.ValidationError):
        for name, depth in (("window", 1), ("document", -1)):
            kinds |= await _kinds_on(session, name, depth)
        return frozenset(kinds)
    return None


async def _kinds_on(session: CDPSession, name: str, depth: int) -> set[str]:
    wanted: dict[str, Any] = {"expression": name, "objectGroup": _GROUP}
    try:
        thing = (await session.send("Runtime.evaluate", wanted))["result"]["objectId"]
        told = await session.send(
            "DOMDebugger.getEventListeners", {"objectId": thing, "depth": depth, "pierce": True}
        )
    finally:
        await session.send("Runtime.releaseObjectGroup", {"objectGroup": _GROUP})
    found = msgspec.convert(told, _Found)
    return {one.type for one in found.listeners}  # of the page's own world, so without our listeners
