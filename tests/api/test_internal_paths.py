"""The table of TensorFlow's internal paths: every source that it names is there."""

import importlib

import pytest

from penstock.internal_paths import table

EXPLICIT, PATTERNS = table._lines()


def _sources():
    named = {source for found in EXPLICIT.values() for source in found}
    named |= {source for _, found in PATTERNS for source in found}
    return sorted(source for source in named if source and "*" not in source)


@pytest.mark.parametrize("source", _sources())
def test_sources_exist(source):
    importlib.import_module(f"penstock.{source}")


@pytest.mark.parametrize("path", sorted(EXPLICIT))
def test_paths_can_be_imported(path):
    importlib.import_module(f"penstock.{path}")
