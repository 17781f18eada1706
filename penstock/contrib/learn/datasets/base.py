"""Small datasets from files."""

from __future__ import annotations

import csv
import os
from collections import namedtuple
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


def _needed(data_path: str | None, name: str) -> str:
    if data_path is None:
        raise FileNotFoundError(
            f"Penstock brings no data of its own for {name}: pass the path of its CSV file, with "
            "the numbers of rows and of features in the first line, as data_path."
        )
    return data_path


def load_iris(data_path: str | None = None) -> Dataset:
    """Fisher's irises, from a CSV file."""
    return load_csv_with_header(_needed(data_path, "iris"), int, float)


def load_boston(data_path: str | None = None) -> Dataset:
    """Prices of houses in Boston, from a CSV file."""
    return load_csv_with_header(_needed(data_path, "boston"), float, float)


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file in a directory; it must be there, for nothing is downloaded."""
    path = os.path.join(work_directory, filename)
    if not gfile.Exists(path):
        raise FileNotFoundError(
            f"{path} is not there, and Penstock downloads nothing: fetch it from {source_url} and "
            "put it there."
        )
    return path
