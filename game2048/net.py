"""Addresses and access tokens, as client and server both understand them. No I/O."""

from __future__ import annotations

import ipaddress

from game2048.errors import WireError

MIN_TOKEN_LENGTH = 16
"""The fewest characters of an access token, so that nobody guesses it."""


def authorization(token: str) -> str:
    """The value of the ``Authorization`` header that carries a token.

    Raises:
        WireError: the token cannot stand in a header (``bad_token``).
    """
    if not token or not all("!" <= character <= "~" for character in token):
        raise WireError(
            "bad_token", "the token is not usable: expected printable ASCII characters without spaces"
        )
    return f"Bearer {token}"


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine and nothing beyond it."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
