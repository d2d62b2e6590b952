from __future__ import annotations

import http.client
from urllib.parse import urlsplit

import pytest

from scraper.demo.server import serve_demo


def ask(url: str, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
    connection.request(method, path)
    answer = connection.getresponse()
    result = answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    connection.close()
    return result


@pytest.mark.parametrize(
    ("path", "media_type", "begins"),
    [
        ("/", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/index.html?seed=7", "text/html; charset=utf-8", b"<!doctype html>"),
        ("/style.css", "text/css; charset=utf-8", b"/*"),
        ("/game.js", "text/javascript; charset=utf-8", b"//"),
        ("/icon.svg", "image/svg+xml", b"<svg"),
    ],
)
def test_the_files_of_the_page_come_with_their_types(
    demo_url: str, path: str, media_type: str, begins: bytes
) -> None:
    status, headers, body = ask(demo_url, path)
    assert status == 200
    assert headers["content-type"] == media_type
    assert headers["x-content-type-options"] == "nosniff"
    assert int(headers["content-length"]) == len(body)
    assert body.startswith(begins)


@pytest.mark.parametrize("path", ["/server.py", "/../server.py", "/%2e%2e/server.py", "/page/", "/game.js/"])
def test_nothing_else_is_served(demo_url: str, path: str) -> None:
    assert ask(demo_url, path)[0] == 404


def test_a_head_request_gets_no_body(demo_url: str) -> None:
    status, headers, body = ask(demo_url, "/game.js", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 1000


def test_other_methods_are_refused(demo_url: str) -> None:
    assert ask(demo_url, "/", "POST")[0] == 501


def test_it_listens_on_loopback_alone_and_stops() -> None:
    with serve_demo() as url:
        assert urlsplit(url).hostname == "127.0.0.1"
        assert ask(url, "/")[0] == 200
    with pytest.raises(ConnectionRefusedError):
        ask(url, "/")


def test_two_can_run_at_once() -> None:
    with serve_demo() as first, serve_demo() as second:
        assert first != second
        assert ask(first, "/")[0] == ask(second, "/")[0] == 200
