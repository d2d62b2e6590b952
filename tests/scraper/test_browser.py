"""Finding, starting, installing and stopping a browser."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from playwright._impl._driver import compute_driver_executable
from playwright.async_api import Browser

from game2048.errors import PageError
from scraper.chromium import install
from scraper.chromium import launch as browser_module
from scraper.chromium.launch import (
    BROWSER_VARIABLE,
    DRIVER_DISABLED_FEATURES,
    BrowserOptions,
    find_browsers,
    open_browser,
)


def executable(path: Path, text: str = "#!/bin/sh\nexit 3\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any browser; returns the only folder on its PATH."""
    monkeypatch.delenv(BROWSER_VARIABLE, raising=False)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "playwright"))
    monkeypatch.setattr(browser_module, "INSTALLED_PLACES", {})
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_the_browser_named_by_option_goes_before_the_variable(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    by_option, by_variable = executable(tmp_path / "a"), executable(tmp_path / "b")
    executable(bare_machine / "chromium")
    monkeypatch.setenv(BROWSER_VARIABLE, str(by_variable))
    assert [found.path for found in find_browsers(BrowserOptions(path=str(by_option)))] == [by_option]
    assert [found.path for found in find_browsers(BrowserOptions())] == [by_variable]


def test_playwrights_own_goes_before_installed_ones_chromium_before_chrome(
    bare_machine: Path, tmp_path: Path
) -> None:
    own = executable(tmp_path / "own")
    chrome = executable(bare_machine / "google-chrome")
    chromium = executable(bare_machine / "chromium")
    found = list(find_browsers(BrowserOptions(), own=str(own)))
    assert [browser.path for browser in found] == [own, chromium, chrome]
    assert found[0].origin == "Playwright's own"


def test_one_browser_under_two_names_is_tried_once(bare_machine: Path) -> None:
    executable(bare_machine / "google-chrome-stable")
    (bare_machine / "google-chrome").symlink_to("google-chrome-stable")
    assert len(list(find_browsers(BrowserOptions()))) == 1


def test_a_named_browser_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        PageError, match=r"missing' \(named with --browser\) is not an executable file: install"
    ):
        list(find_browsers(BrowserOptions(path=str(tmp_path / "missing"))))


async def test_no_browser_is_told_in_one_line_with_what_to_install(bare_machine: Path) -> None:
    with pytest.raises(PageError) as told:
        async with open_browser():
            pass
    assert "no browser found" in str(told.value)
    assert "install Chromium, Google Chrome or Microsoft Edge" in str(told.value)
    assert "\n" not in str(told.value)


async def test_a_browser_that_does_not_start_is_told(bare_machine: Path) -> None:
    broken = executable(bare_machine / "chromium")
    with pytest.raises(PageError) as told:
        async with open_browser():
            pass
    assert f"no browser starts: tried {broken}" in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.asyncio(loop_scope="session")
async def test_the_browser_keeps_its_pace_in_the_background(browser: Browser) -> None:
    context = await browser.new_context()
    behind = await context.new_page()
    await (await context.new_page()).bring_to_front()
    frames = await behind.evaluate(
        """() => new Promise((resolve) => {
             let frames = 0;
             const count = () => (++frames < 100 ? requestAnimationFrame(count) : resolve(frames));
             count();
           })"""
    )
    assert frames == 100
    await context.close()


# -- installing -------------------------------------------------------------------------------------------


def test_a_browser_that_is_there_is_named_and_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "_run", lambda *_: pytest.fail("nothing is to be run"))
    said: list[str] = []
    line = install.install_browser(BrowserOptions(), said.append)
    assert "version" in line
    assert said == []


