"""Input pipelines at run time: datasets, iterators over their elements, and resources.

1. A `Dataset` is a value that never changes; `iterate` starts at its beginning, each time.
2. An `Elements` gives one element after the other: a tuple of runtime values, None at the end.
   It is called by one thread at a time. `several` gives more of them at once; both may be called.
3. A failed element raises; the next call goes on behind it.
4. `save` tells the place in the pipeline as plain data (numbers, bytes, values, lists and dicts of
   them); `restore`, on a new iterator over an equal dataset, goes there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple, Protocol

from penstock import errors
from penstock.dtypes import DType
from penstock.ir.step_graph import Node
from penstock.shapes import Shape

INFINITE = -1
UNKNOWN = -2

Element = tuple[Any, ...]


class Step(Protocol):
    """What a pipeline needs of the step that started it: steps for the functions it calls."""

    def successor(self) -> Any: ...


class Recorder(Protocol):
    """Where the statistics of a pipeline go."""

    def add_to_histogram(self, name: str, number: float) -> None: ...

    def set_number(self, name: str, number: float) -> None: ...


class Context:
    """What the iterators of one pipeline share.

    `in_order` says whether parallel computations must give their results in the order of the
    source; `statistics` is where what happens is recorded, None where nobody asked for that;
    `fuses_shuffles` whether a shuffle that is repeated has one buffer for all its epochs; `threads`
    how many may call a function at once, None where there is no such limit.
    """

    __slots__ = ("_step", "fuses_shuffles", "in_order", "statistics", "threads")

    def __init__(self, step: Step):
        self._step = step
        self.in_order = True
        self.statistics: Recorder | None = None
        self.fuses_shuffles = False
        self.threads: int | None = None

    def with_threads(self, most: int) -> Context:
        changed = copy(self)
        changed.threads = most
        return changed

    def without_order(self) -> Context:
        changed = copy(self)
        changed.in_order = False
        return changed

    def recorded_by(self, statistics: Recorder) -> Context:
        changed = copy(self)
        changed.statistics = statistics
        return changed

    def with_fused_shuffles(self) -> Context:
        changed = copy(self)
        changed.fuses_shuffles = True
        return changed

    def call(self, function: Callable[..., Sequence[Any]], values: Sequence[Any]) -> Sequence[Any]:
        """Runs a function of the graph as a step of its own."""
        return function(self._step.successor(), values)


class Elements:
    """An iterator over the elements of a dataset."""

    #: Whether `several` is the quicker way to get elements.
    gives_rows = False

    @property
    def is_fresh(self) -> bool:
        """Whether nobody else has the memory of an element that has been given."""
        return False

    def next(self) -> Element | None:
        raise NotImplementedError

    def several(self, most: int) -> list[Element]:
        """Up to `most` further elements, or rows that stand for them; none only at the end.

        Where one fails that is not the first, those before it are given; the next call raises.
        """
        element = self.next()
        return [] if element is None else [element]

    def expect_batches(self, size: int) -> None:
        """Says, before the first element, that all will be joined to batches of so many."""

    def save(self) -> Any:
        raise NotImplementedError

    def restore(self, state: Any) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Ends threads and closes files; the iterator is not used any more."""


class UnaryElements(Elements):
    """An iterator that reads one other, `source`; its place is the source's."""

    def __init__(self, source: Elements):
        self._source = source

    def save(self) -> Any:
        return self._source.save()

    def restore(self, state: Any) -> None:
        self._source.restore(state)

    def close(self) -> None:
        self._source.close()


class Recipe(NamedTuple):
    """How a dataset was made: `make(*inputs)` by the kernel of `node`."""

    node: Node
    inputs: tuple[Any, ...]
    make: Callable[..., Any]


class Dataset:
    """A pipeline, as the value of a variant tensor."""

    recipe: Recipe | None = None  # of the dataset of a node; others are the parts of such
    is_mapped = False  # whether its elements are those of another, each through a function

    @property
    def is_plain(self) -> bool:
        """Whether nobody can tell when its elements are computed: they may be read ahead."""
        return False

    def iterate(self, context: Context) -> Elements:
        raise NotImplementedError

    def cardinality(self) -> int:
        """The number of elements, INFINITE or UNKNOWN."""
        return UNKNOWN


class PipelineFunction(Protocol):
    """What a dataset needs to know of a function that it calls."""

    @property
    def has_effects(self) -> bool: ...

    @property
    def draws_numbers(self) -> bool: ...

    def random_state(self) -> Any: ...

    def restore_random_state(self, state: Any) -> None: ...


