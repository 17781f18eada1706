"""Datasets whose elements functions compute, choose, or start."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait

from penstock import errors
from penstock.kernels.datasets.batch_memory import BatchMemory
from penstock.kernels.datasets.batching import WholeBatches, batch_count, positive_batch_size
from penstock.kernels.datasets.failures import Failure, restored_element, saved_element
from penstock.kernels.datasets.parsing_ahead import parsed_ahead, parsed_rows
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.datasets.rows import RowElements, as_element
from penstock.kernels.datasets.stacking import batch_of
from penstock.kernels.datasets.statistics import statistics_name
from penstock.kernels.kernel_threads import share_processors
from penstock.kernels.offered_memory import offer, offered_result
from penstock.kernels.sparse_rows import brackets, invalid
from penstock.platform.processors import processors
from penstock.state.datasets import UNKNOWN, DerivedDataset, Elements, UnaryElements, same_number


def function_of(node, env, key="f"):
    """The function that an attr of a node names, to be called with runtime values."""
    return env.function(node, node.attrs[key].name, node.attrs[key].attrs)


def out_of_range(error, preserve):
    """Where a function says that the range is over: the end, or a failure of this element."""
    if preserve:
        raise invalid(f"Function invocation produced OutOfRangeError: {error.message}") from error


class _MapDataset(DerivedDataset):
    """A dataset with a function of each element."""

    is_mapped = True


class Mapped(UnaryElements):
    """A function of each element and of captured values."""

    def __init__(self, source, function, captured, context, preserve):
        super().__init__(source)
        self._function, self._captured, self._call = function, captured, context.call
        self._preserve = preserve

    def next(self):
        element = self._source.next()
        if element is None:
            return None
        try:
            return self._call(self._function, element + self._captured)
        except errors.OutOfRangeError as error:
            out_of_range(error, self._preserve)
            return None


def _is_free(source, function):
    """Whether nobody can tell when a function is called for the elements of a source."""
    return source.is_plain and not function.has_effects


@dataset_kernel("MapDataset", "ExperimentalMapDataset")
def _(node, env):
    function, preserve = function_of(node, env), node.attrs["preserve_cardinality"]

    def run(source, *captured):
        own = function.renewed()
        if (rows := parsed_rows(source, own, captured)) is not None:
            return _MapDataset(source, rows, same_number, [own])
        ahead, called = parsed_ahead(source, own, captured)
        threads, free = thread_count(-1), _is_free(source, own)

        def make(elements, context):
            if threads == 1 or not free:
                return Mapped(elements, called, captured, context, preserve)
            return ParallelMapped(
                elements,
                called,
                captured,
                context,
                threads,
                preserve,
                free=True,
                asked=False,
                offered=offered_result(own.body),
            )

        return _MapDataset(ahead, make, same_number, [called])

    return run


class _Ready:
    """A result that was there already: restored, or the failure of the source."""

    def __init__(self, element=None, error=None):
        self._element, self._error = element, error

    def done(self):
        return True

    def result(self):
        if self._error is not None:
            raise self._error
        return self._element

    @property
    def is_failure(self):
        return self._error is not None


_SHORT_CALL = 0.2e-3  # seconds
_LONG_TASK = 3e-3  # handing it to a thread costs next to nothing
_MOST_PER_TASK = 8
_CALLS_PER_MEASURED = 8  # after the first ones


class _Usefulness:
    """Whether calls of a function are worth threads, by the times of the first ones.

    Threads help where calls wait, or are long in kernels that release the interpreter. Short calls
    that keep it busy are faster one after the other. Before the times are known, it is `expected`.
    """

    def __init__(self, expected):
        self._expected = expected
        self._calls_to_measure = 64 if expected else 8
        self._calls = -2  # that were measured; the first ones compile the function
        self._wall = self._busy = 0.0
        self._unmeasured = 0

    def measured(self, call, function, values):
        """Calls the function; once much is known, only some calls are measured."""
        if self._calls >= self._calls_to_measure:
            self._unmeasured += 1
            if self._unmeasured % _CALLS_PER_MEASURED:
                return call(function, values)
        wall, busy = time.perf_counter(), time.thread_time()
        try:
            return call(function, values)
        finally:
            if self._calls >= 0:
                self._wall += time.perf_counter() - wall
                self._busy += time.thread_time() - busy
            self._calls += 1

    def is_low(self):
        if self._calls < self._calls_to_measure:
            return not self._expected
        return self._busy / self._calls < _SHORT_CALL and self._busy > 0.3 * self._wall

    def calls_per_task(self):
        """How many calls are worth the cost of a task."""
        if self._calls < self._calls_to_measure:
            return 1
        # Calls that compute are as long as they compute, even if others use the machine.
        seconds = self._busy if self._busy > 0.1 * self._wall else self._wall
        most = _LONG_TASK * self._calls / seconds if seconds else _MOST_PER_TASK
        return max(1, min(_MOST_PER_TASK, int(most)))


class ParallelMapped(UnaryElements):
    """A function of up to `threads` elements at once; results come in the order of the source.

    A program that did not ask for threads (`asked`) gets them where calls turn out to be long. If
    nobody can tell when calls happen (`free`), there are more results ahead, so that threads do
    not wait for the reader, those of a whole batch where there are batches, and a task is several
    calls if these are short. Calls are offered memory for the result number `offered`, if any.
    """

    def __init__(
        self,
        source,
        function,
        captured,
        context,
        threads,
        preserve,
        *,
        free,
        asked=True,
        offered=None,
    ):
        super().__init__(source)
        self._function, self._captured, self._context = function, captured, context
        self._offered = offered
        self._threads = min(threads, context.threads or threads)
        self._preserve = preserve
        self._free = free
        self._pool = None
        self._usefulness = _Usefulness(asked)
        self._pending = deque()  # tasks, each of which gives a list of results
        self._results = deque()  # of the task that was taken last
        self._ended = False
        self._count = 0  # elements of the source that have been taken
        self._batches = None  # that the results go to
        self._batch_size = 0

    def expect_batches(self, size):
        self._batch_size = size
        if self._context.in_order:
            self._batches = BatchMemory(size)
            self.gives_rows = True

    def next(self):
        entry = self._next_entry()
        return None if entry is None else as_element(entry)

    def several(self, most):
        entry = self._next_entry()
        if entry is None:
            return []
        entries, results = [entry], self._results
        while results and len(entries) < most and not results[0].is_failure:
            entries.append(results.popleft().result())
        return entries

    def _next_entry(self):
        """The next element, or the row that stands for it."""
        try:
            if not self._results and not self._take_results():
                return self._next_alone() if self._usefulness.is_low() else None
            return self._results.popleft().result()
        except errors.OutOfRangeError as error:
            out_of_range(error, self._preserve)
            self._pending.clear()
            self._results.clear()
            self._ended = True
            return None

    def _take_results(self):
        """Waits for the results of the next task; whether there was one."""
        if not self._usefulness.is_low():
            self._fill()
        if not self._pending:
            return False
        try:
            self._results.extend(self._take().result())
        except CancelledError:
            raise errors.CancelledError(None, None, "the iterator was closed") from None
        return True

    def _take(self):
        """The task whose turn it is: the first one, or without order the first that is done."""
        if self._context.in_order:
            return self._pending.popleft()
        waiting = [entry for entry in self._pending if isinstance(entry, Future)]
        if len(waiting) == len(self._pending):
            wait(waiting, return_when=FIRST_COMPLETED)
        done = next(entry for entry in self._pending if entry.done())
        self._pending.remove(done)
        return done

    def _next_alone(self):
        """The next result, computed in this thread."""
        if self._pool is not None:
            self._pool.shutdown(wait=False)
            self._pool = None
        self._count += 1
        element = None if self._ended else self._source.next()
        return None if element is None else self._called(element)

    def _called(self, element):
        return self._usefulness.measured(
            self._context.call, self._function, element + self._captured
        )

    def _fill(self):
        if self._pool is None:
            self._pool = ThreadPoolExecutor(
                self._threads, "penstock-map", share_processors, (self._threads,)
            )
        count = self._usefulness.calls_per_task() if self._free else 1
        most = self._most_tasks(count)
        while not self._ended and len(self._pending) < most:
            first = self._count
            elements, error = self._next_elements(count)
            self._count += len(elements)
            if elements:
                self._pending.append(self._pool.submit(self._called_for_each, first, elements))
            if error is not None:
                self._leave_out(self._count)
                self._count += 1
                self._pending.append(_Ready([_Ready(error=error)]))

    def _most_tasks(self, calls):
        """How many tasks of so many calls may be under way or done."""
        if not self._free:
            return self._threads
        return self._threads + max(self._threads, -(-self._batch_size // calls))

    def _next_elements(self, count):
        """Up to `count` elements of the source, fewer at its end and before its error."""
        elements = []
        while len(elements) < count:
            try:
                element = self._source.next()
            except errors.OpError as error:
                return elements, error
            if element is None:
                self._ended = True
                break
            elements.append(element)
        return elements, None

    def _called_for_each(self, first, elements):
        batches, results = self._batches, []
        offered = None if batches is None else self._offered
        for number, element in enumerate(elements, first):
            try:
                if offered is not None:
                    offer(batches.offered(number, offered))
                result = self._called(element)
            except Exception as error:
                self._leave_out(number)
                results.append(_Ready(error=error))
                continue
            results.append(_Ready(result if batches is None else batches.placed(number, result)))
        if offered is not None:
            offer(None)
        return results

    def _leave_out(self, number):
        if self._batches is not None:
            self._batches.left_out(number)

    def save(self):
        results = [*self._results, *(each for task in self._pending for each in task.result())]
        return [self._ended, [_saved(result) for result in results], self._source.save()]

    def restore(self, state):
        self._ended, results, source = state
        self._pending.clear()
        self._results = deque(_restored(result) for result in results)
        self._count = len(results)
        self._source.restore(source)

    def close(self):
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
        super().close()


class _RecordedCalls(ParallelMapped):
    """Records how long calls take, and how many threads are busy when a result is taken."""

    def __init__(self, node, *args, **kwargs):
        super().__init__(*args, **kwargs)
        kind = statistics_name(node)
        self._utilization = f"{kind}::thread_utilization"
        name = node.attrs["f"].name if "f" in node.attrs else node.type
        self._times = f"{kind.partition('Dataset')[0]}::{name}::execution_time"

    def _called(self, element):
        begin = time.perf_counter_ns()
        result = super()._called(element)
        took = (time.perf_counter_ns() - begin) // 1000
        self._context.statistics.add_to_histogram(self._times, took)
        return result

    def _next_entry(self):
        busy = sum(isinstance(task, Future) and not task.done() for task in self._pending)
        share = min(busy, self._threads) / self._threads
        self._context.statistics.set_number(self._utilization, share)
        return super()._next_entry()


def _parallel_calls(node, elements, function, captured, context, threads, preserve, **settings):
    """The results of parallel calls, which are recorded where that is asked for."""
    args = (elements, function, captured, context, threads, preserve)
    if context.statistics is None:
        return ParallelMapped(*args, **settings)
    return _RecordedCalls(node, *args, **settings)


def _saved(result):
    try:
        return saved_element(as_element(result.result()))
    except errors.OpError as error:
        return saved_element(Failure(error))


def _restored(saved):
    element = restored_element(saved)
    return _Ready(error=element.error) if isinstance(element, Failure) else _Ready(element)


def thread_count(number):
    """How many threads a node asks for; -1 leaves it to us."""
    number = int(number)
    if number == -1:
        return processors()
    if number <= 0:
        raise invalid("num_parallel_calls must be greater than zero.")
    return number


def mapped_in_parallel(node, source, function, captured, threads, preserve):
    """A dataset with a function of each element of another, of several of them at once."""
    own = function.renewed()
    rows = parsed_rows(source, own, captured)
    ahead, called = (source, own) if rows is not None else parsed_ahead(source, own, captured)
    settings = {"free": _is_free(source, own), "offered": offered_result(own.body)}

    def make(elements, context):
        if rows is not None and context.statistics is None:
            return rows(elements, context)
        return _parallel_calls(
            node, elements, called, captured, context, threads, preserve, **settings
        )

    return _MapDataset(ahead, make, same_number, [called])


@dataset_kernel("ParallelMapDataset", "ParallelMapDatasetV2")
def _(node, env):
    function, preserve = function_of(node, env), node.attrs["preserve_cardinality"]

    def run(source, *captured_and_threads):
        *captured, number = captured_and_threads
        threads = thread_count(number)
        return mapped_in_parallel(node, source, function, tuple(captured), threads, preserve)

    return run


def _slices(elements):
    """A batch; the error of elements that don't fit is that of copying them into it."""
    for column in zip(*elements, strict=True):
        first = column[0]
        for part in column:
            if tuple(part.shape) != tuple(first.shape):
                raise invalid(
                    "Cannot copy slice: number of elements does not match. Shapes are: [element]: "
                    f"{brackets(part.shape)}, [parent slice]: {brackets(first.shape)}"
                )
    return batch_of(elements)


