from __future__ import annotations

import pytest

from bot.dashboard.access import AccessRules, checked_token_file
from bot.dashboard.faults import DashboardError
from game2048.errors import WireError

TOKEN = "0123456789abcdef"
HERE = {"host": "127.0.0.1:3000"}


def status(rules: AccessRules, method: str = "GET", **headers: str) -> int | None:
    given = HERE | {name.replace("_", "-"): value for name, value in headers.items()}
    refusal = rules.refusal(given, method)
    return None if refusal is None else refusal.status


@pytest.mark.parametrize("host", ["127.0.0.1:3000", "localhost:3000", "[::1]:3000", "127.0.0.1"])
def test_the_names_of_this_machine_are_answered(host: str) -> None:
    assert status(AccessRules("127.0.0.1", None), host=host) is None


@pytest.mark.parametrize("host", ["attacker.example:3000", "", "192.168.1.5:3000", "a@127.0.0.1", "[::1"])
def test_other_hosts_are_refused_on_loopback(host: str) -> None:
    assert status(AccessRules("127.0.0.1", None), host=host) == 403


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "WEBSOCKET"])
@pytest.mark.parametrize(
    "origin", ["https://attacker.example", "null", "http://127.0.0.1:4000", "http://localhost:3000"]
)
def test_pages_of_other_origins_are_refused(method: str, origin: str) -> None:
    assert status(AccessRules("127.0.0.1", None), method, origin=origin) == 403


@pytest.mark.parametrize("method", ["GET", "POST", "WEBSOCKET"])
def test_the_own_origin_is_answered(method: str) -> None:
    assert status(AccessRules("127.0.0.1", None), method, origin="http://127.0.0.1:3000") is None


def test_another_site_may_link_here_but_not_load_or_send() -> None:
    rules = AccessRules("127.0.0.1", None)
    assert status(rules, sec_fetch_site="cross-site", sec_fetch_mode="navigate") is None
    assert status(rules, sec_fetch_site="cross-site", sec_fetch_mode="no-cors") == 403
    assert status(rules, "POST", sec_fetch_site="cross-site", sec_fetch_mode="navigate") == 403


def test_other_machines_need_a_token_of_16_characters() -> None:
    with pytest.raises(DashboardError, match="--token-file"):
        AccessRules("0.0.0.0", None)
    with pytest.raises(DashboardError, match="15 characters; expected at least 16"):
        AccessRules("0.0.0.0", TOKEN[:15])
    with pytest.raises(WireError):
        AccessRules("0.0.0.0", TOKEN + "\n")
    AccessRules("0.0.0.0", TOKEN)


def test_a_token_is_taken_as_header_and_as_cookie_only() -> None:
    rules = AccessRules("127.0.0.1", TOKEN)
    assert status(rules) == 401
    assert status(rules, authorization=f"Bearer {TOKEN}x") == 401
    assert status(rules, authorization=f"Bearer {TOKEN}") is None
    assert status(rules, cookie=f"bot2048-dashboard={TOKEN}") == 401
    assert status(rules, cookie=f"a=b; bot2048-dashboard={rules.cookie()}") is None
    assert TOKEN not in str(rules.cookie())


def test_on_all_addresses_names_that_are_not_ours_are_refused() -> None:
    rules = AccessRules("0.0.0.0", TOKEN, ["box.example"])
    bearer = f"Bearer {TOKEN}"
    assert status(rules, host="attacker.example", authorization=bearer) == 403
    assert status(rules, host="192.168.1.5:3000", authorization=bearer) is None
    assert status(rules, host="BOX.example.:3000", authorization=bearer) is None


def test_a_token_file_is_read_without_its_line_end_and_bounded(tmp_path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    assert checked_token_file(file) == TOKEN
    file.write_bytes(b"x" * 5000)
    with pytest.raises(DashboardError, match="too long"):
        checked_token_file(file)
    with pytest.raises(DashboardError, match="cannot be read"):
        checked_token_file(tmp_path / "none")
