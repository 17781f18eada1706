"""Small datasets from files."""

from __future__ import annotations

import csv
import functools
import os
import random
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from penstock.platform import gfile

Dataset = namedtuple("Dataset", ["data", "target"])
Datasets = namedtuple("Datasets", ["train", "validation", "test"])


def load_csv_with_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """The numbers of a CSV file whose first line says how many rows and features there are."""
    with gfile.Open(filename) as file:
        rows = csv.reader(file)
        header = next(rows)
        data = np.zeros((int(header[0]), int(header[1])), dtype=features_dtype)
        target = np.zeros((int(header[0]),), dtype=target_dtype)
        for i, row in enumerate(rows):
            target[i] = np.asarray(row.pop(target_column), dtype=target_dtype)
            data[i] = np.asarray(row, dtype=features_dtype)
    return Dataset(data=data, target=target)


def load_csv_without_header(
    filename: str, target_dtype: Any, features_dtype: Any, target_column: int = -1
) -> Dataset:
    """The numbers of a CSV file."""
    data, target = [], []
    with gfile.Open(filename) as file:
        for row in csv.reader(file):
            target.append(row.pop(target_column))
            data.append(np.asarray(row, dtype=features_dtype))
    return Dataset(data=np.array(data), target=np.array(target, dtype=target_dtype))


load_csv = load_csv_with_header


def shrink_csv(filename: str, ratio: int) -> None:
    """Writes every so-and-so-many-th row of a CSV file to one beside it, `..._small.csv`."""
    with gfile.Open(filename) as file, gfile.Open(filename.replace(".", "_small."), "w") as small:
        csv.writer(small).writerows(islice(csv.reader(file), 0, None, ratio))


def _packaged(name: str) -> str:
    return os.path.join(os.path.dirname(__file__), "data", name)


def load_iris(data_path: str | None = None) -> Dataset:
    """Fisher's irises, or those of a CSV file."""
    return load_csv_with_header(data_path or _packaged("iris.csv"), int, float)


def load_boston(data_path: str | None = None) -> Dataset:
    """Prices of houses in Boston, or those of a CSV file."""
    return load_csv_with_header(data_path or _packaged("boston_house_prices.csv"), float, float)


def retry(
    initial_delay: float,
    max_delay: float,
    factor: float = 2.0,
    jitter: float = 0.25,
    is_retriable: Callable[[Exception], bool] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: calls a function again, after growing delays, while it raises.

    Args:
      jitter: the largest share of a delay that is added or taken away at random.
      is_retriable: which errors are worth another call; all by default, and then without delay.
    """
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor:f}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter:f}")

    def delays() -> Iterator[float]:
        delay = initial_delay
        while delay <= max_delay:
            yield delay * random.uniform(1 - jitter, 1 + jitter)
            delay *= factor

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def persistent(*args: Any, **kwargs: Any) -> Any:
            for delay in delays():
                try:
                    return function(*args, **kwargs)
                except Exception as error:
                    if is_retriable is None:
                        continue
                    if not is_retriable(error):
                        raise
                    time.sleep(delay)
            return function(*args, **kwargs)

        return persistent

    return decorated


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file in a directory; it must be there, for nothing is downloaded."""
    path = os.path.join(work_directory, filename)
    if not gfile.Exists(path):
        raise FileNotFoundError(
            f"{path} is not there, and Penstock downloads nothing: fetch it from {source_url} and "
            "put it there."
        )
    return path
