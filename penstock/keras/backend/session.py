"""The session of Keras, the learning phase, and functions of graphs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import penstock as tf
from penstock.eager.context import eager_mode
from penstock.ir.function import FunctionGraph
from penstock.layers.object_names import counts_of_default_graph, forget_names, unique_object_name
from penstock.ops.tensor_values import is_tensor

__all__ = [
    "Function",
    "batch_get_value",
    "batch_set_value",
    "clear_session",
    "eval",
    "function",
    "get_graph",
    "get_session",
    "get_uid",
    "get_value",
    "global_learning_phase_is_set",
    "learning_phase",
    "learning_phase_scope",
    "manual_variable_initialization",
    "name_scope",
    "reset_uids",
    "set_learning_phase",
    "set_session",
    "set_value",
    "symbolic_learning_phase",
    "track_variable",
    "unique_object_name",
]


class _State:
    """What Keras keeps per process and per graph."""

    def __init__(self) -> None:
        self.session: Any = None
        self.initializes = True
        self.phases: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.placeholders: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.variables: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()
        self.layer_graphs: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.setters: WeakKeyDictionary[Any, tuple[Any, Any]] = WeakKeyDictionary()


_state = _State()
_SESSION = threading.local()  # its `session` is that of the thread, which may be a worker's own

name_scope = tf.name_scope


def get_graph() -> Any:
    """The graph that layers are built in: in eager mode it is one of their own."""
    graph: Any = tf.get_default_graph()
    if not graph.is_eager:
        return graph
    if graph not in _state.layer_graphs:
        from penstock.ops.concrete_functions import FuncGraph

        made: Any = FuncGraph("keras_graph")
        made.takes_eager_ops = True
        made.orders_effects = False
        _state.layer_graphs[graph] = made
    return _state.layer_graphs[graph]


# Names ------------------------------------------------------------------------------------------


def get_uid(prefix: str = "") -> int:
    """The next number for a name in the current graph, from 1."""
    counts = counts_of_default_graph()
    counts["", prefix] += 1
    return counts["", prefix]


def reset_uids() -> None:
    """Numbers names from the start again."""
    forget_names()


def clear_session() -> None:
    """Drops the graph with all models in it, and the session."""
    tf.reset_default_graph()
    reset_uids()
    set_session(None)
    _state.phases.clear()
    _state.placeholders.clear()
    _state.variables.clear()
    _state.layer_graphs.clear()


# The learning phase -----------------------------------------------------------------------------


def _phase_graph() -> Any:
    """The graph whose phase counts here: that around the bodies of functions."""
    graph = get_graph()
    while isinstance(graph, FunctionGraph) and not getattr(graph, "takes_eager_ops", False):
        if graph.outer_graph is None:
            return graph
        with graph.outer_graph.as_default():
            graph = get_graph()
    return graph


def symbolic_learning_phase() -> Any:
    """The tensor that says whether a run is one of training: False unless it is fed."""
    graph = _phase_graph()
    if graph not in _state.placeholders:
        # Steps of loops and branches feed it too: it must not lie in one of their contexts.
        outermost = tf.init_scope()
        if getattr(graph, "takes_eager_ops", False):
            outermost = graph.control_dependencies(None)
        with graph.as_default(), outermost, tf.name_scope(""):
            _state.placeholders[graph] = tf.placeholder_with_default(
                False, shape=(), name="keras_learning_phase"
            )
    return _state.placeholders[graph]


def learning_phase() -> Any:
    """1 or 0 if it was set for this graph, else a tensor that `fit` and `predict` feed.

    In eager mode, where nothing is fed, it is 0 unless it was set.
    """
    graph = _phase_graph()
    if graph in _state.phases:
        return _state.phases[graph]
    is_in_eager_function = graph is not get_graph() and getattr(graph, "takes_eager_ops", False)
    if tf.executing_eagerly() or is_in_eager_function:
        return 0
    return symbolic_learning_phase()


def global_learning_phase_is_set() -> bool:
    """Whether `set_learning_phase` was called for this graph."""
    return _phase_graph() in _state.phases


def set_learning_phase(value: Any) -> None:
    """Builds layers for training (1) or for use (0) alone, from now on in this graph."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    _state.phases[get_graph()] = value


