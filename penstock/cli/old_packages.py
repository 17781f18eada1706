"""What SciPy, pandas, Matplotlib, PyYAML and others have dropped since the days of TensorFlow 1.x.

None of them is imported here: a package gets its names back when the program imports it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.cli import old_hdf5, old_images


def _missing(owner: Any, names: dict[str, Any]) -> None:
    for name, value in names.items():
        if not hasattr(owner, name):
            setattr(owner, name, value)


def _scipy(module: types.ModuleType) -> None:
    """`scipy.array`, `scipy.log`, … were NumPy's functions."""
    functions = {name: getattr(np, name) for name in np.__all__}
    for name, value in functions.items():
        if callable(value):
            module.__dict__.setdefault(name, value)  # hasattr would load SciPy's own modules


def _scipy_misc(module: types.ModuleType) -> None:
    special = importlib.import_module("scipy.special")
    names = {name: getattr(special, name) for name in ("comb", "factorial", "logsumexp")}
    _missing(module, {**vars(old_images), **names})


def _scipy_integrate(module: types.ModuleType) -> None:
    old = {"trapz": "trapezoid", "cumtrapz": "cumulative_trapezoid", "simps": "simpson"}
    _missing(module, {name: getattr(module, new) for name, new in old.items()})


def _scipy_signal(module: Any) -> None:
    windows = importlib.import_module("scipy.signal.windows")
    _missing(module, {name: getattr(windows, name) for name in windows.__all__})
    original = module.lfilter

    @functools.wraps(original)
    def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
        if any(np.asarray(part).dtype == object for part in (b, a, x)) and zi is None:
            return np.apply_along_axis(_filtered_objects, axis, np.asarray(x), b, a)
        return original(b, a, x, axis, zi)

    module.lfilter = lfilter


def _filtered_objects(x: np.ndarray, b: Any, a: Any) -> np.ndarray:
    """What `lfilter` made of arrays of objects while it took them: values beside rows of one."""
    y = np.empty(len(x), object)
    for n in range(len(x)):
        taken = sum(b[k] * x[n - k] for k in range(min(len(b), n + 1)))
        y[n] = (taken - sum(a[k] * y[n - k] for k in range(1, min(len(a), n + 1)))) / a[0]
    return y


def _scipy_sparse(module: Any) -> None:
    adjoint = property(lambda matrix: matrix.conj().T)
    _missing(module.spmatrix, {"A": property(lambda matrix: matrix.toarray()), "H": adjoint})


