"""Write a bug report about a page that cannot be played. It only covers the part with the board.

It holds no cookies, no storage, no address except the site's, and no text from outside the board.
"""

from __future__ import annotations

import contextlib
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError

from game2048.errors import PageError

if TYPE_CHECKING:
    from scraper.live_page import LivePage

logger = logging.getLogger(__name__)


async def write_report(page: LivePage, folder: Path, why: str) -> None:
    """Write ``report.json`` into a folder, and ``board.png`` if the board was found.

    Args:
        page: the page, still open.
        folder: the folder; it is made if it does not exist.
        why: the text of the error.

    Raises:
        PageError: the folder is not writable.
    """
    parts = urlsplit(page.url)
    region = await page.region()
    seen: list[Any] = []
    box = None if region is None else [region.x, region.y, region.width, region.height]
    for frame in page.tab.frames:
        with contextlib.suppress(PlaywrightError):
            seen.append(await page.scripts.call(frame, "outlineOf", box if frame is page.frame else None))
    report = {
        "why": why.replace(page.url, f"{parts.scheme}://{parts.netloc}/…") if page.url else why,
        "site": f"{parts.scheme}://{parts.netloc}",
        "given_up": dict(page.tried),
        "rules": [str(rule) for rule in page.rules],
        "played_with": page.played_with,
        "region": box,
        "frames": seen,
        "moves": list(page.history),
    }
    _write(folder, report, await page.picture())
    logger.warning("wrote a report about the page to %s", folder)


def _write(folder: Path, report: dict[str, Any], picture: bytes | None) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(report, indent=1, ensure_ascii=False)
        (folder / "report.json").write_text(text, encoding="utf-8")
        if picture is not None:
            (folder / "board.png").write_bytes(picture)
    except OSError as error:
        raise PageError(f"the report {folder} cannot be written: {error.strerror or error}") from error
