"""What people install: the archives are whole, and the wheel works in an empty environment elsewhere."""

from __future__ import annotations

import email.message
import email.parser
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES: list[str] = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
MOST_BYTES = 100_000_000  # what package indexes take at most


class Archives(NamedTuple):
    """The source archive, and the wheel that was built from it."""

    source: Path
    wheel: Path


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Archives:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Archives(source, wheel)


def files_of_packages() -> set[str]:
    found = {path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()}
    return {path.relative_to(ROOT).as_posix() for path in found if "__pycache__" not in path.parts}


def metadata_of(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.parser.Parser().parsestr(archive.read(name).decode("utf-8"))


def test_the_wheel_holds_every_file_of_every_package(archives: Archives) -> None:
    with zipfile.ZipFile(archives.wheel) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
        scripts = [wheel.read(name) for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert packed == files_of_packages()
    for package in PACKAGES:
        assert f"{package}/py.typed" in packed
    for kind in ("*.js", "*.html", "*.n2048", "*.extract"):
        assert any(Path(name).match(kind) for name in packed), kind
    assert b"bot2048 = bot.cli.main:main" in scripts[0]


def test_the_source_archive_holds_every_file_of_the_repository(archives: Archives) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is not a git repository")
    with tarfile.open(archives.source) as archive:
        packed = {member.name.partition("/")[2] for member in archive if member.isfile()}
    tracked = {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}
    assert tracked <= packed
    assert not {name for name in packed if name.startswith((".venv", "node_modules", "runs/"))}


def test_an_index_takes_both_archives(archives: Archives) -> None:
    assert all(archive.stat().st_size < MOST_BYTES for archive in archives)
    metadata = metadata_of(archives.wheel)
    assert metadata["Name"] == "bot2048"
    assert metadata["Version"] == PROJECT["project"]["version"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload() == (ROOT / "README.md").read_text("utf-8")
    assert len(metadata["Summary"]) <= 512
    for requirement in metadata.get_all("Requires-Dist", []):
        assert " @ " not in requirement, "an index refuses requirements by address"
    for address in metadata.get_all("Project-URL", []):
        assert re.search(r", https://(?!localhost|127\.)", address)


# -- installed -------------------------------------------------------------------------------------------


class Installed(NamedTuple):
    """The wheel in an environment of its own."""

    scripts: Path
    folder: Path
    environment: dict[str, str]

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [str(self.scripts / "bot2048"), *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=280,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(archives: Archives, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    venv = tmp_path_factory.mktemp("elsewhere") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    scripts = venv / ("Scripts" if sys.platform == "win32" else "bin")
    wanted = ["--quiet", "--constraint", str(ROOT / "constraints.txt"), str(archives.wheel)]
    done = subprocess.run(
        [str(scripts / "python"), "-m", "pip", "install", *wanted], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path_factory.mktemp("empty")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    environment["BOT2048_TABLES"] = str(folder / "none")
    return Installed(scripts, folder, environment)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_installed_wheel_works_in_an_empty_folder(installed: Installed) -> None:
    assert installed.run("--version") == f"bot2048, version {PROJECT['project']['version']}\n"
    board = "2 4 8 16 / . . 2 4 / . . . 2 / . . . ."
    assert json.loads(installed.run("hint", board, "--json", "--depth", "2"))["direction"] in {"left", "down"}

    server = subprocess.Popen(
        [str(installed.scripts / "bot2048"), "serve", "--port", "0", "--engine", "fast"],
        cwd=installed.folder,
        env=installed.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        script = (
            "import sys, bot2048\n"
            f"board = bot2048.Board.from_text({board!r})\n"
            "with bot2048.engine(sys.argv[1]) as engine:\n"
            "    print(engine.choose(board, depth=2).direction in board.legal_directions())\n"
            "print(bot2048.__file__)\n"
        )
        done = subprocess.run(
            [str(installed.scripts / "python"), "-c", script, url],
            cwd=installed.folder,
            env=installed.environment,
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        server.kill()
        server.wait()
    answered, file = done.stdout.split()
    assert answered == "True"
    assert Path(file).is_relative_to(installed.scripts.parent)

    assert not list(installed.folder.iterdir())
    installed.run("demo", "--max-moves", "20", "--out", "out")
    assert {path.name for path in (installed.folder / "out").iterdir()} == {"games.jsonl", "game-001.gif"}
    installed.run("records", "verify", "out")
