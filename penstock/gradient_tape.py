"""`tf.GradientTape`: gradients through the operations that were made in its block.

In a graph they are found among its nodes afterwards; in eager mode they are told to the tape as
they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from penstock import jacobians, nest
from penstock.autodiff.gradients import (
    UnconnectedGradients,
    gradients,
    is_trainable,
)
from penstock.autodiff.tape import Tape
from penstock.ir.convert import convert_to_tensor, to_tensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.filling import ones_like, zeros
from penstock.ops.joining import concat
from penstock.ops.shaping import shape
from penstock.ops.variables import Variable

__all__ = ["GradientTape"]


class GradientTape:
    """Differentiates through the operations of a `with` block, and through no others.

    1. An operation is on the tape if it was made while the tape recorded, and if one of its inputs
       is watched, or came from an operation on the tape.
    2. Trainable variables are watched unless told otherwise; tensors that were `watch`ed are.
    3. A tape gives gradients once, unless it is persistent.

    >>> with tf.GradientTape() as tape:
    ...     loss = tf.reduce_sum(tf.square(w))
    >>> grad = tape.gradient(loss, w)

    Args:
      persistent: whether `gradient` can be called more than once.
      watch_accessed_variables: whether trainable variables are watched.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True):
        self._persistent = persistent
        self._watches_variables = watch_accessed_variables
        self._tape: _GraphTape | _EagerTape | None = None
        self._eager_tape: _EagerTape | None = None  # while `_tape` is one in a function
        self._watched_variables: tuple[Any, ...] = ()
        self._recording = False

    def __enter__(self) -> GradientTape:
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._recording:
            self._stop()

    def _start(self) -> None:
        if self._recording:
            raise ValueError("Tape is already recording.")
        if self._tape is None:
            make = _EagerTape if executing_eagerly() else _GraphTape
            self._tape = make(watches_variables=self._watches_variables)
        self._turn_to_mode()
        self._tape.start()
        self._recording = True

    def _turn_to_mode(self) -> None:
        """Lets a tape of eager mode that is entered in a function record the function's nodes."""
        if self._recording:
            return
        if executing_eagerly():
            self._tape, self._eager_tape = self._eager_tape or self._tape, None
        elif isinstance(self._tape, _EagerTape):
            self._eager_tape = self._tape
            self._tape = self._eager_tape.in_function()
        elif self._eager_tape is not None and not self._is_at_home():
            self._tape = self._eager_tape.in_function()

    def _is_at_home(self) -> bool:
        return isinstance(self._tape, _GraphTape) and self._tape.home is get_default_graph()

    def _stop(self) -> None:
        if not self._recording or self._tape is None:
            raise ValueError("Tape is not recording.")
        self._tape.stop()
        self._recording = False

    def watch(self, tensor: Any) -> None:
        """Watches tensors or variables, in a structure."""
        for each in nest.flatten(tensor):
            if not isinstance(each, (Tensor, Variable)):
                raise ValueError(f"Passed in object of type {type(each)}, not tf.Tensor")
            self._turn_to_mode()
            assert self._tape is not None
            self._tape.watch(each)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A block whose operations are not on the tape."""
        if self._tape is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Forgets all that is on the tape, and all that is watched."""
        self._stop()
        self._tape = self._eager_tape = None
        self._start()

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that operations on the tape read."""
        if self._tape is None:
            return self._watched_variables
        return self._tape.watched_variables()

    def _used(self) -> None:
        """Drops the record of a tape that gives gradients once."""
        if not self._persistent and self._tape is not None:
            self._watched_variables = self._tape.watched_variables()
            self._tape = self._eager_tape = None

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradients of targets by sources, in the structure of the sources.

        Args:
          target: a structure of tensors to differentiate.
          sources: a structure of tensors and variables, by which to differentiate.
          output_gradients: weights of the targets; ones if None.
          unconnected_gradients: what to give for a source that no target depends on.
        """
        if self._tape is None:
            raise RuntimeError(
                "GradientTape.gradient can only be called once on non-persistent tapes."
            )
        if self._recording and not self._persistent:
            self._stop()
        self._turn_to_mode()
        targets = [self._recorded(each) for each in nest.flatten(target)]
        weights = None if output_gradients is None else nest.flatten(output_gradients)
        if isinstance(self._tape, _GraphTape):
            self._tape.check_plain(targets)
        found = self._gradients(targets, nest.flatten(sources), weights, unconnected_gradients)
        self._used()
        return nest.pack_sequence_as(sources, found)

    def _recorded(self, target: Any) -> Any:
        if isinstance(target, Tensor):
            return target
        if self._recording:
            return convert_to_tensor(target)
        with self:
            return convert_to_tensor(target)

    def _gradients(
        self,
        targets: list[Any],
        sources: list[Any],
        weights: list[Any] | None,
        unconnected: Any,
    ) -> list[Any]:
        assert self._tape is not None
        found = self._tape.gradients(targets, sources, weights)
        missing = [i for i, each in enumerate(found) if each is None]
        if _checked(unconnected) is UnconnectedGradients.ZERO:
            for i in missing:
                x = convert_to_tensor(sources[i])
                found[i] = zeros(shape(x), x.dtype.base_dtype)
        return found

    def _continued(self, tensor: Any, xs: Sequence[Any], unconnected: Any) -> list[Any]:
        """Gradients of a tensor made of a target after the block."""
        assert self._tape is not None
        return self._gradients([tensor], list(xs), None, unconnected)

    def jacobian(
        self,
        target: Tensor,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of each element of the target by each element of the sources."""
        found = self._by_element(
            jacobians.jacobian,
            target,
            sources,
            unconnected_gradients,
            parallel_iterations,
            experimental_use_pfor,
        )
        return found

    def batch_jacobian(
        self,
        target: Tensor,
        source: Tensor,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The Jacobian of each row of the target by the same row of the source."""
        found = self._by_element(
            jacobians.batch_jacobian,
            target,
            source,
            unconnected_gradients,
            parallel_iterations,
            experimental_use_pfor,
        )
        if found is None:
            return zeros(concat([shape(target), shape(source)[1:]], 0))
        return found

    def _by_element(
        self,
        compute: Any,
        target: Tensor,
        sources: Any,
        unconnected: Any,
        parallel_iterations: int | None,
        use_pfor: bool,
    ) -> Any:
        if self._tape is None:
            raise RuntimeError(
                "GradientTape.jacobian can only be called once on non-persistent tapes."
            )
        tape = self._tape
        if not self._recording:
            tape.start()
        try:
            found = compute(
                target,
                sources,
                use_pfor,
                parallel_iterations,
                differentiate=lambda y, xs: self._continued(y, xs, unconnected),
            )
        finally:
            if not self._recording:
                tape.stop()
        self._used()
        return found


#: Not Enter: what a loop's body uses from outside is a tensor like others there.
_PRIMITIVES = frozenset(["Switch", "Merge", "Exit", "NextIteration"])


def _checked(unconnected_gradients: Any) -> UnconnectedGradients:
    try:
        return UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(
            f"Unknown value for unconnected_gradients: {unconnected_gradients!r}"
        ) from None


class _GraphTape:
    """Which nodes of a graph were made while a tape recorded."""

    def __init__(self, *, watches_variables: bool) -> None:
        self._watches_variables = watches_variables
        self._watched: list[Any] = []
        self._finished: list[list[Operation]] = []
        self._open: tuple[Graph, int] | None = None
        self._home: Graph = get_default_graph()

    @property
    def home(self) -> Graph:
        """The graph whose nodes are recorded."""
        return self._home

    def start(self) -> None:
        graph = self._home = get_default_graph()
        self._open = graph, graph.version

    def stop(self) -> None:
        self._finished.append(self._current())
        self._open = None

    def watch(self, tensor_or_variable: Any) -> None:
        self._watched.append(tensor_or_variable)

    def watched_variables(self) -> tuple[Any, ...]:
        used = {tensor for op in self._operations() for tensor in op.inputs}
        return tuple(
            variable
            for variable in self._variables(get_default_graph())
            if (root := self._root(variable)) in used or any(root in t.op.inputs for t in used)
        )

    def gradients(
        self, targets: list[Any], sources: list[Any], weights: list[Any] | None
    ) -> list[Any]:
        """One gradient for each source; None where it has none."""
        operations = [*self._operations(), *self._in_bodies_around(targets)]
        roots = [self._root(each) for each in [*self._watched, *self._variables(self._home)]]
        on_tape = _reached(roots, operations)
        wanted = [i for i, each in enumerate(targets) if each in on_tape]
        known = [i for i, each in enumerate(sources) if self._root(each) in on_tape]
        found: list[Any] = [None] * len(sources)
        if wanted and known:
            inside = _constants_of_bodies([targets[i] for i in wanted], operations)
            given = [self._root(sources[i]) for i in known]
            results = gradients(
                [targets[i] for i in wanted],
                [inside.get(source, source) for source in given],
                None if weights is None else [weights[i] for i in wanted],
                stop_gradients=_ends(roots, operations),
            )
            for i, result in zip(known, results, strict=True):
                found[i] = result
        return found

    def check_plain(self, targets: list[Any]) -> None:
        """Refuses conditionals and loops made of primitives, as TensorFlow's tapes do."""
        operations = self._operations()
        if not any(op.type in _PRIMITIVES for op in operations):
            return
        on_tape = _reached([self._root(each) for each in self._watched], operations)
        pending = [each._op for each in targets if each in on_tape]
        seen: set[Operation] = set()
        while pending:
            op = pending.pop()
            if op in seen:
                continue
            seen.add(op)
            if op.type in _PRIMITIVES:
                raise NotImplementedError(
                    "tf.GradientTape.gradients() does not support graph control flow operations "
                    "like tf.cond or tf.while at this time. Use tf.gradients instead."
                )
            pending += [tensor._op for tensor in op._inputs if tensor in on_tape]

    def _root(self, source: Any) -> Any:
        """The tensor of the tape's graph that stands for a source."""
        root = _root(source)
        if not isinstance(self._home, FunctionGraph):
            return root
        if root._op.graph.is_eager:
            return self._home.capture(root)
        # The argument that stands for it may have been made before the tape was started.
        return self._home.captured.get(root, root)

    def _in_bodies_around(self, targets: list[Any]) -> list[Operation]:
        """The nodes of bodies, inside of the tape's graph, that targets are in."""
        found: list[Operation] = []
        for graph in dict.fromkeys(target.graph for target in targets):
            around, inside = graph, []
            while isinstance(around, FunctionGraph) and around is not self._home:
                inside.append(around)
                around = around.outer_graph
            if around is self._home:
                found += [op for body in reversed(inside) for op in body.get_operations()]
        return found

    def _variables(self, graph: Graph) -> list[Any]:
        found = [each for each in self._watched if isinstance(each, Variable)]
        if self._watches_variables:
            keys = graph.get_all_collection_keys()
            named = {id(v): v for key in keys for v in graph.get_collection_ref(key)}
            if isinstance(graph, FunctionGraph):
                named.update(graph.read_variables)
            trained = [v for v in named.values() if isinstance(v, Variable) and v.trainable]
            found += [v._as_watched() if hasattr(v, "_as_watched") else v for v in trained]
        return list({id(variable): variable for variable in found}.values())

    def _current(self) -> list[Operation]:
        if self._open is None:
            return []
        graph, start = self._open
        return graph.get_operations()[start:]

    def _operations(self) -> list[Operation]:
        return [op for part in [*self._finished, self._current()] for op in part]


def _reached(roots: Sequence[Tensor], operations: Sequence[Operation]) -> set[Tensor]:
    """The roots, and the tensors that recorded operations made of them."""
    found = {*roots}
    for root in roots:  # what a variable by reference is read by was made together with it
        found.update(out for op in _readers(root) for out in op.outputs)
    grows = True
    while grows:  # a loop's nodes are not in the order of their edges
        before = len(found)
        for op in operations:
            if any(tensor in found for tensor in op.inputs) or _outside(op) in found:
                found.update(op.outputs)
        grows = len(found) > before
    return found


def _constants_of_bodies(
    targets: Sequence[Tensor], operations: Sequence[Operation]
) -> dict[Tensor, Tensor]:
    """What tensors from outside are called in the bodies of loops that targets are in."""
    contexts = {target.op._get_control_flow_context() for target in targets} - {None}
    return {
        op.inputs[0]: op.outputs[0]
        for op in operations
        if op.type == "Enter"
        and op.get_attr("is_constant")
        and op._get_control_flow_context() in contexts
    }


def _outside(op: Operation) -> Tensor | None:
    """The tensor that a body's node stands for."""
    tensor: Tensor | None = op.__dict__.get("_stands_for")
    return tensor


def _ends(roots: Sequence[Tensor], operations: Sequence[Operation]) -> list[Tensor]:
    """The tensors that recorded operations use and others made: gradients stop there."""
    recorded = {*operations}
    recorded.update(op for root in roots for op in _readers(root))
    used = {tensor: None for op in operations for tensor in op.inputs}
    return [tensor for tensor in used if tensor.op not in recorded]


class _EagerTape:
    """What is told to a tape in eager mode."""

    def __init__(self, *, watches_variables: bool) -> None:
        self._tape = Tape(watches_variables=watches_variables)
        self._watches_variables = watches_variables
        self._watched: list[Any] = []

    def in_function(self) -> _GraphTape:
        """A tape of the default graph that watches what this one does."""
        tape = _GraphTape(watches_variables=self._watches_variables)
        for each in self._watched:
            tape.watch(each)
        return tape

    def start(self) -> None:
        self._tape.start()

    def stop(self) -> None:
        self._tape.stop()

    def watch(self, tensor_or_variable: Any) -> None:
        self._watched.append(tensor_or_variable)
        if isinstance(tensor_or_variable, Variable):
            self._tape.watch_variable(tensor_or_variable)
        else:
            self._tape.watch(tensor_or_variable)

    def watched_variables(self) -> tuple[Any, ...]:
        # In the order in which they were made, whichever was read first.
        return tuple(sorted(self._tape.variables.values(), key=lambda each: each.handle._id))

    def gradients(
        self, targets: list[Any], sources: list[Any], weights: list[Any] | None
    ) -> list[Any]:
        """One gradient for each source; None where it has none."""
        given = [None] * len(targets) if weights is None else weights
        pairs = [
            (target, weight)
            for target, weight in zip(targets, given, strict=True)
            if is_trainable(target)
        ]
        slopes = [
            ones_like(target) if weight is None else convert_to_tensor(weight)
            for target, weight in pairs
        ]
        roots = [_root(each) for each in sources]
        return self._tape.gradient([target for target, _ in pairs], roots, slopes)


def _root(source: Any) -> Any:
    """The tensor that stands for a source: of a variable its handle, or its reference."""
    if isinstance(source, Variable):
        handle = getattr(source, "handle", None)
        source = handle if isinstance(handle, Tensor) else to_tensor(source, as_ref=True)
    return source


def _readers(root: Tensor) -> list[Operation]:
    """The nodes that only pass a root on, into a loop or by its value, whenever they were made."""
    if root._op.graph.is_eager:
        return []
    kinds = ("Enter", "Identity") if root.dtype.is_ref_dtype else ("Enter",)
    found = [op for op in root.consumers() if op.type in kinds]
    return [*found, *(reader for op in found for reader in _readers(op.outputs[0]))]
