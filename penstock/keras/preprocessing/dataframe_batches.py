"""Endless batches of changed images whose files a table lists."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np

from penstock.keras import backend as K
from penstock.keras.preprocessing.image_batches import BatchesOfFiles

__all__ = ["DataFrameIterator"]

_WITHOUT_CLASSES = ("input", "multi_output", "raw", None)


class DataFrameIterator(BatchesOfFiles):
    """Batches of changed images of the files in a column of a table of pandas.

    Args:
      directory: what the names in the column `x_col` are relative to.
      y_col: the column of the labels, or a list of columns.
      class_mode: "categorical" (names, or lists of names, become rows of 0 and 1), "binary",
        "sparse", "raw" and "multi_output" (the columns' values), "input" or None.
      validate_filenames: whether to leave out what is no file of a picture.
    """

    allowed_class_modes = (
        "binary",
        "categorical",
        "input",
        "multi_output",
        "raw",
        "sparse",
        None,
    )

    def __init__(
        self,
        dataframe: Any,
        directory: str | None = None,
        image_data_generator: Any = None,
        x_col: str = "filename",
        y_col: Any = "class",
        weight_col: str | None = None,
        target_size: Any = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = "channels_last",
        save_to_dir: Any = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: Any = None,
        validate_filenames: bool = True,
    ):
        saving = (save_to_dir, save_prefix, save_format)
        self._set_processing(
            image_data_generator,
            target_size,
            color_mode,
            data_format,
            saving,
            subset,
            interpolation,
        )
        self.directory = directory or ""
        self.class_mode = class_mode
        self.dtype = dtype or K.floatx()
        files = list(dataframe[x_col])
        self._check_table(dataframe, files, x_col, y_col, weight_col, classes)
        rows = self._valid_rows(files, x_col) if validate_filenames else list(range(len(files)))
        labels: list[Any] = []
        names: list[str] = []
        if class_mode not in _WITHOUT_CLASSES:
            labels, names = _labels_and_classes(list(dataframe[y_col]), rows, classes)
            rows = [row for row in rows if labels[row] is not None]
            self.class_indices = {name: index for index, name in enumerate(names)}
        rows = self._in_split(rows)
        if class_mode not in _WITHOUT_CLASSES:
            self.classes = [self._numbers(labels[row]) for row in rows]
        self._targets = self._columns_of(dataframe, y_col, rows)
        self._weights = np.asarray(dataframe[weight_col])[rows] if weight_col else None
        self.filenames = [files[row] for row in rows]
        self.filepaths = [os.path.join(self.directory, file) for file in self.filenames]
        self.samples = len(rows)
        is_checked = "validated" if validate_filenames else "non-validated"
        of_classes = "" if class_mode in _WITHOUT_CLASSES else f" belonging to {len(names)} classes"
        sys.stdout.write(f"Found {self.samples} {is_checked} image filenames{of_classes}.\n")
        super().__init__(self.samples, batch_size, shuffle, seed)

    @property
    def labels(self) -> Any:
        return self._targets if self.class_mode in ("multi_output", "raw") else self.classes

    @property
    def sample_weight(self) -> Any:
        return self._weights

    def _numbers(self, label: Any) -> Any:
        if isinstance(label, (list, tuple)):
            return [self.class_indices[each] for each in label]
        return self.class_indices[label]

    def _columns_of(self, dataframe: Any, y_col: Any, rows: list[int]) -> Any:
        """The values of labels that are no classes."""
        if self.class_mode == "multi_output":
            listed = [list(dataframe[name]) for name in y_col]
            return [np.array([column[row] for row in rows]) for column in listed]
        if self.class_mode != "raw":
            return None
        if isinstance(y_col, (list, tuple)):
            return np.stack([np.asarray(dataframe[name])[rows] for name in y_col], axis=1)
        return np.asarray(dataframe[y_col])[rows]

    def _valid_rows(self, files: list[str], x_col: str) -> list[int]:
        paths = [os.path.join(self.directory, file) for file in files]
        valid = [
            row
            for row, path in enumerate(paths)
            if path.lower().endswith(self.white_list_formats) and os.path.isfile(path)
        ]
        if len(valid) < len(files):
            warnings.warn(
                f"Found {len(files) - len(valid)} invalid image filename(s) in "
                f'x_col="{x_col}". These filename(s) will be ignored.',
                stacklevel=3,
            )
        return valid

    def _check_table(
        self,
        dataframe: Any,
        files: list[Any],
        x_col: str,
        y_col: Any,
        weight_col: str | None,
        classes: Any,
    ) -> None:
        mode = self.class_mode
        if mode not in self.allowed_class_modes:
            raise ValueError(
                f"Invalid class_mode: {mode}; expected one of: {self.allowed_class_modes}"
            )
        if mode == "multi_output" and not isinstance(y_col, list):
            raise TypeError(
                f'If class_mode="{mode}", y_col must be a list. Received {type(y_col).__name__}.'
            )
        if not all(isinstance(file, str) for file in files):
            raise TypeError(f"All values in column x_col={x_col} must be strings.")
        if mode not in _WITHOUT_CLASSES:
            self._check_labels(list(dataframe[y_col]), y_col, classes)
        elif classes:
            warnings.warn(f'`classes` will be ignored given the class_mode="{mode}"', stacklevel=3)
        if weight_col and not np.issubdtype(np.asarray(dataframe[weight_col]).dtype, np.number):
            raise TypeError(f"Column weight_col={weight_col} must be numeric.")

    def _check_labels(self, labels: list[Any], y_col: Any, classes: Any) -> None:
        mode = self.class_mode
        kinds: tuple[type, ...] = (str,)
        shown = "strings"
        if mode == "categorical":
            kinds, shown = (str, list, tuple), "type string, list or tuple"
        if not all(isinstance(label, kinds) for label in labels):
            raise TypeError(
                f'If class_mode="{mode}", y_col="{y_col}" column values must be {shown}.'
            )
        if mode != "binary":
            return
        if classes and len(set(classes)) != 2:
            raise ValueError(
                'If class_mode="binary" there must be 2 classes. '
                f"{len(set(classes))} class/es were given."
            )
        if not classes and len(set(labels)) != 2:
            raise ValueError(
                f'If class_mode="binary" there must be 2 classes. Found {len(set(labels))} classes.'
            )


def _labels_and_classes(
    labels: list[Any], rows: list[int], classes: Any
) -> tuple[list[Any], list[str]]:
    """The labels, without those of other classes than given ones, and the classes' names."""
    if not classes:
        found: set[str] = set()
        for row in rows:
            label = labels[row]
            found.update(label if isinstance(label, (list, tuple)) else [label])
        return labels, sorted(found)
    wanted = set(classes)
    kept: list[Any] = []
    for label in labels:
        if isinstance(label, (list, tuple)):
            kept.append([each for each in label if each in wanted] or None)
        else:
            kept.append(label if label in wanted else None)
    return kept, sorted(wanted)
