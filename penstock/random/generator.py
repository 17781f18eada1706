"""`tf.random.experimental.Generator`: random numbers whose state is a variable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import stateful_random as ops
from penstock.ops.binary import add
from penstock.ops.filling import zeros_like
from penstock.ops.joining import concat, stack, unstack
from penstock.ops.shaping import reshape
from penstock.ops.variables import Variable
from penstock.train.tracking.attributes import AutoTrackable

__all__ = [
    "Generator",
    "create_rng_state",
    "get_global_generator",
    "set_global_generator",
]

RNG_ALG_PHILOX = 1
RNG_ALG_THREEFRY = 2
DEFAULT_ALGORITHM = RNG_ALG_PHILOX
PHILOX_STATE_SIZE = 3
THREEFRY_STATE_SIZE = 2
SEED_TYPE = STATE_TYPE = ALGORITHM_TYPE = "int64"
SEED_TYPE_BITS = 64
SEED_SIZE = 16
SEED_UINT_SPAN = UINT64_SPAN = 2**64
SEED_BIT_MASK = 2**64 - 1
SEED_MAX = MAX_INT64 = 2**63 - 1
SEED_MIN = MIN_INT64 = -(2**63)

_STATE_SIZES = {RNG_ALG_PHILOX: PHILOX_STATE_SIZE, RNG_ALG_THREEFRY: THREEFRY_STATE_SIZE}


def _uint_to_int(n: Any) -> Any:
    return n - UINT64_SPAN if n > MAX_INT64 else n


def _get_state_size(alg: Any) -> int:
    if alg not in _STATE_SIZES:
        raise ValueError(f"Unsupported algorithm id: {alg}")
    return _STATE_SIZES[alg]


def _words(seed: int) -> Iterable[int]:
    """The 64-bit parts of a number, the lowest one first; a negative one has no last part."""
    while True:
        yield seed & SEED_BIT_MASK
        seed >>= SEED_TYPE_BITS


def create_rng_state(seed: Any, algorithm: int) -> np.ndarray:
    """The state that a seed, a number of any size or a vector of numbers, stands for.

    Args:
      algorithm: 1 for Philox, 2 for ThreeFry.
    """
    size = _get_state_size(algorithm)
    parts: Any = seed
    if isinstance(seed, int):
        parts = [word for word, _ in zip(_words(seed), range(size), strict=False)]
    state = np.asarray([_uint_to_int(part) for part in parts], np.int64)
    if state.ndim != 1:
        raise ValueError(f"seed should only have one dimension; got shape: {state.shape}")
    # A short seed is the key, which stands last: its counter starts at zero.
    short = state[:size]
    return np.concatenate([np.zeros(size - len(short), np.int64), short])


def non_deterministic_ints(shape: Any, dtype: Any = dtypes.int64) -> Tensor:
    """Integers that differ in every run, whatever seeds are set."""
    drawn: Tensor = ops.NonDeterministicInts(shape, dtype=dtype)
    return drawn


def _shape_tensor(shape: Any) -> Tensor:
    empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtypes.int64 if empty else None, "shape")


def _state_tensor(value: Any) -> Tensor:
    if isinstance(value, list):
        value = [_uint_to_int(part) for part in value]
    return convert_to_tensor(value, STATE_TYPE)


class Generator(AutoTrackable):
    """A generator of random numbers that keeps its state in a variable.

    Its methods add nodes that draw numbers and move the state on, one after the other. Initialize
    `generator.state` first, as all variables.
    """

    def __init__(
        self, copy_from: Generator | None = None, state: Any = None, alg: int | None = None
    ):
        """Makes a generator in the given state, or one in the state of another generator."""
        if copy_from is not None:
            assert alg is None and state is None
            initial: Any = copy_from.state
            self._alg_var = copy_from.algorithm
        else:
            assert alg is not None and state is not None
            initial = _state_tensor(state)
            initial.shape.assert_is_compatible_with([_get_state_size(alg)])
            self._alg_var = alg
        # By way of the creators of variables: a function that makes a generator owns its state.
        self._state_var: Any = Variable(
            initial, dtype=STATE_TYPE, trainable=False, use_resource=True
        )

    @classmethod
    def from_state(cls, state: Any, alg: int) -> Generator:
        """A generator in a state such as `generator.state` has been."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: Any, alg: int | None = None) -> Generator:
        """A generator that a seed determines: a number, or a vector of numbers."""
        chosen = DEFAULT_ALGORITHM if alg is None else alg
        return cls(state=create_rng_state(seed, chosen), alg=chosen)

    @classmethod
    def from_non_deterministic_state(cls, alg: int | None = None) -> Generator:
        """A generator whose numbers are others whenever its state is initialized."""
        chosen = DEFAULT_ALGORITHM if alg is None else alg
        state = non_deterministic_ints([_get_state_size(chosen)], SEED_TYPE)
        return cls(state=state, alg=chosen)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: int) -> Generator:
        """A generator that a scalar key and a vector of counters determine."""
        return cls(state=_joined(key, counter, alg), alg=alg)

    # Its state --------------------------------------------------------------------------------

    def reset(self, state: Any) -> Any:
        """An operation that puts the generator into a state."""
        tensor = _state_tensor(state)
        tensor.shape.assert_is_compatible_with([_get_state_size(self.algorithm)])
        return self._state_var.assign(tensor)

    def reset_from_seed(self, seed: Any) -> Any:
        """An operation that puts the generator into the state of a seed."""
        return self._state_var.assign(create_rng_state(seed, self.algorithm))

    def reset_from_key_counter(self, key: Any, counter: Any) -> Any:
        """An operation that puts the generator into the state of a key and a counter."""
        return self._state_var.assign(_joined(key, counter, self.algorithm))

    @property
    def state(self) -> Any:
        """The variable with the state."""
        return self._state_var

    @property
    def algorithm(self) -> int:
        """The number of the algorithm: 1 is Philox, 2 is ThreeFry."""
        return self._alg_var

    @property
    def key(self) -> Tensor:
        """The last number of the state: generators of different keys are independent."""
        _get_state_size(self.algorithm)
        key: Tensor = self._state_var[-1]
        return key

    def skip(self, delta: Any) -> Any:
        """An operation that moves the state on as if `delta` numbers had been drawn."""
        return ops.RngSkip(self.state.handle, self.algorithm, delta)

    # Numbers ----------------------------------------------------------------------------------

    def normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Normally distributed numbers."""
        with name_scope(name, "stateful_normal", [shape, mean, stddev]) as scope:
            sizes = _shape_tensor(shape)
            centre = convert_to_tensor(mean, dtype, "mean")
            scale = convert_to_tensor(stddev, dtype, "stddev")
            return add(self._standard_normal(sizes, dtype) * scale, centre, name=scope)

    def truncated_normal(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Normally distributed numbers; those further than 2 `stddev` away are drawn again."""
        with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
            sizes = _shape_tensor(shape)
            centre = convert_to_tensor(mean, dtype, "mean")
            scale = convert_to_tensor(stddev, dtype, "stddev")
            return add(self._truncated_normal(sizes, dtype) * scale, centre, name=scope)

    def uniform(
        self,
        shape: Any,
        minval: Any = 0,
        maxval: Any = None,
        dtype: Any = dtypes.float32,
        name: str | None = None,
    ) -> Tensor:
        """Numbers evenly distributed in [minval, maxval); integers need `maxval`."""
        wanted: DType = dtypes.as_dtype(dtype)
        if maxval is None:
            if wanted.is_integer:
                raise ValueError(f"Must specify maxval for integer dtype {wanted!r}")
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            sizes = _shape_tensor(shape)
            low = convert_to_tensor(minval, wanted, "min")
            high = convert_to_tensor(maxval, wanted, "max")
            if not wanted.is_integer:
                return add(self._uniform(sizes, wanted) * (high - low), low, name=scope)
            handle, alg = self.state.handle, self.algorithm
            drawn: Tensor = ops.StatefulUniformInt(handle, alg, sizes, low, high, name=scope)
            return drawn

    def uniform_full_int(
        self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None
    ) -> Tensor:
        """Integers, each number of the type being equally likely."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            sizes = _shape_tensor(shape)
            handle, alg = self.state.handle, self.algorithm
            wanted = dtypes.as_dtype(dtype)
            drawn: Tensor = ops.StatefulUniformFullInt(handle, alg, sizes, dtype=wanted, name=scope)
            return drawn

    def binomial(
        self,
        shape: Any,
        counts: Any,
        probs: Any,
        dtype: Any = dtypes.int32,
        name: str | None = None,
    ) -> Tensor:
        """Numbers of successes in `counts` trials that succeed with probability `probs`.

        Both are scalars, or have an entry for each row of `shape`.
        """
        wanted = dtypes.as_dtype(dtype)
        with name_scope(name, "binomial", [shape, counts, probs]) as scope:
            trials = convert_to_tensor(counts, name="counts")
            chances = convert_to_tensor(probs, name="probs")
            sizes = _shape_tensor(shape)
            handle, alg = self.state.handle, self.algorithm
            drawn: Tensor = ops.StatefulRandomBinomial(
                handle, alg, sizes, trials, chances, dtype=wanted, name=scope
            )
            return drawn

    def _standard_normal(self, shape: Any, dtype: Any) -> Any:
        handle, alg = self.state.handle, self.algorithm
        return ops.StatefulStandardNormalV2(handle, alg, shape, dtype=dtype)

    def _truncated_normal(self, shape: Any, dtype: Any) -> Any:
        handle, alg = self.state.handle, self.algorithm
        return ops.StatefulTruncatedNormal(handle, alg, shape, dtype=dtype)

    def _uniform(self, shape: Any, dtype: Any) -> Any:
        return ops.StatefulUniform(self.state.handle, self.algorithm, shape, dtype=dtype)

    # Other generators -------------------------------------------------------------------------

    def _make_int64_keys(self, shape: Any = ()) -> Tensor:
        return self.uniform_full_int(shape, dtypes.int64)

    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds for `count` stateless operations, as the columns of a matrix [2, count]."""
        _get_state_size(self.algorithm)
        keys = self._make_int64_keys([count])
        return stack([keys, zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """`count` generators, independent of this one, whose initializers draw from it."""
        counters = [0] * (_get_state_size(self.algorithm) - 1)
        keys = unstack(self._make_int64_keys([count]), count)
        return [Generator(state=stack([*counters, key]), alg=self.algorithm) for key in keys]


def _joined(key: Any, counter: Any, alg: int) -> Tensor:
    """The state that a key and a counter make."""
    counters = _state_tensor(counter)
    scalar = _state_tensor(key)
    counters.shape.assert_is_compatible_with([_get_state_size(alg) - 1])
    scalar.shape.assert_is_compatible_with([])
    return concat([counters, reshape(scalar, [1])], 0)


class _Global:
    """The generator that `get_global_generator` gives, made when it is first asked for."""

    generator: Generator | None = None


def get_global_generator() -> Generator:
    """The generator that parts of a program share; its state starts anywhere."""
    if _Global.generator is None:
        _Global.generator = Generator.from_non_deterministic_state()
    return _Global.generator


def set_global_generator(generator: Generator) -> None:
    """Replaces the generator that parts of a program share."""
    _Global.generator = generator