@contextmanager
def learning_phase_scope(value: Any) -> Iterator[None]:
    """Sets the learning phase for a `with` block."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    graph = get_graph()
    outer = _state.phases.get(graph)
    _state.phases[graph] = value
    try:
        yield
    finally:
        if outer is None:
            del _state.phases[graph]
        else:
            _state.phases[graph] = outer


# The session ------------------------------------------------------------------------------------


def get_session(op_input_list: Any = ()) -> Any:
    """The default session, else Keras' own; variables that Keras made are initialized in it.

    Args:
      op_input_list: a tensor or more, whose graph the session is for.
    """
    session = tf.get_default_session()
    if session is None or _is_of_layers_elsewhere(session):
        graph = next(
            (value.graph for value in tf.nest.flatten(op_input_list) if hasattr(value, "graph")),
            get_graph(),
        )
        session = getattr(_SESSION, "session", _state.session)
        if session is None or session.graph is not graph:
            session = _new_session(graph)
        set_session(session)
    _initialize_variables(session)
    return session


def _is_of_layers_elsewhere(session: Any) -> bool:
    """Whether this is eager mode, whose layers have a graph of their own, not the session's."""
    graph = get_graph()
    return getattr(graph, "takes_eager_ops", False) and session.graph is not graph


def _new_session(graph: Any) -> Any:
    if not getattr(graph, "takes_eager_ops", False):
        return _session_of_worker(graph) or tf.Session(graph=graph)
    from penstock.eager.body_session import BodySession

    return BodySession(graph)


def _session_of_worker(graph: Any) -> Any:
    """The session for variables whose strategy has replicas in other tasks, too."""
    made_by = (getattr(v, "_distribute_strategy", None) for v in _state.variables.get(graph, ()))
    strategy = next((each for each in made_by if each is not None), None)
    if strategy is None:
        return None
    from penstock.distribute import worker_session

    return worker_session.session_of_task(strategy, graph)


def set_session(session: Any) -> None:
    """Makes a session that of Keras: of this thread, and of those that have none of their own."""
    _SESSION.session = _state.session = session


def manual_variable_initialization(value: bool) -> None:
    """Leaves the initialization of variables to the program."""
    _state.initializes = not value


def track_variable(variable: Any) -> None:
    """Lets `get_session` initialize a variable."""
    graph = getattr(variable, "graph", None)
    if graph is not None:
        _state.variables.setdefault(graph, []).append(variable)


def _initialize_variables(session: Any) -> None:
    waiting = _state.variables.get(session.graph)
    if not waiting:
        return
    if not _state.initializes:  # what tasks share can't wait for one of their programs
        waiting = [variable for variable in waiting if _is_shared_by_tasks(variable)]
    left = [v for v in _state.variables[session.graph] if not any(v is each for each in waiting)]
    _state.variables[session.graph] = left
    missing = _uninitialized(session, waiting)
    own = [variable for variable in missing if not _is_set_by_another_task(variable)]
    if own:
        with session.graph.as_default(), tf.init_scope():
            session.run(tf.variables_initializer(own))
    while others := _uninitialized(session, [v for v in missing if _is_set_by_another_task(v)]):
        missing = others
        time.sleep(0.1)


def _uninitialized(session: Any, variables: list[Any]) -> list[Any]:
    if not variables:
        return []
    with session.graph.as_default(), tf.init_scope():
        is_set = session.run([tf.is_variable_initialized(variable) for variable in variables])
    return [v for v, known in zip(variables, is_set, strict=True) if not known]


def _is_shared_by_tasks(variable: Any) -> bool:
    strategy = getattr(variable, "_distribute_strategy", None)
    if strategy is None:
        return False
    from penstock.distribute import worker_session

    return worker_session.works_with_others(strategy)


def _is_set_by_another_task(variable: Any) -> bool:
    """Whether the first worker initializes it, not this one."""
    strategy = getattr(variable, "_distribute_strategy", None)
    return strategy is not None and not strategy.extended.experimental_should_init


# Values -----------------------------------------------------------------------------------------


def eval(x: Any) -> Any:
    """The value of a tensor or variable, as an array."""
    return get_value(_dense(x))


def get_value(x: Any) -> Any:
    """The value of a variable or tensor, as an array; other things stay as they are."""
    if not isinstance(x, (tf.Tensor, tf.Variable)):
        return x
    if _has_value(x):
        return _value_of(x)
    return get_session((x,)).run(x)


def batch_get_value(tensors: Any) -> list[Any]:
    """The values of several variables or tensors."""
    tensors = list(tensors)
    if any(_has_value(each) for each in tensors):
        return [get_value(each) for each in tensors]
    return list(get_session(tensors).run(tensors)) if tensors else []


def set_value(x: Any, value: Any) -> None:
    """Sets a variable from an array."""
    batch_set_value([(x, value)])


def batch_set_value(tuples: Any) -> None:
    """Sets several variables from (variable, array) pairs, in one step."""
    assigns, feeds = [], {}
    for variable, value in tuples:
        array = np.asarray(value, dtype=variable.dtype.base_dtype.as_numpy_dtype)
        if _has_value(variable):
            with eager_mode():
                variable.assign(array)
            continue
        if variable not in _state.setters:
            with variable.graph.as_default(), tf.init_scope(), tf.name_scope(""):
                fed = tf.placeholder(variable.dtype.base_dtype, shape=[None] * array.ndim)
                _state.setters[variable] = (fed, tf.group(variable.assign(fed)))
        fed, assign = _state.setters[variable]
        assigns.append(assign)
        feeds[fed] = array
    if assigns:
        get_session(assigns).run(assigns, feed_dict=feeds)


