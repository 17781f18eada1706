"""Datasets that take turns among the datasets which a function makes."""

from __future__ import annotations

from penstock.kernels.datasets.mapping import function_of
from penstock.kernels.datasets.parallel_interleaving import ParallelInterleaved
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.sparse_rows import invalid
from penstock.platform.processors import processors
from penstock.state.datasets import DerivedDataset, UnaryElements


class _Interleaved(UnaryElements):
    """Takes `block` elements of each of up to `cycle` datasets in turn."""

    def __init__(self, source, function, captured, context, cycle, block):
        super().__init__(source)
        self._function, self._captured, self._context = function, captured, context
        self._slots = [None] * cycle  # of [argument, elements]
        self._block = block
        self._index = self._taken = self._open = 0
        self._ended = False

    def next(self):
        while not self._ended or self._open:
            slot = self._slots[self._index]
            if slot is not None:
                element = slot[1].next()
                if element is not None:
                    self._taken += 1
                    if self._taken == self._block:
                        self._advance()
                    return element
                slot[1].close()
                self._slots[self._index] = None
                self._open -= 1
                self._advance()
            elif self._ended:
                self._advance()
            else:
                self._open_next()
        return None

    def _advance(self):
        self._taken = 0
        self._index = (self._index + 1) % len(self._slots)

    def _open_next(self):
        argument = self._source.next()
        if argument is None:
            self._ended = True
        else:
            self._slots[self._index] = [argument, self._started(argument)]
            self._open += 1

    def _started(self, argument):
        (dataset,) = self._context.call(self._function, argument + self._captured)
        return dataset.iterate(self._context)

    def save(self):
        slots = [None if slot is None else [list(slot[0]), slot[1].save()] for slot in self._slots]
        numbers = [self._index, self._taken, self._open, self._ended]
        return [numbers, slots, self._source.save()]

    def restore(self, state):
        numbers, slots, source = state
        self._source.restore(source)
        self._index, self._taken, self._open, self._ended = numbers
        self._slots = [None] * len(slots)
        for place, saved in enumerate(slots):
            if saved is not None:
                argument = tuple(saved[0])
                elements = self._started(argument)
                elements.restore(saved[1])
                self._slots[place] = [argument, elements]

    def close(self):
        for slot in self._slots:
            if slot is not None:
                slot[1].close()
        super().close()


_SETTINGS = {
    "InterleaveDataset": 2,
    "ParallelInterleaveDatasetV2": 3,
    "ParallelInterleaveDatasetV3": 3,
    "ParallelInterleaveDatasetV4": 5,
    "ParallelInterleaveDataset": 5,
    "ExperimentalParallelInterleaveDataset": 5,
    "LegacyParallelInterleaveDatasetV2": 4,
}


@dataset_kernel(*_SETTINGS)
def _(node, env):
    function, settings = function_of(node, env), _SETTINGS[node.type]

    def run(source, *rest):
        captured, given = rest[:-settings], [int(number) for number in rest[-settings:]]
        cycle, block = given[:2]
        if node.type in _OF_THE_OLD_FUNCTION:
            _check_old_settings(cycle, block, *given[-2:])
        if cycle == -1:
            cycle = processors()
        if cycle <= 0:
            raise invalid("cycle_length must be greater than zero.")
        if block <= 0:
            raise invalid("block_length must be greater than zero.")
        if node.type in ("ParallelInterleaveDatasetV2", "ParallelInterleaveDatasetV3"):
            _check_calls(given[2], cycle)
        elif node.type == "ParallelInterleaveDatasetV4":
            _check_calls(given[4], cycle)

        def make(elements, context):
            arguments = elements, function, captured, context, cycle, block
            # What keeps the interpreter busy is faster one after the other, in the same order;
            # effects may wait for each other.
            if node.type == "InterleaveDataset" or not function.has_effects:
                return _Interleaved(*arguments)
            sloppy, *ahead = _liberties(node, given, block)
            return ParallelInterleaved(*arguments, sloppy or not context.in_order, *ahead)

        return DerivedDataset(source, make, functions=[function])

    return run


_OF_THE_OLD_FUNCTION = {
    "ParallelInterleaveDataset",
    "ExperimentalParallelInterleaveDataset",
    "LegacyParallelInterleaveDatasetV2",
}


def _check_old_settings(cycle, block, buffered, staged):
    for name, number, least in (
        ("cycle_length", cycle, 1),
        ("block_length", block, 1),
        ("buffer_output_elements", buffered, 1),
        ("prefetch_input_elements", staged, 0),
    ):
        if number < least:
            raise invalid(f"`{name}` must be {'> 0' if least else '>= 0'}")


def _liberties(node, given, block):
    """Whether the order may change, how many elements and how many datasets are read ahead."""
    if node.type in ("ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset"):
        sloppy, buffered, staged = given[2:]
        return bool(sloppy), buffered, staged
    sloppy = node.attrs.get("sloppy", False) or _text(node.attrs.get("deterministic")) == "false"
    if node.type == "LegacyParallelInterleaveDatasetV2":
        return sloppy, given[2], given[3]
    return sloppy, block, 0


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _check_calls(calls, cycle):
    if calls != -1 and calls <= 0:
        raise invalid("num_parallel_calls must be greater than zero.")
    if calls > cycle:
        raise invalid("num_parallel_calls must less than or equal to cycle_length.")
