from __future__ import annotations

import pytest

from bot.rate_limit import RateLimit


async def test_all_who_share_a_limit_keep_to_it_together(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds, 3))

    monkeypatch.setattr("bot.rate_limit.time.monotonic", lambda: now)
    monkeypatch.setattr("bot.rate_limit.asyncio.sleep", sleep)
    limit = RateLimit(4.0)
    for _ in range(3):
        await limit.turn()
    now = 10.0
    await limit.turn()
    await RateLimit(None).turn()
    assert slept == [0.25, 0.5]
