"""DBpedia's articles, to be told apart by their kind."""

from __future__ import annotations

import os
import tarfile

import numpy as np

from penstock.contrib.learn.datasets import base
from penstock.platform import gfile

#: What `test_with_fake_data` gives: a class, a title and a text each.
_FAKE_TRAINING = [
    (1, "Penstock", "Penstock is a library."),
    (2, "Ada Lovelace", "Ada Lovelace wrote a program for a machine."),
    (3, "Nature", "Nature is a journal."),
]
_FAKE_TEST = [(2, "Alan Turing", "Alan Turing described a machine.")]


def maybe_download_dbpedia(data_dir: str) -> None:
    """Unpacks the archive in a directory, unless that has been done; nothing is downloaded."""
    files = [os.path.join(data_dir, "dbpedia_csv", name) for name in ("train.csv", "test.csv")]
    if all(gfile.Exists(path) for path in files):
        return
    archive = base.maybe_download("dbpedia_csv.tar.gz", data_dir, "its site")
    with tarfile.open(archive, "r:*") as members:
        if hasattr(tarfile, "data_filter"):
            members.extractall(data_dir, filter="data")
        else:
            members.extractall(data_dir)


def load_dbpedia(size: str = "small", test_with_fake_data: bool = False) -> base.Datasets:
    """The articles below `TF_EXP_BASE_DIR`.

    Args:
      size: "small" takes one article of a thousand.
      test_with_fake_data: gives four articles without any file.
    """
    if test_with_fake_data:
        return base.Datasets(_made(_FAKE_TRAINING), None, _made(_FAKE_TEST))
    data_dir = os.path.join(os.getenv("TF_EXP_BASE_DIR", ""), "dbpedia_data")
    maybe_download_dbpedia(data_dir)
    paths = [os.path.join(data_dir, "dbpedia_csv", name) for name in ("train.csv", "test.csv")]
    if size == "small":
        for path in paths:
            base.shrink_csv(path, 1000)
        paths = [path.replace(".csv", "_small.csv") for path in paths]
    training, test = (
        base.load_csv_without_header(path, np.int32, np.str_, target_column=0) for path in paths
    )
    return base.Datasets(train=training, validation=None, test=test)


def _made(rows: list[tuple[int, str, str]]) -> base.Dataset:
    data = np.array([[title, text] for _, title, text in rows])
    return base.Dataset(data=data, target=np.array([kind for kind, _, _ in rows], dtype=np.int32))