class _WithRandomState(UnaryElements):
    """Elements whose place is told with the state of the random ops in some functions."""

    def __init__(self, elements: Elements, functions: Sequence[PipelineFunction]):
        super().__init__(elements)
        self._functions = functions
        self.gives_rows = elements.gives_rows
        self.next = elements.next  # type: ignore[method-assign]
        self.several = elements.several  # type: ignore[method-assign]

    def expect_batches(self, size: int) -> None:
        self._source.expect_batches(size)
        self.gives_rows = self._source.gives_rows

    def save(self) -> Any:
        place = self._source.save()  # first: it may wait for calls that are under way
        return [[function.random_state() for function in self._functions], place]

    def restore(self, state: Any) -> None:
        states, place = state
        for function, own in zip(self._functions, states, strict=True):
            function.restore_random_state(own)
        self._source.restore(place)


class DerivedDataset(Dataset):
    """A dataset made from another one by a kind of iterator.

    `make(elements of the source, context)` is called for each iteration; `functions` are what the
    iterators call.
    """

    def __init__(
        self,
        source: Dataset,
        make: Callable[[Elements, Context], Elements],
        cardinality: Callable[[int], int] | None = None,
        functions: Sequence[PipelineFunction] = (),
    ):
        self._source = source
        self._make = make
        self._cardinality = cardinality
        self._functions = functions

    @property
    def is_plain(self) -> bool:
        return self._source.is_plain and not any(each.has_effects for each in self._functions)

    def iterate(self, context: Context) -> Elements:
        elements = self._make(self._source.iterate(context), context)
        drawing = [function for function in self._functions if function.draws_numbers]
        return _WithRandomState(elements, drawing) if drawing else elements

    def cardinality(self) -> int:
        if self._cardinality is None:
            return UNKNOWN
        return self._cardinality(self._source.cardinality())


def same_number(cardinality: int) -> int:
    """The cardinality of a dataset with as many elements as its source."""
    return cardinality


class IteratorResource:
    """What an iterator op's handle stands for: a place in a pipeline, once it is initialized."""

    def __init__(self, name: str, types: Sequence[DType], shapes: Sequence[Shape]):
        self.name = name
        self.container = ""
        self.types = list(types)
        self.shapes = list(shapes)
        self._lock = threading.Lock()
        self._elements: Elements | None = None
        self._dataset: Dataset | None = None
        self._starting = threading.Lock()

    @property
    def is_initialized(self) -> bool:
        return self._elements is not None

    @property
    def dataset(self) -> Dataset | None:
        """The pipeline, once the iterator is initialized."""
        return self._dataset

    def start(self, dataset: Dataset, step: Step) -> None:
        """Begins at the beginning of a dataset."""
        elements = dataset.iterate(Context(step))
        with self._lock:
            before, self._elements, self._dataset = self._elements, elements, dataset
        if before is not None:
            before.close()

    def start_once(self, make: Callable[[], Dataset], step: Step) -> None:
        """Begins, if nothing has begun yet, with the dataset that `make` gives."""
        if self._elements is None:
            with self._starting:
                if self._elements is None:
                    self.start(make(), step)

    def get_next(self) -> Element | None:
        """The next element, None at the end of the sequence."""
        return self.get_next_and_freshness()[0]

    def get_next_and_freshness(self) -> tuple[Element | None, bool]:
        """The next element, and whether nobody else has its memory."""
        with self._lock:
            if self._elements is None:
                raise self._not_initialized("GetNext()")
            return self._elements.next(), self._elements.is_fresh

    def save(self) -> Any:
        with self._lock:
            if self._elements is None:
                raise self._not_initialized("Save()")
            return self._elements.save()

    def restore(self, state: Any, step: Step) -> None:
        """Goes to a saved place of the same pipeline."""
        with self._lock:
            if self._dataset is None:
                raise self._not_initialized("Restore()")
            elements = self._dataset.iterate(Context(step))
            try:
                elements.restore(state)
            except BaseException:
                elements.close()
                raise
            before, self._elements = self._elements, elements
        if before is not None:
            before.close()

    def close(self) -> None:
        """Stops the pipeline: a thread that waits for an element gets CancelledError."""
        elements = self._elements
        if elements is not None:
            elements.close()

    def _not_initialized(self, what: str) -> errors.FailedPreconditionError:
        return errors.FailedPreconditionError(
            None,
            None,
            f"{what} failed because the iterator has not been initialized. Ensure that you have "
            "run the initializer operation for this iterator before getting the next element.",
        )
