from __future__ import annotations

import pytest
from websockets.datastructures import Headers

from game2048.errors import SolverError, WireError
from solver_server.serving.access import AccessPolicy


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


@pytest.mark.parametrize("origin", ["*", "null", "localhost:8000", "http://", "http://a/page", ""])
def test_an_origin_that_is_none_is_refused_at_once(origin: str) -> None:
    with pytest.raises(SolverError, match="scheme://host"):
        AccessPolicy("127.0.0.1", None, [origin])
