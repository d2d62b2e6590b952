"""The modules that run inside pages, made into one script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from scraper.in_page import bundle as bundler
from scraper.in_page.bundle import BundleError, bundle

pytestmark = pytest.mark.asyncio(loop_scope="session")

SOURCES = Path(bundler.__file__).parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of modules in place of our own."""
    monkeypatch.setattr(bundler, "resources", SimpleNamespace(files=lambda package: tmp_path))
    bundle.cache_clear()
    yield tmp_path
    bundle.cache_clear()


@pytest_asyncio.fixture(loop_scope="session")
async def blank(browser: Browser) -> Page:
    return await (await browser.new_context()).new_page()


def write(folder: Path, **modules: str) -> None:
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text)


async def test_modules_keep_their_own_names_and_share_what_they_export(folder: Path, blank: Page) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "far.js").write_text(
        'import {\n  twice,\n} from "../near.js";\n\nconst own = 5;\nexport const far = () => twice(own);\n'
    )
    write(
        folder,
        near="const own = 2;\nexport const twice = (value) => own * value;\nexport class Two {}\n",
        entry='import { twice } from "./near.js";\nexport { far } from "./deep/far.js";\n'
        "export function own() {\n  return twice(21);\n}\n",
    )
    assert await blank.evaluate(f"(({bundle('entry.js')}).own())") == 42
    assert await blank.evaluate(f"(({bundle('entry.js')}).far())") == 10
    assert await blank.evaluate(f"Object.keys({bundle('entry.js')}).sort()") == ["far", "own"]
    assert await blank.evaluate("typeof own") == "undefined"


async def test_each_module_runs_once_however_many_import_it(folder: Path, blank: Page) -> None:
    write(
        folder,
        count="globalThis.runs = (globalThis.runs ?? 0) + 1;\nexport const runs = () => globalThis.runs;\n",
        one='import { runs } from "./count.js";\nexport const one = runs;\n',
        entry='import { one } from "./one.js";\nimport { runs } from "./count.js";\n'
        "export const both = () => [one(), runs()];\n",
    )
    assert await blank.evaluate(f"({bundle('entry.js')}).both()") == [1, 1]


@pytest.mark.parametrize(
    "line",
    [
        'import all from "./near.js";',
        'import * as all from "./near.js";',
        'import { twice as double } from "./near.js";',
        'export * from "./near.js";',
        "export default 5;",
        "export let changing = 5;",
    ],
)
async def test_other_forms_of_import_and_export_are_refused(folder: Path, line: str) -> None:
    write(folder, near="export const twice = 2;\n", entry=f"{line}\n")
    with pytest.raises(BundleError, match=re.escape(f"entry.js has the line {line!r}")):
        bundle("entry.js")


async def test_modules_that_import_each_other_are_refused(folder: Path) -> None:
    write(
        folder,
        one='import { two } from "./two.js";\nexport const one = 1;\n',
        two='import { one } from "./one.js";\nexport const two = 2;\n',
    )
    with pytest.raises(BundleError, match=r"one\.js imports itself: one\.js -> two\.js -> one\.js"):
        bundle("one.js")


async def test_every_module_is_in_a_bundle(blank: Page) -> None:
    text = bundle("main.js") + bundle("open_shadows.js") + bundle("drawn_text/main.js")
    for module in SOURCES.rglob("*.js"):
        name = re.sub(r"\W", "_", module.relative_to(SOURCES).as_posix().removesuffix(".js"))
        assert f"const ${name} = " in text


async def test_no_script_is_left_in_python() -> None:
    """Scripts are modules, so that they are checked: none is a text in Python, but what calls them."""
    script = re.compile(
        r"=>\s*[{(\[]|function\s*\(|document\.\w|(?<![\w.])window\.\w|getComputedStyle|querySelector\b"
    )
    found = [
        path.relative_to(SOURCES.parent.parent).as_posix()
        for package in (SOURCES.parent, SOURCES.parent.parent / "bot")
        for path in package.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if script.search(line)
    ]
    assert set(found) <= {"scraper/in_page/bundle.py", "scraper/in_page/worlds.py"}