@dataset_kernel("MapAndBatchDataset", "ExperimentalMapAndBatchDataset")
def _(node, env):
    function, preserve = function_of(node, env), node.attrs["preserve_cardinality"]

    def run(source, *rest):
        *captured, size, threads, drop_remainder = rest
        captured, size = tuple(captured), positive_batch_size(size)
        threads, drop = thread_count(threads), bool(drop_remainder)
        own = function.renewed()
        ahead, called = parsed_ahead(source, own, captured)
        free = _is_free(source, own)

        def make(elements, context):
            if threads == 1 and context.statistics is None:
                mapped = Mapped(elements, called, captured, context, preserve)
            else:
                mapped = _parallel_calls(
                    node, elements, called, captured, context, threads, preserve, free=free
                )
            return WholeBatches(mapped, size, drop, _slices)

        def count(of_source):
            return batch_count(of_source, size, drop) if preserve else UNKNOWN

        return DerivedDataset(ahead, make, count, [called])

    return run


class _Scanned(UnaryElements):
    """Results of a function of the state and the element, which gives the next state too."""

    def __init__(self, source, function, state, captured, context, preserve):
        super().__init__(source)
        self._function, self._captured, self._call = function, captured, context.call
        self._state = state
        self._preserve = preserve

    def next(self):
        element = self._source.next()
        if element is None:
            return None
        try:
            results = self._call(self._function, self._state + element + self._captured)
        except errors.OutOfRangeError as error:
            out_of_range(error, self._preserve)
            return None
        count = len(self._state)
        self._state = tuple(results[:count])
        return tuple(results[count:])

    def save(self):
        return [list(self._state), self._source.save()]

    def restore(self, state):
        values, source = state
        self._state = tuple(values)
        self._source.restore(source)