def _has_value(x: Any) -> bool:
    """Whether a tensor or variable is one of eager mode."""
    if isinstance(x, tf.Variable):  # that of a strategy has no one handle between its replicas
        return bool(getattr(x, "_is_eager", False))
    return isinstance(x, tf.Tensor) and x._op.graph.is_eager


def _value_of(x: Any) -> Any:
    with eager_mode():  # also where a graph has been entered since it was made
        return x.numpy()


def _dense(x: Any) -> Any:
    return tf.sparse_tensor_to_dense(x) if isinstance(x, tf.SparseTensor) else x


# Functions --------------------------------------------------------------------------------------


class Function:
    """Runs a part of the graph: values of `inputs` in, values of `outputs` out.

    Args:
      inputs: tensors to feed.
      outputs: (structure of) tensors to compute.
      updates: operations, or (variable, new value) pairs, to run as well.
      feed_dict: further tensors and what they are always fed with.
      fetches: further things to run, whose values aren't returned.
    """

    def __init__(
        self,
        inputs: Any,
        outputs: Any,
        updates: Any = None,
        name: str | None = None,
        feed_dict: dict[Any, Any] | None = None,
        fetches: Any = None,
        **session_kwargs: Any,
    ):
        for key in session_kwargs:
            if key not in ("options", "run_metadata"):
                raise ValueError(
                    f"Invalid argument {key!r} passed to K.function: it takes sessions'"
                )
        if not isinstance(updates or [], (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self.name = name
        self.inputs = tf.nest.flatten(inputs)
        self._structure = outputs
        with get_graph().as_default():
            self.outputs = [_tensor_of(output) for output in tf.nest.flatten(outputs)]
        with get_graph().as_default(), tf.control_dependencies(self.outputs[:1]):
            self.updates_op = tf.group(*[_update_of(update) for update in updates or []])
        self.feed_dict = feed_dict or {}
        self.fetches = tf.nest.flatten(fetches or [])
        self.session_kwargs = session_kwargs
        self.fetch_callbacks: dict[Any, Callable[[Any], None]] = {}

    def __call__(self, inputs: Any) -> Any:
        is_one_each = isinstance(inputs, (list, tuple)) and len(inputs) == len(self.inputs)
        values = inputs if is_one_each else tf.nest.flatten(inputs)
        given = [
            (tensor, value)
            for tensor, value in zip(self.inputs, values, strict=True)
            if value is not None
        ]
        session = get_session(self.inputs)
        symbolic = {tensor: value for tensor, value in given if is_tensor(value)}
        feeds = {**self.feed_dict, **(session.run(symbolic) if symbolic else {})}
        for tensor, value in given:
            if tensor not in symbolic:
                feeds[tensor] = _fed_value(tensor, value)
        wanted = [*self.outputs, self.updates_op, *self.fetches]
        values = session.run(wanted, feed_dict=feeds, **self.session_kwargs)
        for fetch, value in zip(self.fetches, values[len(self.outputs) + 1 :], strict=True):
            if fetch in self.fetch_callbacks:
                self.fetch_callbacks[fetch](value)
        return tf.nest.pack_sequence_as(self._structure, values[: len(self.outputs)])


def function(
    inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **kwargs: Any
) -> Function:
    """A function that runs a part of the graph."""
    return Function(inputs, outputs, updates=updates, name=name, **kwargs)


def _tensor_of(value: Any) -> Any:
    return tf.identity(value) if isinstance(value, tf.Variable) else value


def _update_of(update: Any) -> Any:
    if isinstance(update, tuple):
        variable, new_value = update
        return tf.assign(variable, new_value)
    return update


def _fed_value(tensor: Any, value: Any) -> Any:
    if isinstance(tensor, tf.SparseTensor) and hasattr(value, "tocoo"):
        matrix = value.tocoo()
        indices = np.stack([matrix.row, matrix.col], axis=1).astype(np.int64)
        return tf.SparseTensorValue(indices, matrix.data, matrix.shape)
    if isinstance(value, tf.SparseTensorValue):
        return value
    if hasattr(value, "value") and not isinstance(tensor, tf.Tensor):
        return value.value  # a sparse or ragged value with rows, as data is handed on
    from penstock.client.feeds import unchecked

    if hasattr(value, "toarray"):  # a sparse matrix for a dense placeholder
        value = value.toarray()
    return unchecked(tensor, np.asarray(value, dtype=tensor.dtype.base_dtype.as_numpy_dtype))
