from __future__ import annotations

import pytest
from websockets.datastructures import Headers

from game2048.errors import SolverError, WireError
from solver_server.serving.access import AccessPolicy, normal_origin


def status(policy: AccessPolicy, *headers: tuple[str, str]) -> int | None:
    refusal = policy.refusal(Headers(headers))
    return None if refusal is None else refusal.status


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::", "192.168.0.4", "example.org"])
def test_other_machines_are_let_in_only_with_a_token(host: str) -> None:
    with pytest.raises(SolverError, match="--token"):
        AccessPolicy(host, None)
    assert status(AccessPolicy(host, "s3cret-of-16-chars"), ("Host", "example.org")) == 401


def test_the_token_must_be_the_servers_own() -> None:
    policy = AccessPolicy("0.0.0.0", "s3cret-of-16-chars")
    assert status(policy, ("Host", "example.org"), ("Authorization", "Bearer s3cret-of-16-chars")) is None
    for value in [
        "Bearer s3cret-of-16-char",
        "Bearer s3cret-of-16-chars!",
        "Bearer naïve",
        "s3cret-of-16-chars",
        "",
        "Basic s3cret-of-16-chars",
    ]:
        assert status(policy, ("Host", "example.org"), ("Authorization", value)) == 401
    twice = [("Authorization", "Bearer s3cret-of-16-chars"), ("Authorization", "Bearer s3cret-of-16-chars")]
    assert status(policy, *twice) == 401


def test_a_page_may_send_the_token_as_a_subprotocol() -> None:
    policy = AccessPolicy("0.0.0.0", "s3cret-of-16-chars")
    for value, expected in [
        ("bot2048, bot2048.token.s3cret-of-16-chars", None),
        ("bot2048.token.s3cret-of-16-chars", None),
        ("bot2048, bot2048.token.s3cret", 401),
        ("bot2048, s3cret-of-16-chars", 401),
        ("bot2048.token.guess, bot2048.token.s3cret-of-16-chars", 401),
    ]:
        assert status(policy, ("Host", "example.org"), ("Sec-WebSocket-Protocol", value)) == expected
    twice = [
        ("Authorization", "Bearer guess"),
        ("Sec-WebSocket-Protocol", "bot2048.token.s3cret-of-16-chars"),
    ]
    assert status(policy, *twice) == 401


def test_a_preflight_needs_no_token_but_an_allowed_page() -> None:
    policy = AccessPolicy("0.0.0.0", "s3cret-of-16-chars", ["http://localhost:8000"])
    for origin, expected in [("http://localhost:8000", None), ("http://evil.example", 403)]:
        refusal = policy.refusal(Headers([("Origin", origin)]), preflight=True)
        assert (None if refusal is None else refusal.status) == expected


def test_our_own_loopback_address_is_an_origin_only_of_programs() -> None:
    """A page that another program served at this address would name it too, but in a browser."""
    policy = AccessPolicy("127.0.0.1", None)
    for host, origin, expected in [
        ("127.0.0.1:8765", "http://127.0.0.1:8765", None),
        ("127.0.0.1:8765", "https://127.0.0.1:8765", None),
        ("localhost:8765", "http://localhost:8765", None),
        ("[::1]:8765", "http://[::1]:8765", None),
        ("127.0.0.1", "http://127.0.0.1", None),
        ("127.0.0.1:8765", "http://127.0.0.1:8766", 403),
        ("127.0.0.1:8765", "http://localhost:8765", 403),
        ("127.0.0.1:8765", "http://127.0.0.1", 403),
        ("127.0.0.1:8765", "null", 403),
        ("evil.example:8765", "http://evil.example:8765", 403),
    ]:
        assert status(policy, ("Host", host), ("Origin", origin)) == expected
    own = [("Host", "127.0.0.1:8765"), ("Origin", "http://127.0.0.1:8765")]
    for name in ("User-Agent", "Accept-Language", "Sec-Fetch-Site", "sec-fetch-mode"):
        assert status(policy, *own, (name, "same-origin")) == 403
    assert status(policy, *own, ("Host", "127.0.0.1:8765")) == 403


def test_an_unusable_token_is_refused_at_once() -> None:
    with pytest.raises(WireError, match="token"):
        AccessPolicy("127.0.0.1", "two words")


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "[::1]:80", "LOCALHOST:1"])
def test_the_name_of_this_machine_is_accepted(host: str) -> None:
    assert status(AccessPolicy("127.0.0.1", None), ("Host", host)) is None


@pytest.mark.parametrize("host", ["evil.example:8765", "127.0.0.1.evil.example", "[::1", ""])
def test_a_page_under_another_name_cannot_reach_loopback(host: str) -> None:
    assert status(AccessPolicy("127.0.0.1", None), ("Host", host)) == 403


def test_web_pages_are_refused_unless_allowed() -> None:
    host = ("Host", "127.0.0.1:8765")
    page = ("Origin", "http://localhost:8000")
    assert status(AccessPolicy("127.0.0.1", None), host, page) == 403
    policy = AccessPolicy("127.0.0.1", None, ["HTTP://LocalHost:8000/"])
    assert status(policy, host, page) is None
    for other in [
        "http://localhost:8001",
        "https://localhost:8000",
        "null",
        "",
        "http://localhost:8000.evil",
    ]:
        assert status(policy, host, ("Origin", other)) == 403
    assert status(policy, host, page, ("Origin", "http://evil.example")) == 403


@pytest.mark.parametrize(
    "origin",
    [
        "*",
        "null",
        "localhost:8000",
        "http://",
        "http://a/page",
        "http://a?query",
        "http://a#part",
        "",
        "http://[::1",
        "http://*",
        "http://*.example.org",
        "http://user@example.org",
        "http://user:word@example.org",
        "http://example.org:0",
        "http://example.org:65536",
        "http://example.org:",
        "http://example.org:port",
        "http://1.2.3.4.5",
        "http://two words",
        "http://a..b",
        "ftp://example.org",
        "file:///page.html",
        "ws://127.0.0.1",
    ],
)
def test_what_no_browser_sends_as_an_origin_is_refused_at_once(origin: str) -> None:
    with pytest.raises(SolverError, match="scheme://host"):
        AccessPolicy("127.0.0.1", None, [origin])


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("http://example.org:80", "http://example.org"),
        ("https://example.org:443/", "https://example.org"),
        ("https://example.org:80", "https://example.org:80"),
        ("HTTP://EXAMPLE.org", "http://example.org"),
        ("http://[0:0::1]:8000", "http://[::1]:8000"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("chrome-extension://abcdefghijklmnop", "chrome-extension://abcdefghijklmnop"),
    ],
)
def test_an_allowed_origin_is_written_as_browsers_do(given: str, sent: str) -> None:
    assert normal_origin(given) == sent