def test_where_nothing_can_be_installed_every_attempt_is_told(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    executable(bare_machine / "apt-get", "#!/bin/sh\necho 'E: Unable to fetch some archives' >&2\nexit 100\n")
    (tmp_path / "os-release").write_text("ID=debian\n")
    monkeypatch.setattr(install, "OS_RELEASE", tmp_path / "os-release")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(install, "_download", lambda: "not done within 600 s")
    said: list[str] = []
    with pytest.raises(PageError, match="no browser could be installed: install Chromium"):
        install.install_browser(BrowserOptions(), said.append)
    assert [line for line in said if "download" in line][-1].endswith("not done within 600 s")
    assert said[-1] == "apt-get install chromium libatomic1: E: Unable to fetch some archives"


def test_apt_is_only_run_as_root_on_debian(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    executable(bare_machine / "apt-get")
    release = tmp_path / "os-release"
    monkeypatch.setattr(install, "OS_RELEASE", release)
    monkeypatch.setattr(install, "_download", lambda: "no network")
    monkeypatch.setattr(install, "_run", lambda *_: pytest.fail("nothing is to be run"))
    for text, user, told in (("ID=fedora\n", 0, "only on Debian"), ("ID=debian\n", 1000, "only as root")):
        release.write_text(text)
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        said: list[str] = []
        with pytest.raises(PageError):
            install.install_browser(BrowserOptions(), said.append)
        assert told in said[-1]


def test_what_apt_installed_is_found_and_started(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(install, "_download", lambda: "no network")

    def pretend_to_install() -> None:
        executable(bare_machine / "chromium")

    monkeypatch.setattr(install, "_install_with_apt", pretend_to_install)
    said: list[str] = []
    with pytest.raises(PageError):
        install.install_browser(BrowserOptions(), said.append)
    assert "no browser starts: tried" in said[-1]


def test_a_command_that_does_not_end_is_given_up() -> None:
    failure = install._run([sys.executable, "-c", "input = iter(int, 1); list(input)"], 0.5, dict(os.environ))
    assert failure == "not done within 0.5 s"


# -- stopping ---------------------------------------------------------------------------------------------

HOLD_A_PAGE = """
import asyncio
from scraper.open_page import open_page

async def hold():
    async with open_page() as page:
        print("open", flush=True)
        await asyncio.Event().wait()

try:
    asyncio.run(hold())
except KeyboardInterrupt:
    raise SystemExit(130)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process on Windows")
def test_ctrl_c_closes_the_browser() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD_A_PAGE],
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        family = psutil.Process(process.pid).children(recursive=True)
        assert len(family) >= 3
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of the group
        assert process.wait(timeout=30) == 130
        _, alive = psutil.wait_procs(family, timeout=10)
        assert alive == []
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_what_playwright_turns_off_is_turned_off_here_too() -> None:
    """Chromium heeds only the last `--disable-features`, and that is ours."""
    library = Path(compute_driver_executable()[1]).parent / "lib"
    lists = [
        found[1]
        for script in library.rglob("*.js")
        if (found := re.search(r"disabledFeatures = \[(.*?)\]", script.read_text("utf-8"), re.DOTALL))
    ]
    assert lists
    assert {name for text in lists for name in re.findall(r'"(\w+)"', text)} <= set(DRIVER_DISABLED_FEATURES)


async def test_the_browser_gets_one_list_of_disabled_features_after_playwrights() -> None:
    async with open_browser():
        processes = psutil.Process().children(recursive=True)
        lists = [
            [word for word in process.cmdline() if word.startswith("--disable-features=")]
            for process in processes
            if "--remote-debugging-pipe" in process.cmdline()
        ]
    assert lists
    for given in lists:
        assert {"HttpsUpgrades", "PaintHolding", "WebUIOmniboxPopup"} <= set(
            given[-1].partition("=")[2].split(",")
        )


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (
            "#!/bin/sh\necho 'node: libatomic.so.1: no such file' >&2\nexit 127\n",
            "node: libatomic.so.1: no such",
        ),
        (None, "No such file or directory"),
    ],
)
def test_a_driver_that_does_not_start_is_told(script: str | None, reason: str, tmp_path: Path) -> None:
    node = tmp_path / "node" if script is None else executable(tmp_path / "node", script)
    probed = subprocess.run(
        [sys.executable, "-m", "bot.cli.main", "probe", "http://127.0.0.1:1/"],
        env={**os.environ, "PLAYWRIGHT_NODEJS_PATH": str(node)},
        capture_output=True,
        text=True,
        check=False,
    )
    *before, last = probed.stderr.splitlines()
    assert last.startswith("error: Playwright's driver, a Node.js program, does not start: ")
    assert reason in last
    assert "'apt-get install libatomic1'" in last
    assert before == ([] if script is None else ["node: libatomic.so.1: no such file"])  # its own words
    assert probed.returncode == 1
