"""Settings of the debugger's command line, which are kept in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, ClassVar

from penstock import errors, gfile
from penstock.debugger.rich_text import (
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)

__all__ = ["CLIConfig"]

_TRUE = ("1", "true", "t", "yes", "y", "on")
_FALSE = ("0", "false", "f", "no", "n", "off")


class CLIConfig:
    """Named settings with the types of their defaults."""

    _CONFIG_FILE_NAME = ".tfdbg_config"
    _DEFAULT_CONFIG: ClassVar[list[tuple[str, Any]]] = [
        ("graph_recursion_depth", 20),
        ("mouse_mode", True),
    ]

    def __init__(self, config_file_path: str | None = None):
        self._config_file_path = config_file_path or os.path.join(
            os.path.expanduser("~"), self._CONFIG_FILE_NAME
        )
        self._config: dict[str, Any] = {**dict(self._DEFAULT_CONFIG), **self._load_from_file()}
        self._save_to_file()
        self._set_callbacks: dict[str, Callable[[dict[str, Any]], Any]] = {}

    def _check_known(self, name: str) -> None:
        if name not in self._config:
            raise KeyError(f"{name} is not a valid property name.")

    def get(self, property_name: str) -> Any:
        """The value of a setting."""
        self._check_known(property_name)
        return self._config[property_name]

    def set(self, property_name: str, property_val: Any) -> None:
        """Changes a setting, tells who asked to be told, and writes the file."""
        self._check_known(property_name)
        self._config[property_name] = _as_type_of(self._config[property_name], property_val)
        self._save_to_file()
        if property_name in self._set_callbacks:
            self._set_callbacks[property_name](self._config)

    def set_callback(self, property_name: str, callback: Callable[[dict[str, Any]], Any]) -> None:
        """Calls a function with all settings whenever one of them changes."""
        self._check_known(property_name)
        if not callable(callback):
            raise TypeError("The callback object provided is not callable.")
        self._set_callbacks[property_name] = callback

    def summarize(self, highlight: str | None = None) -> RichTextLines:
        """A line for each setting, one of them in bold letters."""
        lines: list[Any] = [RichLine("Command-line configuration:", "bold"), RichLine("")]
        for name, value in self._config.items():
            weight = "bold" if name == highlight else None
            lines.append(
                RichLine("  ")
                + RichLine(name, ["underline", weight])
                + ": "
                + RichLine(str(value), font_attr=weight)
            )
        return rich_text_lines_from_rich_line_list(lines)

    def _save_to_file(self) -> None:
        try:
            with gfile.Open(self._config_file_path, "w") as file:
                file.write(json.dumps(self._config))
        except (OSError, errors.OpError):
            pass  # the settings of this process hold all the same

    def _load_from_file(self) -> dict[str, Any]:
        if not gfile.Exists(self._config_file_path):
            return {}
        try:
            with gfile.Open(self._config_file_path, "r") as file:
                found = json.loads(file.read())
        except (OSError, ValueError, errors.OpError):
            return {}
        return dict(sorted(found.items()))


def _as_type_of(before: Any, value: Any) -> Any:
    if isinstance(before, bool):
        if not isinstance(value, str):
            return bool(value)
        if value.lower() not in (*_TRUE, *_FALSE):
            raise ValueError(f"Invalid string value for bool type: {value}")
        return value.lower() in _TRUE
    if isinstance(before, int | str):
        return type(before)(value)
    raise TypeError(f"Unsupported property type: {type(before)}")
