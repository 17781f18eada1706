"""The API that programs use: what a census of 100 public TensorFlow 1.x repositories counted.

Every symbol, argument, method and module path that at least three of them use is there, or has a
reason in `penstock.absent`. The tables beside this file are the census.
"""

import csv
import importlib
import inspect
import pathlib

import pytest

import penstock as tf
from penstock import absent
from penstock.cli.doctor import has

HERE = pathlib.Path(__file__).parent

# Arguments that TensorFlow dropped with 1.0, and so did Penstock.
DROPPED = {("tf.concat", "concat_dim"), ("tf.summary.image", "max_images")}

# Methods of TensorFlow 2; the census goes by names, which are those of other things in programs.
LATER = {("tf.data.Dataset", name) for name in ("save", "load", "random", "unique", "counter")}


def _rows(name):
    with (HERE / f"census_{name}.csv").open() as file:
        return list(csv.DictReader(file))


def _find(symbol):
    value = tf
    for part in symbol.split(".")[1:]:
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("row", _rows("symbols"), ids=lambda row: row["symbol"])
def test_symbols(row):
    symbol = row["symbol"]
    assert has(symbol) or absent.reason(symbol), f"{symbol} is missing without a reason"


def test_what_has_a_reason_is_really_missing():
    there = [symbol for symbol in absent.REASONS if has(symbol)]
    assert not there, f"these are there: take their reasons out of penstock/absent.py: {there}"


@pytest.mark.parametrize("row", _rows("modules"), ids=lambda row: row["module"])
def test_module_paths(row):
    if absent.reason(row["module"]):
        return
    path = row["module"].split(".", 1)[1]
    try:
        importlib.import_module(f"penstock.{path}")
    except ModuleNotFoundError:
        assert inspect.ismodule(_find(row["module"]))


def _parameters(value):
    if inspect.isclass(value):
        value = value.__init__ if value.__new__ is object.__new__ else value.__new__
    return inspect.signature(value).parameters


@pytest.mark.parametrize(
    "row", _rows("arguments"), ids=lambda row: f"{row['symbol']}({row['argument']})"
)
def test_arguments(row):
    symbol = row["symbol"]
    if not has(symbol):
        pytest.skip(f"{symbol} itself is missing")
    value = _find(symbol)
    if hasattr(value, "DESCRIPTOR"):
        assert row["argument"] in value.DESCRIPTOR.fields_by_name
        return
    try:
        parameters = _parameters(value)
    except ValueError:  # a type of Python's own
        return
    if (symbol, row["argument"]) in DROPPED:
        assert row["argument"] not in parameters
        return
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    assert takes_any or row["argument"] in parameters, f"{symbol} has no {row['argument']!r}"


def _methods():
    for row in _rows("methods"):
        for name in row["classes"].split():
            yield f"tf.{name}", row["method"]


@pytest.mark.parametrize(("symbol", "method"), list(_methods()))
def test_methods(symbol, method):
    if not has(symbol):
        pytest.skip(f"{symbol} itself is missing")
    expected = (symbol, method) not in LATER
    assert hasattr(_find(symbol), method) == expected, f"{symbol}: {method}"
