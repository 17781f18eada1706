"""Modules that warn of old names and load what they offer when it is asked for."""

from __future__ import annotations

import cmd
import types
from abc import ABCMeta
from typing import Any
from unittest import mock

import pytest

from penstock.internal_paths.python import module_wrapper
from penstock.internal_paths.python.deprecations import deprecated
from penstock.platform import logging
from penstock.tools import renamed_symbols


def _module(**values: Any) -> types.ModuleType:
    module = types.ModuleType("wrapped")
    vars(module).update(values)
    return module


def test_renamed_names_are_warned_of_once() -> None:
    @deprecated(None, "Use new.")
    def warns_itself() -> None:
        pass

    renames = {f"tf.w.{name}": f"tf.{name}" for name in ("old", "older", "oldest", "warns_itself")}
    wrapped = module_wrapper.TFModuleWrapper(
        _module(old=1, older=2, oldest=3, kept=4, warns_itself=warns_itself), "w"
    )
    with (
        mock.patch.object(logging, "warning") as warning,
        mock.patch.object(module_wrapper, "_PER_MODULE_WARNING_LIMIT", 2),
        mock.patch.object(renamed_symbols, "symbol_renames", renames, create=True),
    ):
        assert (wrapped.old, wrapped.kept, wrapped.old) == (1, 4, 1)
        assert wrapped.warns_itself is warns_itself
        assert warning.call_count == 1
        assert warning.call_args.args[1].startswith(__file__)
        assert warning.call_args.args[2:] == ("tf.w.old", "tf.old")
        assert (wrapped.older, wrapped.oldest) == (2, 3)
        assert warning.call_count == 2


def test_names_are_loaded_when_asked_for() -> None:
    module = _module(_own=5, lite=6)
    apis = {"cmd": ("", "cmd"), "Meta": ("abc", "ABCMeta"), "lite": ("", "cmd")}
    wrapped = module_wrapper.TFModuleWrapper(module, "w", apis, deprecation=False, has_lite=True)
    assert "cmd" not in vars(wrapped)
    assert wrapped.cmd is cmd and vars(wrapped)["cmd"] is cmd and wrapped.Meta is ABCMeta
    assert wrapped.lite is cmd
    wrapped.cmd, wrapped.more = 1, 2
    assert (wrapped.cmd, module.cmd, module.more) == (1, 1, 2)  # type: ignore[attr-defined]
    assert wrapped.__all__ == ["cmd", "Meta", "lite", "more"]
    assert {"cmd", "more"} < set(dir(wrapped)) and "_own" not in dir(wrapped)
    del wrapped.more
    assert not hasattr(wrapped, "more") and not hasattr(module, "more")
    with pytest.raises(AttributeError, match="nothing"):
        _ = wrapped.nothing


def test_names_that_version_2_has_left_behind() -> None:
    renames = renamed_symbols.symbol_renames
    assert renames["tf.placeholder"] == "tf.compat.v1.placeholder"
    assert "tf.reshape" not in renames and "tf.train" not in renames
