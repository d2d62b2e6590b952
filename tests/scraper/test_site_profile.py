"""What a person may tell of a site, and what is kept of a page that cannot be played."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser
from support import npm_pages
from support.mutants import check_loader, mutants

from game2048 import Board
from game2048.errors import PageError
from scraper.open_page import live_page
from scraper.page import Slid
from scraper.report import write_report
from scraper.site_profile import read_profile
from scraper.wait_times import WaitTimes

asyncio_session = pytest.mark.asyncio(loop_scope="session")

PROFILE = """
input = ["letter keys"]

[board]
selector = "#zone"
tile = "u"
rows = 2
columns = 3
value = "data-rank"
pattern = "^r(\\\\d+)$"
ranks = true
score = "#s"

[wait]
board = 2000

[buttons]
start = ["#go"]
"""
# Nothing here is square, evenly spaced, or a number that a reader could find.
STRANGE = """<button id="go">?</button><b id="s">12 points</b>
<div id="zone" style="position: relative; width: 300px; height: 90px"></div><p>Private words</p>
<script>
const cells = [0, 0, 0, 0, 0, 0];
const draw = () => {
  zone.innerHTML = cells.map((n, i) => n ? `<u data-rank="r${n}" style="position: absolute;
    left: ${(i % 3) * 100 + 45}px; top: ${i < 3 ? 20 : 65}px">*</u>` : "").join("");
};
go.onclick = () => { cells[0] = 1; cells[2] = 1; draw(); };
addEventListener("keydown", (event) => {
  if (event.key !== "a") return;
  cells.splice(0, 6, 2, 0, 0, 0, 0, 1);
  draw();
});
</script>"""


@pytest.fixture
def strange(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "index.html").write_text(STRANGE)
    with npm_pages.serve_folder(tmp_path) as url:
        yield url


@asyncio_session
async def test_a_page_that_cannot_be_found_out_is_played_by_its_profile(
    browser: Browser, strange: str, tmp_path: Path
) -> None:
    file = tmp_path / "site.toml"
    file.write_text(PROFILE)
    async with live_page(browser, site=read_profile(file)) as game:
        reading = await game.open(strange)
        assert reading.board == Board.from_text("2 0 2 / 0 0 0")
        assert (reading.score, reading.reader) == (12, "site-profile")
        left = next(d for d in reading.board.legal_directions() if d.value == "left")
        outcome = await game.move(reading, left)
        assert isinstance(outcome, Slid)
        assert outcome.reading.board == Board.from_text("4 0 0 / 0 0 2")
        assert game.played_with == "letter keys"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("board = ", "Invalid value"),
        ("[board]\nselector = '#a'", "required field `tile`"),
        ("[board]\nselector = '#a'\ntile = 'u'\nrows = 9", "<= 8"),
        ("[bord]\n", "unknown field `bord`"),
        ("input = ['telepathy']", "'telepathy'; expected some of arrow keys"),
    ],
)
def test_a_profile_that_is_none_is_told(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "site.toml"
    file.write_text(text)
    with pytest.raises(PageError, match=why):
        read_profile(file)


@asyncio_session
async def test_a_report_holds_the_board_and_nothing_from_outside_of_it(
    browser: Browser, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    cells = "".join(f"<i>{2 if n in (1, 6) else ''}</i>" for n in range(16))
    style = (
        "i { float: left; width: 60px; height: 60px; outline: 1px solid } div { width: 240px; height: 240px }"
    )
    (site / "index.html").write_text(f"<style>{style}</style><div>{cells}</div><p>Private words</p>")
    with npm_pages.serve_folder(site) as url:
        async with live_page(browser, waits=WaitTimes(idle=60)) as game:
            reading = await game.open(f"{url}?secret=1")
            while not (outcome := await game.move(reading, reading.board.legal_directions()[0])).exhausted:  # type: ignore[union-attr]
                reading = outcome.reading
            await write_report(game, tmp_path / "report", "nothing moved")
    text = (tmp_path / "report" / "report.json").read_text()
    report = json.loads(text)
    assert (report["why"], report["site"]) == ("nothing moved", url.rstrip("/"))
    assert report["region"][2:] == [240, 240]
    assert report["frames"][0]["candidates"][0]["size"] == "60x60"
    assert report["frames"][0]["candidates"][0]["count"] == 16
    assert {move["outcome"] for move in report["moves"]} == {"Unchanged"}
    assert "Private" not in text
    assert "secret" not in text
    assert (tmp_path / "report" / "board.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("count", [60, pytest.param(500, marks=pytest.mark.slow)])
def test_mutants_of_profiles_are_read_or_refused_in_one_sentence(count: int, tmp_path: Path) -> None:
    whole = b"""input = ["keys", "swipe"]
[board]
selector = "#board"
tile = ".tile"
rows = 4
columns = 5
value = "data-value"
pattern = "(\\\\d+)"
[wait]
board = 20000
[buttons]
start = ["#start"]
"""
    outcomes = check_loader(read_profile, tmp_path / "site.toml", mutants(whole, count), PageError)
    assert sum(outcomes.refused.values()) > count // 3


def test_a_profile_of_endless_brackets_or_length_is_refused(tmp_path: Path) -> None:
    for text in ("a = " + "[" * 60_000, "# " + "x" * 100_000, "rows = " + "9" * 5000):
        (tmp_path / "site.toml").write_text(text)
        with pytest.raises(PageError, match="cannot be used"):
            read_profile(tmp_path / "site.toml")