class _LabelsOrPositions:
    """`table.ix`: rows and columns by their labels, or by position where labels are no numbers."""

    def __init__(self, table: Any):
        self._table = table

    def __getitem__(self, key: Any) -> Any:
        return self._table.loc[self._labels(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._table.loc[self._labels(key)] = value

    def _labels(self, key: Any) -> Any:
        if not isinstance(key, tuple):
            return _labels(self._table.axes[0], key)
        pairs = zip(self._table.axes, key, strict=False)
        return tuple(_labels(axis, each) for axis, each in pairs)


def _labels(axis: Any, key: Any) -> Any:
    if isinstance(key, slice):
        parts = [part for part in (key.start, key.stop) if part is not None]
    else:
        parts = list(key) if isinstance(key, (list, np.ndarray)) else [key]
    numbers = (int, np.integer)
    is_position = all(
        isinstance(part, numbers) and not isinstance(part, bool) for part in parts
    ) and not any(isinstance(label, numbers) for label in axis)
    return axis[key] if parts and is_position else key


def _pandas(module: Any) -> None:
    def as_matrix(table: Any, columns: Any = None) -> Any:
        return (table if columns is None else table[columns]).to_numpy()

    def append(table: Any, other: Any, ignore_index: bool = False, **kwargs: Any) -> Any:
        rows = list(other) if isinstance(other, (list, tuple)) else [other]
        if table.ndim == 2:  # a row is a Series or a dictionary
            rows = [
                row if getattr(row, "ndim", 1) == 2 else module.Series(row).to_frame().T
                for row in rows
            ]
        return module.concat([table, *rows], ignore_index=ignore_index, **kwargs)

    for kind in (module.DataFrame, module.Series):
        _missing(kind, {"as_matrix": as_matrix, "append": append, "iteritems": kind.items})
        _missing(kind, {"ix": property(_LabelsOrPositions)})
    _missing(module, {"np": np})


def _networkx(module: Any) -> None:
    ordered = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")
    _missing(module, {f"Ordered{name}": getattr(module, name) for name in ordered})
    _missing(
        module.Graph,
        {"node": property(lambda graph: graph.nodes), "edge": property(lambda graph: graph.adj)},
    )

    def from_numpy_matrix(matrix: Any, *args: Any, **kwargs: Any) -> Any:
        return module.from_numpy_array(np.asarray(matrix), *args, **kwargs)

    def to_numpy_matrix(graph: Any, *args: Any, **kwargs: Any) -> Any:
        return np.asmatrix(module.to_numpy_array(graph, *args, **kwargs))

    def to_scipy_sparse_matrix(graph: Any, *args: Any, **kwargs: Any) -> Any:
        sparse = module.to_scipy_sparse_array(graph, *args, **kwargs)
        return importlib.import_module("scipy.sparse").csr_matrix(sparse).asformat(sparse.format)

    _missing(
        module,
        {
            "from_numpy_matrix": from_numpy_matrix,
            "to_numpy_matrix": to_numpy_matrix,
            "from_scipy_sparse_matrix": module.from_scipy_sparse_array,
            "to_scipy_sparse_matrix": to_scipy_sparse_matrix,
            "connected_component_subgraphs": lambda graph, copy=True: (
                graph.subgraph(nodes).copy() if copy else graph.subgraph(nodes)
                for nodes in module.connected_components(graph)
            ),
        },
    )


def _matplotlib_figure(module: Any) -> None:
    """`add_subplot("111")`, as of the number."""
    original = module.FigureBase.add_subplot

    @functools.wraps(original)
    def add_subplot(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], str):
            args = (int(args[0]),)
        return original(self, *args, **kwargs)

    module.FigureBase.add_subplot = add_subplot


def _matplotlib_canvas(module: Any) -> None:
    def tostring_rgb(canvas: Any) -> bytes:
        return np.asarray(canvas.buffer_rgba())[..., :3].tobytes()

    _missing(module.FigureCanvasAgg, {"tostring_rgb": tostring_rgb})


def _matplotlib_pyplot(module: Any) -> None:
    _missing(module, {"hold": lambda b=None: None})  # plots are always held


def _yaml(module: Any) -> None:
    """`yaml.load(stream)` without a loader, as PyYAML took it before 6."""
    for name in ("load", "load_all"):
        original = getattr(module, name)

        @functools.wraps(original)
        def load(stream: Any, Loader: Any = module.FullLoader, original: Any = original) -> Any:
            return original(stream, Loader)

        setattr(module, name, load)


def _tensorboard_summary(module: Any) -> None:
    """`tensorboard.summary` had the functions of 1.x, as its `v1` has them."""
    old = importlib.import_module("tensorboard.summary.v1")
    module.__dict__.update({name: value for name, value in vars(old).items() if name[0] != "_"})


#: Module → what gives it back what it has lost, called once it is loaded.
_REFILLS: dict[str, Callable[[Any], None]] = {
    "scipy": _scipy,
    "scipy.integrate": _scipy_integrate,
    "scipy.misc": _scipy_misc,
    "scipy.ndimage": lambda module: _missing(module, {"imread": old_images.imread}),
    "scipy.signal": _scipy_signal,
    "scipy.sparse": _scipy_sparse,
    "h5py": old_hdf5.restore,
    "networkx": _networkx,
    "pandas": _pandas,
    "matplotlib.figure": _matplotlib_figure,
    "matplotlib.backends.backend_agg": _matplotlib_canvas,
    "matplotlib.pyplot": _matplotlib_pyplot,
    "tensorboard.summary": _tensorboard_summary,
    "yaml": _yaml,
}


class _Refilled(importlib.machinery.SourceFileLoader):
    """Loads a module, and gives it names back that it has lost."""

    def exec_module(self, module: types.ModuleType) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of an emptied module itself
            super().exec_module(module)
        _REFILLS[module.__name__](module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules that have lost names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in _REFILLS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            spec.loader = _Refilled(fullname, spec.origin)
        return spec


def restore() -> None:
    """Lets packages be imported with the names of old."""
    sys.meta_path.insert(0, _Finder())