@dataset_kernel("ScanDataset", "ExperimentalScanDataset")
def _(node, env):
    function, preserve = function_of(node, env), node.attrs["preserve_cardinality"]
    count = len(node.attrs["Tstate"])

    def run(source, *rest):
        state, captured, own = rest[:count], rest[count:], function.renewed()
        return DerivedDataset(
            source,
            lambda elements, context: _Scanned(elements, own, state, captured, context, preserve),
            same_number,
            [own],
        )

    return run


class _FlatMapped(RowElements):
    """The elements of the datasets that a function makes of the elements, one after the other."""

    def __init__(self, source, function, captured, context):
        self._source = source
        self._function, self._captured, self._context = function, captured, context
        self._argument = None
        self._inner: Elements | None = None

    def several(self, most):
        while True:
            if self._inner is not None:
                entries = self._inner.several(most)
                if entries:
                    return entries
                self._inner.close()
                self._inner = None
            self._argument = self._source.next()
            if self._argument is None:
                return []
            self._inner = self._started(self._argument)

    def _started(self, argument):
        (dataset,) = self._context.call(self._function, argument + self._captured)
        return dataset.iterate(self._context)

    def save(self):
        inner = None if self._inner is None else [list(self._argument), self._inner.save()]
        return [inner, self._source.save()]

    def restore(self, state):
        inner, source = state
        self._source.restore(source)
        self._inner = None
        if inner is not None:
            self._argument = tuple(inner[0])
            self._inner = self._started(self._argument)
            self._inner.restore(inner[1])

    def close(self):
        if self._inner is not None:
            self._inner.close()
        self._source.close()


@dataset_kernel("FlatMapDataset")
def _(node, env):
    function = function_of(node, env)

    def run(source, *captured):
        own = function.renewed()
        return DerivedDataset(
            source,
            lambda elements, context: _FlatMapped(elements, own, captured, context),
            functions=[own],
        )

    return run
