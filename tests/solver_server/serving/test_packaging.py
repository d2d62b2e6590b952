"""The files in packaging/: what they start exists, is accepted, and stops in time."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from support.server_process import server_process

from bot.cli.main import main

ROOT = Path(__file__).parents[3]
UNIT = (ROOT / "packaging" / "bot2048-server.service").read_text(encoding="utf-8")
CONTAINER = (ROOT / "packaging" / "Containerfile").read_text(encoding="utf-8")
TOKEN = "a-token-of-23-characters"


def accepted(arguments: list[str]) -> dict[str, object]:
    """The options of a command line that our commands take; it is not run."""
    context = click.Context(main)
    command = main.get_command(context, arguments[0])
    assert command is not None
    return command.make_context(arguments[0], arguments[1:], parent=context).params


def commands_of_unit() -> list[list[str]]:
    text = UNIT.replace("#", "").replace("\\\n", " ").replace("%d/token", __file__)
    lines = re.findall(r"^ExecStart=(.*)$", text.replace("%d/certificate", __file__), re.MULTILINE)
    return [shlex.split(line) for line in lines]


def test_the_service_starts_a_command_that_exists() -> None:
    plain, for_others = commands_of_unit()
    for command in (plain, for_others):
        assert command[0] == "/opt/bot2048/bin/bot2048"
        accepted(command[1:])
    assert "--token-file" in for_others
    (patience,) = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)
    assert float(plain[plain.index("--grace") + 1]) + 2 < int(patience)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is missing")
def test_systemd_takes_the_service(tmp_path: Path) -> None:
    unit = tmp_path / "bot2048-server.service"
    unit.write_text(UNIT.replace("/opt/bot2048/bin/bot2048", shutil.which("true") or "/bin/true"))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_images_start_commands_that_exist() -> None:
    commands = [json.loads(words) for words in re.findall(r"^CMD (\[.*\])$", CONTAINER, re.MULTILINE)]
    assert [command[0] for command in commands] == ["serve", "demo"]
    for command in commands:
        accepted(command)
    grace = float(commands[0][commands[0].index("--grace") + 1])
    assert grace + 1 < 10  # after so many seconds a container is killed
    for file in re.findall(r"/tmp/bot2048/(\S+)", CONTAINER):
        assert (ROOT / file).exists()


def test_the_health_check_tells_whether_the_server_answers(tmp_path: Path) -> None:
    def check(url: str, **more: str) -> int:
        script = ROOT / "packaging" / "healthcheck.py"
        environment = {**os.environ, "no_proxy": "127.0.0.1", **more}
        command = [sys.executable, script, url]
        return subprocess.run(
            command, env=environment, capture_output=True, timeout=60, check=False
        ).returncode

    token = tmp_path / "token"
    token.write_text(TOKEN + "\n")
    with server_process("--engine", "fast", "--token-file", str(token)) as server:
        url = server.url.replace("ws://", "http://")
        assert check(url, BOT2048_TOKEN=TOKEN) == 0
        assert check(url, BOT2048_TOKEN_FILE=str(token)) == 0
        assert check(url) == 1
    assert check(url, BOT2048_TOKEN=TOKEN) == 1
