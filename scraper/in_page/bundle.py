"""Bundle the modules in this folder into one script.

The files are ES modules, which editors, `tsc` and Biome understand. A browser loads modules by address, and
a site may forbid that. So the bundle turns each module into a function, and all of them into one expression.
It needs no parser, because the modules only use these forms:

* ``import { a, b } from "./file.js";`` and ``export { a, b } from "./file.js";``, with names as they are;
* ``export`` before a ``const``, ``class`` or ``function`` that begins a line.

Any other line that begins with ``import`` or ``export`` is an error.
"""

from __future__ import annotations

import functools
import posixpath
import re
from importlib import resources

NAMES = r"\{\s*([\w$]+(?:\s*,\s*[\w$]+)*)\s*,?\s*\}"
FROM = r'\s*from\s*"(\.{1,2}/[\w./-]+)";'
IMPORT = re.compile(rf"^import\s*{NAMES}{FROM}", re.MULTILINE)
PASS_ON = re.compile(rf"^export\s*{NAMES}{FROM}", re.MULTILINE)
DECLARATION = re.compile(r"^export ((?:const|class|(?:async )?function) ([\w$]+))", re.MULTILINE)
LEFT_OVER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


class BundleError(Exception):
    """A module is written in a way that cannot be bundled."""


@functools.cache
def bundle(entry: str) -> str:
    """Return one expression whose value is an object with all exports of a module.

    Args:
        entry: the module's path in this folder.

    Raises:
        BundleError: a module imports itself, or uses a form of import or export that is not listed above.
    """
    functions: dict[str, str] = {}
    _add(entry, functions, ())
    lines = "\n".join(f"const {_variable(path)} = {text};" for path, text in functions.items())
    return f'(() => {{\n"use strict";\n{lines}\nreturn {_variable(entry)};\n}})()'


def _add(path: str, functions: dict[str, str], above: tuple[str, ...]) -> None:
    """Add a module after the modules that it imports."""
    if path in above:
        raise BundleError(f"{path} imports itself: {' -> '.join((*above, path))}")
    text = (resources.files(__package__) / path).read_text(encoding="utf-8")
    for _, other in [*IMPORT.findall(text), *PASS_ON.findall(text)]:
        other = _resolved(path, other)
        if other not in functions:
            _add(other, functions, (*above, path))
    functions[path] = _as_function(path, text)


def _as_function(path: str, text: str) -> str:
    exported: list[str] = []

    def bound(match: re.Match[str]) -> str:
        return f"const {{ {_names(match[1])} }} = {_variable(_resolved(path, match[2]))};"

    def passed_on(match: re.Match[str]) -> str:
        exported.extend(_names(match[1]).split(", "))
        return bound(match)

    def declared(match: re.Match[str]) -> str:
        exported.append(match[2])
        return match[1]

    body = IMPORT.sub(bound, text)
    body = PASS_ON.sub(passed_on, body)
    body = DECLARATION.sub(declared, body)
    if unknown := LEFT_OVER.search(body):
        raise BundleError(f"{path} has the line {unknown[0]!r}; expected one of the forms in bundle.py")
    return f"(() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})()"


def _names(names: str) -> str:
    return ", ".join(name.strip() for name in names.split(","))


def _resolved(path: str, other: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), other))


def _variable(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))
