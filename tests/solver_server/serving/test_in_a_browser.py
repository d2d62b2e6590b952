"""Web pages in a real browser: who is served and who is kept out."""

from __future__ import annotations

import http.server
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import trustme
from playwright.async_api import Browser
from support.fake_engines import FirstLegal, offer

from scraper.chromium.launch import open_browser
from solver_server.serving.server import SolverServer
from solver_server.serving.server_options import ServerOptions, TlsFiles

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOKEN = "a-token-of-23-characters"
ASK = """([url, protocols]) => new Promise((resolve) => {
  const server = new WebSocket(url, protocols);
  server.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    if (message.type === "hello") {
      server.send(JSON.stringify({ type: "choose", id: 1, board: [[2, 2], [0, 4]] }));
    } else {
      resolve(message.direction);
      server.close();
    }
  };
  server.onclose = ({ code }) => resolve(`closed ${code}`);
})"""
FETCH = """async ([url, headers]) => {
  try {
    return await (await fetch(url, { headers })).text();
  } catch (error) {
    return error.name;
  }
}"""
MOVE = "/move?board=1120000000000000"
REFUSED = "closed 1006"  # all that a browser tells a page of a connection that was not opened


class _Blank(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def web_server() -> Iterator[str]:
    """Serves blank pages; gives their origin."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Blank) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with open_browser() as opened:
        yield opened


async def from_page(browser: Browser, page_url: str, script: str, argument: object, **context: Any) -> str:
    page = await browser.new_page(**context)
    try:
        await page.goto(page_url)
        return str(await page.evaluate(script, argument))
    finally:
        await page.close()


def served(**options: Any) -> SolverServer:
    return SolverServer([offer(FirstLegal())], "first", ServerOptions(port=0, **options))


async def test_a_page_is_refused_unless_it_is_allowed(browser: Browser) -> None:
    with web_server() as stranger, web_server() as friend:
        async with served(allowed_origins=(friend,)) as server:
            move = server.url.replace("ws://", "http://") + MOVE
            for page, answer, fetched in ((stranger, REFUSED, "TypeError"), (friend, "right", "r")):
                assert await from_page(browser, page, ASK, [server.url, []]) == answer
                assert await from_page(browser, page, FETCH, [move, {}]) == fetched


async def test_a_page_that_another_program_served_at_our_address_is_refused(browser: Browser) -> None:
    """The browser names our own address as the origin, as some libraries do that are let in."""
    with web_server() as origin:
        port = int(origin.rpartition(":")[2])
        page = await browser.new_page()
        await page.goto(origin)
    async with SolverServer([offer(FirstLegal())], "first", ServerOptions(port=port)) as server:
        assert await page.evaluate(ASK, [server.url, []]) == REFUSED
    await page.close()


async def test_a_page_with_the_right_token_is_served_over_tls(browser: Browser, tmp_path: Path) -> None:
    authority = trustme.CA()
    certificate = tmp_path / "server.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(certificate)
    with web_server() as origin:
        options = {"tls": TlsFiles(certificate), "token": TOKEN, "allowed_origins": (origin,)}
        async with served(**options) as server:
            assert server.url.startswith("wss://")
            right = ["bot2048", f"bot2048.token.{TOKEN}"]
            trusting = {"ignore_https_errors": True}  # the browser does not know our authority
            assert await from_page(browser, origin, ASK, [server.url, right], **trusting) == "right"
            assert await from_page(browser, origin, ASK, [server.url, right]) == REFUSED
            for wrong in ([], ["bot2048"], ["bot2048", "bot2048.token.guess"]):
                assert await from_page(browser, origin, ASK, [server.url, wrong], **trusting) == REFUSED
            move = server.url.replace("wss://", "https://") + MOVE
            for header, answer in ((f"Bearer {TOKEN}", "r"), ("Bearer guess", "TypeError")):
                found = await from_page(browser, origin, FETCH, [move, {"Authorization": header}], **trusting)
                assert found == answer
