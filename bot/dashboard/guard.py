"""The ASGI layer around the whole dashboard: access rules, the token's form, headers on every answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from typing import Any
from urllib.parse import parse_qs

from bot.dashboard.access import COOKIE, AccessRules, RefusedRequest

Scope = MutableMapping[str, Any]
_Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[_Message]]
Send = Callable[[_Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

LOGIN_PATH = "/token"
_LONGEST_FORM = 4096

# NiceGUI's page carries scripts and styles of its own and compiles templates, so both "unsafe" words have to
# stay. All else is this server's, and works without a network.
_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

_FORM = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Token - bot2048 dashboard</title>
<meta name="viewport" content="width=device-width"></head>
<body style="font: 16px sans-serif; max-width: 30em; margin: 4em auto; color: #222">
<main><h1>bot2048 dashboard</h1><p role="status">{said}</p>
<form method="post" action="{path}"><p><label>Token <input name="token" type="password"
autocomplete="current-password" required autofocus></label> <button>Enter</button></p></form></main>
</body></html>
"""


class AccessGuard:
    """Refuses requests by the rules, and passes on all others.

    Args:
        app: the dashboard.
        rules: who may talk to it.
    """

    def __init__(self, app: Asgi, rules: AccessRules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one ASGI request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = _headers_of(scope)
        is_socket = scope["type"] == "websocket"
        method = "WEBSOCKET" if is_socket else scope["method"]
        if is_socket:
            if self._rules.refusal(headers, method) is None:
                await self._app(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008})  # before it is open: HTTP status 403
            return
        refusal = self._rules.foreign(headers, method)
        if refusal is None and scope["path"] == LOGIN_PATH and self._rules.needs_token:
            await self._log_in(scope, receive, send)
            return
        refusal = refusal or self._rules.refusal(headers, method)
        if refusal is None:
            await self._app(scope, receive, _with_headers(send))
        elif refusal.status == 401 and headers.get("sec-fetch-mode") == "navigate":
            await _answer(send, 303, b"", {"location": LOGIN_PATH})
        else:
            await _refuse(send, refusal)

    async def _log_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":
            await _show_form(send, 200, "Enter the token that the dashboard began with.")
            return
        form = parse_qs((await _body(receive)).decode("utf-8", "replace"))
        if not self._rules.is_token(form.get("token", [""])[0]):
            await _show_form(send, 401, "This token is wrong. Enter the token that the dashboard began with.")
            return
        cookie = f"{COOKIE}={self._rules.cookie()}; Path=/; HttpOnly; SameSite=Strict"
        await _answer(send, 303, b"", {"location": "/", "set-cookie": cookie})


def _headers_of(scope: Scope) -> dict[str, str]:
    """Return the headers by name; keep the first of several, but no host if there are two."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        text = name.decode("latin-1").lower()
        if text == "host" and text in found:
            found[text] = ""
        found.setdefault(text, value.decode("latin-1"))
    return found


def _with_headers(send: Send) -> Send:
    async def sending(message: _Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            present = {name.lower() for name, _ in given}
            added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            message["headers"] = given + [pair for pair in added if pair[0] not in present]
        await send(message)

    return sending


async def _body(receive: Receive) -> bytes:
    """Return the body of a request, cut to the longest form with a token."""
    body = b""
    while len(body) <= _LONGEST_FORM:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return body[:_LONGEST_FORM]


async def _show_form(send: Send, status: int, said: str) -> None:
    page = _FORM.format(said=escape(said), path=LOGIN_PATH)
    await _answer(send, status, page.encode(), {"content-type": "text/html; charset=utf-8"})


async def _refuse(send: Send, refusal: RefusedRequest) -> None:
    kind = {"content-type": "text/plain; charset=utf-8"}
    await _answer(send, refusal.status, f"{refusal.reason}\n".encode(), kind)


async def _answer(send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    all_headers = _HEADERS | {"cache-control": "no-store", "content-length": str(len(body))} | headers
    pairs = [(name.encode(), value.encode()) for name, value in all_headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
