"""Datasets that three functions make: one begins, one gives the next element, one ends."""

from __future__ import annotations

from contextlib import suppress

from penstock import errors
from penstock.kernels.datasets.mapping import function_of
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.state.datasets import Context, Dataset, Elements


class _Generated(Elements):
    """What a generator gives. Its place is the number of elements: to go there again, it is begun
    again, and so many elements are passed over.
    """

    def __init__(self, functions, captured, context):
        self._begin, self._give, self._end = functions
        self._begin_args, self._give_args, self._end_args = captured
        self._call = context.call
        self._state = None
        self._over = False
        self._taken = 0

    def next(self):
        if self._over:
            return None
        if self._state is None:
            self._state = tuple(self._call(self._begin, self._begin_args))
        self._taken += 1
        try:
            return tuple(self._call(self._give, self._state + self._give_args))
        except errors.OutOfRangeError:
            self._finish()
            return None

    def _finish(self):
        if self._state is not None and not self._over:
            self._over = True
            self._call(self._end, self._state + self._end_args)

    def save(self):
        return [self._taken, self._over]

    def restore(self, state):
        taken, over = state
        for _ in range(taken):
            with suppress(errors.OpError):
                self.next()
        if over:
            self._finish()
            self._over = True

    def close(self):
        self._finish()

    def __del__(self):
        if self._state is not None and not self._over:
            with suppress(errors.OpError):
                self._finish()


class _GeneratorDataset(Dataset):
    def __init__(self, functions, captured):
        self._functions, self._captured = functions, captured

    def iterate(self, context: Context) -> Elements:
        return _Generated(self._functions, self._captured, context)


@dataset_kernel("GeneratorDataset")
def _(node, env):
    functions = [function_of(node, env, key) for key in ("init_func", "next_func", "finalize_func")]
    first = len(node.attrs["Tinit_func_args"])
    second = first + len(node.attrs["Tnext_func_args"])

    def run(*inputs):
        return _GeneratorDataset(functions, (inputs[:first], inputs[first:second], inputs[second:]))

    return run
