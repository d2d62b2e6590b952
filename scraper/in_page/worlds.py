"""Call our scripts inside a page, in isolated worlds.

A document has the world of the page and may have isolated worlds, such as those of browser extensions. The
worlds share only the elements and events. If a page changes `JSON`, `Map`, `Array.prototype` or
`getBoundingClientRect`, our world keeps the originals, and the page cannot see our world. The browser makes
our world for a document when we first ask for it, also in frames and for documents that scripts write.
"""

from __future__ import annotations

import contextlib
import functools
import re
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag

import msgspec
from playwright.async_api import CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from scraper.in_page.bundle import bundle

WORLD = "bot2048"
MOST_LETTERS = 131_072
"""The longest answer of a script, in letters of JSON."""
GONE = re.compile(
    r"context was destroyed|cannot find context|disposed|detached|navigat|promise was collected|"
    r"frame for given id|no frame|session closed",
    re.IGNORECASE,
)
"""The browser's messages if a document or frame has gone; only the wording shows it."""
CALL = """async function (name, request, most) {
  const answer = await globalThis.scripts[name](...JSON.parse(request));
  const text = JSON.stringify(answer ?? null);
  if (text.length > most) throw new RangeError(`${text.length} letters; expected at most ${most}`);
  return text;
}"""


class DocumentLostError(PlaywrightError):
    """The document of a script has gone."""


@dataclass(frozen=True, slots=True)
class FrameScripts:
    """Our scripts in one document.

    Attributes:
        session: a session to the process of the frame.
        context: the number of our world in that process.
    """

    session: CDPSession
    context: int

    async def call(self, name: str, *arguments: object, into: Any = Any) -> Any:
        """Call a function of ``main.js`` and return its result; wait for its promise.

        Args:
            name: the name of the function.
            arguments: JSON values, or structs.
            into: the type of the result.

        Raises:
            DocumentLostError: the document has gone.
            PlaywrightError: the function failed, or the page has gone.
            msgspec.ValidationError: the result has another type.
        """
        request = msgspec.json.encode(arguments).decode()
        values = [{"value": name}, {"value": request}, {"value": MOST_LETTERS}]
        answer = await _send(
            self.session,
            "Runtime.callFunctionOn",
            functionDeclaration=CALL,
            executionContextId=self.context,
            arguments=values,
            awaitPromise=True,
            returnByValue=True,
        )
        return msgspec.json.decode(_value(answer, name), type=into)


class PageScripts:
    """Our scripts in all frames of a page.

    Args:
        page: a page of Playwright.
        question: the name of the event that asks for drawn texts; see `own_world_script`.
    """

    def __init__(self, page: Page, question: str = "") -> None:
        self._page = page
        self._question = question
        self._main: CDPSession | None = None
        self._known: dict[Frame, FrameScripts] = {}
        page.on("framenavigated", self._forget)
        page.on("framedetached", self._forget)

    def _forget(self, frame: Frame) -> None:
        self._known.pop(frame, None)

    async def of(self, frame: Frame) -> FrameScripts:
        """Return our scripts in the current document of a frame.

        Raises:
            PlaywrightError: the frame or the page has gone.
        """
        if frame in self._known:
            return self._known[frame]
        session, identity = await self._located(frame)
        world = await _send(session, "Page.createIsolatedWorld", frameId=identity, worldName=WORLD)
        scripts = FrameScripts(session, world["executionContextId"])
        answer = await _send(
            session, "Runtime.evaluate", expression=_install(), contextId=scripts.context, returnByValue=True
        )
        _value(answer, "main.js")
        if self._question:
            await scripts.call("askBy", self._question)
        self._known[frame] = scripts
        return scripts

    async def call(self, frame: Frame, name: str, *arguments: object, into: Any = Any) -> Any:
        """Call a function in the current document of a frame; see `FrameScripts.call`."""
        try:
            return await (await self.of(frame)).call(name, *arguments, into=into)
        except DocumentLostError:
            self._forget(frame)  # it has loaded again meanwhile
            return await (await self.of(frame)).call(name, *arguments, into=into)

    # -- the browser's name of a frame --------------------------------------------------------------------

    async def _located(self, frame: Frame) -> tuple[CDPSession, str]:
        """Return a session to the frame's process, and the id of the frame there."""
        if frame.parent_frame is None:
            if self._main is None:
                self._main = await self._page.context.new_cdp_session(self._page)
            return self._main, (await _tree(self._main))["frame"]["id"]
        if (own := await self._own_session(frame)) is not None:
            return own, (await _tree(own))["frame"]["id"]
        session, parent = await self._located(frame.parent_frame)
        nodes = _children_of(await _tree(session), parent)
        alike = [node for node in nodes if node["url"] == urldefrag(frame.url).url]
        if len(alike) == 1:
            return session, alike[0]["id"]
        # Match frames by their order, which both sides share. The tree omits frames of other processes.
        siblings = [one for one in frame.parent_frame.child_frames if await self._is_local(one)]
        place = siblings.index(frame) if frame in siblings else len(nodes)
        if place >= len(nodes):
            raise DocumentLostError(f"no frame for {frame.url}")
        return session, nodes[place]["id"]

    async def _own_session(self, frame: Frame) -> CDPSession | None:
        """Return a session to a frame in another process than its parent; ``None`` for other frames."""
        with contextlib.suppress(PlaywrightError):
            return await self._page.context.new_cdp_session(frame)
        return None

    async def _is_local(self, frame: Frame) -> bool:
        session = await self._own_session(frame)
        if session is not None:
            with contextlib.suppress(PlaywrightError):
                await session.detach()
        return session is None


def own_world_script() -> tuple[str, str]:
    """Make the script that runs in the page's own world before the page's scripts.

    Returns:
        The script, and the name of the event that our world asks with; the name is new for each page.
    """
    question = secrets.token_hex(8)
    return (
        f"{bundle('open_shadows.js')};\n({bundle('drawn_text/main.js')}).noteDrawnText({question!r});",
        question,
    )


@functools.cache
def _install() -> str:
    return f"globalThis.scripts ??= {bundle('main.js')}; 0\n//# sourceURL=bot2048.js"


async def _send(session: CDPSession, method: str, **params: object) -> dict[str, Any]:
    try:
        return await session.send(method, params)
    except PlaywrightError as error:
        if GONE.search(error.message):
            raise DocumentLostError(error.message) from error
        raise


def _value(answer: dict[str, Any], name: str) -> Any:
    if "exceptionDetails" in answer:
        details = answer["exceptionDetails"]
        why = details.get("exception", {}).get("description") or details.get("text", "")
        raise PlaywrightError(f"{name} failed: {why}")
    return answer["result"]["value"]


async def _tree(session: CDPSession) -> dict[str, Any]:
    tree: dict[str, Any] = (await _send(session, "Page.getFrameTree"))["frameTree"]
    return tree


def _children_of(tree: dict[str, Any], identity: str) -> list[dict[str, Any]]:
    """Return the child frames of a frame in a tree of frames."""
    below = tree.get("childFrames", [])
    if tree["frame"]["id"] == identity:
        return [child["frame"] for child in below]
    return [found for child in below for found in _children_of(child, identity)]
