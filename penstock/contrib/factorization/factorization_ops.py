"""`tf.contrib.factorization.WALSModel`: weighted alternating least squares."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from numbers import Real
from typing import Any

import penstock as tf
from penstock.ops.matrix_factorization import masked_matmul, wals_compute_partial_lhs_and_rhs
from penstock.ops.select import where_v2

__all__ = ["WALSModel"]


class _Side:
    """The rows, or the columns, of the matrix that is factorized.

    Args:
      name: "row" or "col".
      size: how many there are.
      shards: how many variables their factors are kept in.
    """

    def __init__(self, name: str, size: int, shards: int):
        self.name = name
        self.size = size
        self.shards = shards
        self.weights: list[Any] | None = None
        self.factors: list[Any] = []
        self.gramian: Any = None
        self.weights_cache: Any = None
        self.factors_cache: Any = None
        self.gramian_cache: Any = None

    def shard_sizes(self) -> list[int]:
        size, rest = divmod(self.size, self.shards)
        return [size + 1] * rest + [size] * (self.shards - rest)

    def variables(self, kind: str, initial: Callable[[int, int], Any]) -> list[Any]:
        """A variable for each shard; its value is a function of its number and size."""
        return [
            tf.Variable(
                lambda shard=shard, size=size: initial(shard, size),
                dtype=tf.float32,
                name=f"{self.name}_{kind}_shard_{shard}",
            )
            for shard, size in enumerate(self.shard_sizes())
        ]

    def create_weights(self, given: Any) -> None:
        if given is None:
            return
        if isinstance(given, Iterable):
            values: Any = given
            if self.shards == 1 and len(values) == self.size:
                values = [values]
            assert len(values) == self.shards
            self.weights = self.variables("weights", lambda shard, size: values[shard])
        elif isinstance(given, Real) and float(given) >= 0:
            self.weights = self.variables("weights", lambda shard, size: given * tf.ones([size]))
        else:
            raise ValueError(
                "Invalid weight initialization argument. Must be one of these: None, a real "
                "non-negative real number, or a list of lists of non-negative real numbers (or "
                "equivalent iterables) corresponding to sharded factors."
            )

    def create_factors(self, given: Any, components: int) -> None:
        values = given() if callable(given) else given
        if isinstance(values, str) and values == "random":
            self.factors = self.variables(
                "factors", lambda shard, size: tf.random_normal([size, components])
            )
            return
        if self.shards == 1 and not isinstance(values, list):
            values = [values]
        assert not isinstance(values, list) or len(values) == self.shards
        self.factors = self.variables("factors", lambda shard, size: values[shard])

    def place(self, ids: Any) -> tuple[Any, Any]:
        """The shard of each row, and its place there."""
        size, rest = divmod(self.size, self.shards)
        shard = tf.maximum(ids // (size + 1), (ids - rest) // size)
        return shard, where_v2(shard < rest, ids % (size + 1), (ids - rest) % size)


class WALSModel:
    """A matrix as the product of two small ones, by alternating least squares.

    The factors of the rows are computed while those of the columns are kept, and the other way
    round. A sweep over the rows runs `row_update_prep_gramian_op`, `initialize_row_update_op`, and
    then `update_row_factors`'s update for each part of the matrix.

    Args:
      input_rows, input_cols: the size of the matrix.
      n_components: the size of factors.
      unobserved_weight: the weight of what the matrix lacks.
      regularization: how much the squared norm of factors counts.
      row_init, col_init: "random", the factors, or a function that gives them.
      num_row_shards, num_col_shards: how many variables factors are kept in.
      row_weights, col_weights: numbers, one for each row and column, or None for both.
      use_factors_weights_cache, use_gramian_cache: whether each worker keeps copies.
      use_scoped_vars: whether variables are in scopes of their kinds.
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: float = 0.1,
        regularization: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ):
        assert (row_weights is None) == (col_weights is None)
        self._n_components = n_components
        self._unobserved_weight = unobserved_weight
        self._regularization = regularization
        self._regularization_matrix = (
            None if regularization is None else regularization * tf.eye(n_components)
        )
        self._use_factors_weights_cache = use_factors_weights_cache
        self._use_gramian_cache = use_gramian_cache
        self._rows = _Side("row", input_rows, num_row_shards)
        self._cols = _Side("col", input_cols, num_col_shards)

        def scope(name: str) -> Any:
            return tf.name_scope(name) if use_scoped_vars else ExitStack()

        for side, given in ((self._rows, row_weights), (self._cols, col_weights)):
            with scope(f"{side.name}_weights"):
                side.create_weights(given)
        for side, given in ((self._rows, row_init), (self._cols, col_init)):
            with scope(f"{side.name}_factors"):
                side.create_factors(given, n_components)
        for side in (self._rows, self._cols):
            side.gramian = tf.Variable(
                tf.zeros([n_components, n_components]),
                dtype=tf.float32,
                name=f"{side.name}_gramian",
            )
        with tf.name_scope("row_prepare_gramian"):
            self._row_update_prep_gramian = _gramian_op(self._cols)
        with tf.name_scope("col_prepare_gramian"):
            self._col_update_prep_gramian = _gramian_op(self._rows)
        with tf.name_scope("transient_vars"):
            self._create_caches()

    @property
    def row_factors(self) -> list[Any]:
        """The variables of the rows' factors."""
        return self._rows.factors

    @property
    def col_factors(self) -> list[Any]:
        """The variables of the columns' factors."""
        return self._cols.factors

    @property
    def row_weights(self) -> list[Any] | None:
        """The variables of the rows' weights."""
        return self._rows.weights

    @property
    def col_weights(self) -> list[Any] | None:
        """The variables of the columns' weights."""
        return self._cols.weights

    @property
    def initialize_op(self) -> Any:
        """Initializes factors and weights."""
        variables = [*self._rows.factors, *self._cols.factors]
        variables += [self._rows.gramian, self._cols.gramian]
        variables += [*(self._rows.weights or ()), *(self._cols.weights or ())]
        return tf.variables_initializer(variables)

    @property
    def worker_init(self) -> Any:
        """Run once by each worker."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Any:
        """Run by the chief before a sweep over the rows."""
        return self._row_update_prep_gramian

    @property
    def col_update_prep_gramian_op(self) -> Any:
        """Run by the chief before a sweep over the columns."""
        return self._col_update_prep_gramian

    @property
    def initialize_row_update_op(self) -> Any:
        """Run by each worker before a sweep over the rows."""
        return self._row_updates_init

    @property
    def initialize_col_update_op(self) -> Any:
        """Run by each worker before a sweep over the columns."""
        return self._col_updates_init

    def _create_caches(self) -> None:
        """The copies that workers keep, and the operations that make and drop them."""
        through = not self._use_factors_weights_cache
        gramian_through = not self._use_gramian_cache
        sides = (self._rows, self._cols)
        factors = [_cached(s.factors, f"{s.name}_factors_cache", through) for s in sides]
        weights = [_cached(s.weights, f"{s.name}_wt_cache", through) for s in sides]
        gramians = [_cached(s.gramian, f"{s.name}_gramian_cache", gramian_through) for s in sides]
        for place, side in enumerate(sides):
            side.factors_cache = factors[place][0]
            side.weights_cache = weights[place][0]
            side.gramian_cache = gramians[place][0]

        def taken_of(kept: int, dropped: int) -> Any:
            return tf.group(
                factors[kept][1], factors[dropped][2], gramians[kept][1], gramians[dropped][2]
            )

        self._row_updates_init = taken_of(1, 0)
        self._col_updates_init = taken_of(0, 1)
        if self._rows.weights is None:
            self._worker_init = tf.no_op(name="worker_init")
        else:
            self._worker_init = tf.group(weights[0][1], weights[1][1], name="worker_init")

    @classmethod
    def scatter_update(
        cls, factor: list[Any], indices: Any, values: Any, sharding_func: Any, name: Any = None
    ) -> Any:
        """Writes rows into the variables that keep them.

        Args:
          sharding_func: gives for rows the numbers of their variables, and their places there.
        """
        if len(factor) == 1:
            with tf.colocate_with(factor[0]):
                return tf.scatter_update(factor[0], indices, values, name=name).op
        shard, places = sharding_func(indices)
        shard = tf.cast(shard, tf.int32)
        split_places = tf.dynamic_partition(places, shard, len(factor))
        split_values = tf.dynamic_partition(values, shard, len(factor))
        parts = zip(factor, split_places, split_values, strict=True)
        return tf.group(*[tf.scatter_update(*part) for part in parts], name=name)

    def update_row_factors(self, sp_input: Any = None, transpose_input: bool = False) -> Any:
        """New factors of the rows that a part of the matrix has.

        Args:
          sp_input: the part, a `SparseTensor` with the indices of the whole matrix.
          transpose_input: whether it is transposed.

        Returns:
          The new factors, the operation that keeps them, the loss without and of regularization,
          and the sum of the weights.
        """
        return self._update(self._rows, self._cols, sp_input, transpose_input)

    def update_col_factors(self, sp_input: Any = None, transpose_input: bool = False) -> Any:
        """New factors of the columns that a part of the matrix has; see `update_row_factors`."""
        return self._update(self._cols, self._rows, sp_input, not transpose_input)

    def project_row_factors(
        self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None
    ) -> Any:
        """The factors of rows, which are not kept.

        Args:
          projection_weights: the weights of the rows; 1 by default.
        """
        weights = 1 if projection_weights is None else projection_weights
        return self._update(self._rows, self._cols, sp_input, transpose_input, weights)[0]

    def project_col_factors(
        self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None
    ) -> Any:
        """The factors of columns, which are not kept; see `project_row_factors`."""
        weights = 1 if projection_weights is None else projection_weights
        return self._update(self._cols, self._rows, sp_input, not transpose_input, weights)[0]

    def _update(
        self,
        side: _Side,
        other: _Side,
        sp_input: Any,
        transpose_input: bool,
        given_weights: Any = None,
    ) -> Any:
        assert isinstance(sp_input, tf.SparseTensor)
        part = _Part(sp_input, transpose_input)
        met = tf.nn.embedding_lookup(other.factors_cache, part.others, partition_strategy="div")
        left = self._unobserved_weight * other.gramian_cache
        if self._regularization_matrix is not None:
            left += self._regularization_matrix
        weights = other_weights = None
        if side.weights is None:
            right = self._unobserved_weight * tf.sparse_tensor_dense_matmul(
                part.compact, met, adjoint_a=transpose_input
            )
            found = tf.transpose(tf.matrix_solve(left, tf.transpose(right)))
        else:
            weights = _weights_of(side, part.updated, given_weights)
            other_weights = tf.nn.embedding_lookup(
                other.weights_cache, part.others, partition_strategy="div"
            )
            partial_left, right = wals_compute_partial_lhs_and_rhs(
                met,
                other_weights,
                self._unobserved_weight,
                weights,
                part.compact.indices,
                part.compact.values,
                [],
                part.count,
                transpose_input,
                name="wals_compute_partial_lhs_rhs",
            )
            solved = tf.matrix_solve(
                tf.expand_dims(left, 0) + partial_left, tf.expand_dims(right, -1)
            )
            found = tf.squeeze(solved, [2])
        update = self.scatter_update(
            side.factors, part.updated, found, side.place, name=f"{side.name}_update"
        )
        losses = self._losses(side, other, part, found, met, weights, other_weights)
        return (found, update, *losses)

    def _losses(
        self,
        side: _Side,
        other: _Side,
        part: _Part,
        found: Any,
        met: Any,
        weights: Any,
        other_weights: Any,
    ) -> tuple[Any, Any, Any]:
        """Estimates for the whole matrix, of a part: loss, regularization, sum of weights."""
        entries = tf.sparse_transpose(part.compact) if part.transposed else part.compact
        approximate: Any = tf.SparseTensor(
            entries.indices,
            masked_matmul(found, met, entries.indices, transpose_a=False, transpose_b=True),
            entries.dense_shape,
        )
        approximate_squared = tf.square(approximate)
        residual_squared = tf.square(tf.sparse_add(entries, approximate * (-1)))
        row = tf.constant(0.0) if weights is None else tf.expand_dims(weights, 1)
        col = tf.constant(0.0) if weights is None else tf.expand_dims(other_weights, 0)
        gramian = tf.matmul(found, found, transpose_a=True)
        share = side.size / tf.cast(part.count, tf.float32)
        unobserved = (
            tf.sparse_reduce_sum(residual_squared)
            - tf.sparse_reduce_sum(approximate_squared)
            + tf.trace(tf.matmul(gramian, other.gramian_cache))
        )
        observed = tf.sparse_reduce_sum(row * (residual_squared * col))
        loss = (self._unobserved_weight * unobserved + observed) * share
        regularization: Any = tf.constant(0.0)
        if self._regularization is not None:
            norms = tf.trace(gramian) * share + tf.trace(other.gramian_cache)
            regularization = self._regularization * norms
        total = self._unobserved_weight * tf.cast(side.size * other.size, tf.float32)
        if weights is not None:
            ones = tf.SparseTensor(
                entries.indices, tf.ones(tf.shape(entries.values)), entries.dense_shape
            )
            total += tf.sparse_reduce_sum(row * (ones * col)) * share
        return loss, regularization, total


class _Part:
    """A part of the matrix without the rows and columns that have no entries.

    Args:
      transposed: whether the rows to update are its columns.
    """

    def __init__(self, sp_input: Any, transposed: bool):
        rows, cols = tf.split(value=sp_input.indices, num_or_size_splits=2, axis=1)
        row_ids, row_places = tf.unique(rows[:, 0])
        col_ids, col_places = tf.unique(cols[:, 0])
        self.transposed = transposed
        #: The numbers of what is updated, and those of the other side.
        self.updated, self.others = (col_ids, row_ids) if transposed else (row_ids, col_ids)
        self.count = tf.cast(tf.shape(self.updated)[0], tf.int64)
        places = [tf.expand_dims(tf.cast(p, tf.int64), 1) for p in (row_places, col_places)]
        sizes = [[tf.cast(tf.shape(ids)[0], tf.int64)] for ids in (row_ids, col_ids)]
        self.compact = tf.SparseTensor(
            indices=tf.concat(places, 1),
            values=sp_input.values,
            dense_shape=tf.concat(sizes, 0),
        )


def _weights_of(side: _Side, ids: Any, given: Any) -> Any:
    """The weights of rows: their own, or those that are given, one for all or one for each."""
    if given is None:
        return tf.nn.embedding_lookup(side.weights_cache, ids, partition_strategy="div")
    count = tf.shape(ids)[0]
    with tf.control_dependencies([tf.assert_less_equal(tf.rank(given), 1)]):
        return tf.cond(
            tf.equal(tf.rank(given), 0),
            lambda: tf.ones([count]) * given,
            lambda: tf.cast(given, tf.float32),
        )


def _gramian_op(side: _Side) -> Any:
    """Computes the Gramian of all factors of a side."""
    partial = []
    for factors in side.factors:
        with tf.colocate_with(factors):
            partial.append(tf.matmul(factors, factors, transpose_a=True))
    with tf.colocate_with(side.gramian):
        return tf.assign(side.gramian, tf.add_n(partial)).op


def _cached(variable: Any, name: str, pass_through: bool) -> tuple[Any, Any, Any]:
    """A local copy of a variable or of several, what makes it, and what frees its memory."""
    if variable is None:
        return None, None, None
    if pass_through:
        return variable, tf.no_op(), tf.no_op()
    if not isinstance(variable, list):
        cache = _local(name)
        with tf.colocate_with(cache):
            made = tf.assign(cache, variable, validate_shape=False)
            return cache, made, tf.assign(cache, 1.0, validate_shape=False)
    caches = [_local(f"{name}_shard_{shard}") for shard in range(len(variable))]
    made, freed = None, []
    for cache, source in zip(caches, variable, strict=True):
        # One after another, so that not all copies are on their way at once.
        with tf.colocate_with(cache), tf.control_dependencies([] if made is None else [made]):
            made = tf.assign(cache, source, validate_shape=False)
        with tf.colocate_with(cache):
            freed.append(tf.assign(cache, 1.0, validate_shape=False))
    return caches, made, tf.group(*freed)


def _local(name: str) -> Any:
    """A variable that takes values of any shape."""
    return tf.Variable(
        1.0,
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
        name=name,
    )
