"""What the docstring of a type says about its fields, for schemas that are made of types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping

_ATTRIBUTE = re.compile(r"^    (\w+): (.*(?:\n      .*)*)", re.MULTILINE)


def summary_of_type(kind: type) -> str:
    """Return the first line of a type's docstring."""
    return (inspect.getdoc(kind) or "").split("\n")[0].replace("``", "`")


def field_docs(kind: type, names: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what a type's docstring says under "Attributes", by field.

    Args:
        kind: the type.
        names: the names of its fields in JSON, where these differ; texts then name fields as JSON does.
    """
    found = _ATTRIBUTE.findall(inspect.getdoc(kind) or "")
    return {name: _for_json(meaning, names or {}) for name, meaning in found}


def _for_json(meaning: str, names: Mapping[str, str]) -> str:
    text = " ".join(meaning.replace("``", "`").split())
    return re.sub(r"`(\w+)`", lambda word: f"`{names.get(word[1], word[1])}`", text)
