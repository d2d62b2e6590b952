"""A dashboard beside a run of games."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from bot.dashboard import beside
from bot.dashboard.beside import dashboard_beside


def about(url: str) -> dict[str, str]:
    with urllib.request.urlopen(f"{url}api/about", timeout=30) as answer:
        return json.loads(answer.read())


def test_a_run_gets_a_dashboard_that_ends_with_it_and_others_share_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "a run"
    out.mkdir()
    monkeypatch.setattr(beside, "DASHBOARD_PORT", 9)  # nothing answers there
    with dashboard_beside(out) as own:
        assert own.is_own
        assert about(own.url)["runs"] == str(out)
        assert own.replay_url(out / "games.jsonl") == f"{own.url}replay?file=games.jsonl"
        monkeypatch.setattr(beside, "DASHBOARD_PORT", int(own.url.rstrip("/").rpartition(":")[2]))
        with dashboard_beside(out) as shared:
            assert (shared.url, shared.is_own) == (own.url, False)
        with dashboard_beside(tmp_path) as other:
            assert other.is_own
    with pytest.raises(urllib.error.URLError):
        about(own.url)
