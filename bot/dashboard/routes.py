"""The routes for scripts in the pages: games, opinions of engines, files, uploads."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles

from bot.dashboard.beside import PROGRAM
from bot.dashboard.faults import DashboardError
from bot.dashboard.services import Services
from bot.dashboard.sources import uploads
from bot.dashboard.sources.opinions import OPINION_DEPTH
from bot.dashboard.sources.replays import board_at, piece, summary
from bot.dashboard.sources.run_folders import kind_of
from game2048.errors import Error2048
from game2048.look.classic_look import BOARD_HEX, DARK_TEXT_HEX, GAP_SHARE, LIGHT_TEXT_HEX, TILE_HEXES
from recordings.game_arrays import GameArrays

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.requests import Request

MAX_OPINIONS = 64

_PICTURES = {".gif": "image/gif", ".webp": "image/webp"}

Handler = Callable[["Request"], Awaitable[Response]]


def add_routes(app: FastAPI, services: Services) -> None:
    """Add all routes that are not pages."""
    answers = Answers(services)
    for path, answer in (
        ("/api/about", answers.about),
        ("/api/replay", answers.replay),
        ("/api/plies", answers.plies),
        ("/api/opinions", answers.opinions),
        ("/files/{name:path}", answers.file),
        ("/web/look.css", answers.look),
    ):
        app.add_route(path, _told(answer), methods=["GET"], include_in_schema=False)
    app.add_route("/api/upload/{name}", _told(answers.upload), methods=["PUT"], include_in_schema=False)
    folder = resources.files("bot.dashboard") / "web"
    app.mount("/web", StaticFiles(directory=str(folder)))


def _told(answer: Handler) -> Handler:
    """Turn an error into JSON with a sentence for people."""

    async def telling(request: Request) -> Response:
        try:
            return await answer(request)
        except Error2048 as error:
            status = error.status if isinstance(error, DashboardError) else 400
            return JSONResponse({"error": str(error)}, status_code=status)

    return telling


class Answers:
    """Answers the routes.

    Args:
        services: what they show.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    async def about(self, request: Request) -> Response:
        """Return the folder of runs that is shown, for `play --dashboard`."""
        return _json({"program": PROGRAM, "runs": str(self._services.runs.root)})

    async def look(self, request: Request) -> Response:
        """Return the colours of the classic look as variables of CSS."""
        tiles = [f"--tile-{exponent}: #{code};" for exponent, code in enumerate(TILE_HEXES)]
        more = [
            f"--board: #{BOARD_HEX};",
            f"--dark-text: #{DARK_TEXT_HEX};",
            f"--light-text: #{LIGHT_TEXT_HEX};",
            f"--gap-share: {GAP_SHARE:.4f};",
        ]
        text = ":root {\n" + "\n".join(tiles + more) + "\n}\n"
        return Response(text, media_type="text/css")

    async def replay(self, request: Request) -> Response:
        """Return a game without its plies."""
        return _json(summary(await self._game(request)))

    async def plies(self, request: Request) -> Response:
        """Return some plies of a game."""
        given = request.query_params
        game = await self._game(request)
        return _json(await asyncio.to_thread(piece, game, _number(given, "begin"), _number(given, "count")))

    async def opinions(self, request: Request) -> Response:
        """Return what an engine thinks of some boards of a game."""
        given = request.query_params
        game = await self._game(request)
        plies = [_whole(word, "plies") for word in given.get("plies", "").split(",")[: MAX_OPINIONS + 1]]
        if len(plies) > MAX_OPINIONS or not all(0 <= ply <= game.plies for ply in plies):
            raise DashboardError(
                f"the plies are out of range; expected up to {MAX_OPINIONS} from 0 to {game.plies}"
            )
        depth = _whole(given["depth"], "depth") if given.get("depth") else None
        if depth is not None and not 1 <= depth <= OPINION_DEPTH:
            raise DashboardError(f"the depth is {depth}; expected 1 to {OPINION_DEPTH}")
        choice = self._services.engine_choice(given.get("engine", ""), depth)
        found = []
        for ply in plies:
            opinion = await self._services.opinions.ask(board_at(game, ply), choice)
            found.append(None if opinion is None else opinion.as_json())
        return _json({"opinions": found})

    async def file(self, request: Request) -> Response:
        """Send a picture, or a weights file, a file of games or a log to keep."""
        path = self._services.runs.file(request.path_params["name"], "picture", "weights", "games", "log")
        if kind_of(path.name) == "picture":
            return FileResponse(path, media_type=_PICTURES[path.suffix.lower()])
        return FileResponse(path, media_type="application/octet-stream", filename=path.name)

    async def upload(self, request: Request) -> Response:
        """Keep a file that its loader takes."""
        length = request.headers.get("content-length", "")
        announced = int(length) if length.isascii() and length.isdigit() and len(length) < 20 else None
        stream = request.stream()
        async with contextlib.aclosing(stream):
            name = await uploads.receive(self._services.runs, request.path_params["name"], stream, announced)
        return _json({"name": name})

    async def _game(self, request: Request) -> GameArrays:
        given = request.query_params
        path = self._services.runs.file(given.get("file", ""), "games", "journal")
        return await self._services.replays.game(path, _number(given, "game"))


def _json(value: dict[str, Any]) -> Response:
    return JSONResponse(value, headers={"Cache-Control": "no-store"})


def _number(given: Mapping[str, str], name: str) -> int:
    return _whole(given.get(name, ""), name)


def _whole(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 12):
        raise DashboardError(f"{name} is {text[:40]!r}; expected a whole number")
    return int(text)
