"""Datasets mixed from others, by chance or by choice, and random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.data import structure
from penstock.data.dataset import DatasetSource, DatasetV1, DatasetV2, flat_structure
from penstock.data.experimental.transformations import Transformation, scan
from penstock.data.mapped import MapDataset
from penstock.data.rearranged import ZipDataset, common_spec
from penstock.data.seeds import dataset_seeds
from penstock.data.sources import TensorDataset
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.datasets import rearranged as nodes
from penstock.ops.datasets import sources as source_nodes
from penstock.ops.stateless_random import StatelessMultinomial
from penstock.shapes import dimension_value


class RandomDataset(DatasetSource):
    """Random numbers without end, from 0 to 2^32 - 1."""

    def __init__(self, seed: Any = None):
        seeds = dataset_seeds(seed)
        spec = TensorSpec([], dtypes.int64)
        super().__init__(spec, source_nodes.RandomDataset(*seeds, **flat_structure(spec)))


def Counter(start: Any = 0, step: Any = 1, dtype: Any = dtypes.int64) -> DatasetV2:
    """Numbers without end: `start`, `start + step`, …"""
    with name_scope("counter"):
        first = convert_to_tensor(start, dtype, name="start")
        by = convert_to_tensor(step, dtype, name="step")
        ticks = TensorDataset(0).repeat(None)
        return ticks.apply(scan(first, lambda state, _: (state + by, state)))


class _DirectedInterleaveDataset(DatasetV1):
    """Elements of several datasets; another dataset says whose is next."""

    def __init__(self, selector_input: DatasetV2, data_inputs: Any):
        self._datasets = [selector_input, *data_inputs]
        first = data_inputs[0]
        self._structure = first.element_spec
        for other in data_inputs[1:]:
            try:
                _, self._structure = first, common_spec(_Seen(self._structure), other)
            except TypeError:
                raise TypeError("All datasets must have the same type and class.") from None
        variants = [dataset._variant_tensor for dataset in data_inputs]
        super().__init__(
            nodes.DirectedInterleaveDataset(
                selector_input._variant_tensor, variants, **flat_structure(self._structure)
            )
        )

    def _inputs(self) -> list[Any]:
        return self._datasets

    @property
    def element_spec(self) -> Any:
        return self._structure


class _Seen(DatasetV1):
    """Only the spec of elements, for `common_spec`."""

    def __init__(self, spec: Any):
        self._structure = spec

    @property
    def element_spec(self) -> Any:
        return self._structure


def choose_from_datasets(datasets: Any, choice_dataset: DatasetV2) -> DatasetV2:
    """Elements of datasets in the order that a dataset of their numbers says."""
    if not structure.are_compatible(choice_dataset.element_spec, TensorSpec([], dtypes.int64)):
        raise TypeError("`choice_dataset` must be a dataset of scalar `tf.int64` tensors.")
    return _DirectedInterleaveDataset(choice_dataset, list(datasets))


def sample_from_datasets(datasets: Any, weights: Any = None, seed: Any = None) -> DatasetV2:
    """Elements of datasets in random order.

    `weights` are the probabilities of the datasets: a vector, or a dataset of vectors.
    """
    import penstock as tf

    def chosen(logits: Any, numbers: Any) -> Any:
        drawn = StatelessMultinomial(logits, 1, numbers, output_dtype=dtypes.int64)
        return tf.squeeze(drawn, axis=[0, 1])

    count = len(datasets)
    if isinstance(weights, DatasetV2):
        logits_dataset = weights.map(lambda *parts: tf.log(parts, name="logits"))
        seeds = RandomDataset(seed).batch(2)
        selector: DatasetV2 = ZipDataset((logits_dataset, seeds)).map(chosen)
        return _DirectedInterleaveDataset(selector, list(datasets))
    if weights is None:
        logits: Any = [[1.0] * count]
    else:
        given = convert_to_tensor(weights, name="weights")
        if given.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError(
                "`weights` must be convertible to a tensor of `tf.float32` or `tf.float64` "
                "elements."
            )
        if not given.shape.is_compatible_with([count]):
            raise ValueError("`weights` must be a vector of length `len(datasets)`.")
        logits = tf.expand_dims(tf.log(given, name="logits"), 0)
    if count == 1:
        only: DatasetV2 = datasets[0]
        return only
    selector = MapDataset(
        RandomDataset(seed).batch(2),
        lambda numbers: chosen(logits, numbers),
        use_inter_op_parallelism=False,
    )
    return _DirectedInterleaveDataset(selector, list(datasets))


# Resampling -----------------------------------------------------------------------------------


def _acceptance(initial: Any, target: Any) -> tuple[Any, Any]:
    """With which probability an element of each class is kept, and the original stream is read."""
    import penstock as tf

    ratios = target / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)
    largest, smallest = tf.reduce_max(ratios), tf.reduce_min(ratios)
    return (ratios - smallest) / (largest - smallest), smallest


def _estimated(target: Any, classes: DatasetV2, batch: int = 32, smoothing: int = 10) -> DatasetV2:
    """The distribution of the classes seen so far, for each element."""
    import penstock as tf

    number = dimension_value(target.shape[0]) or tf.shape(target)[0]
    first = tf.fill([number], np.int64(smoothing))

    def update(seen: Any, values: Any) -> tuple[Any, Any]:
        depth = dimension_value(seen.shape[0])
        seen = tf.add(seen, tf.reduce_sum(tf.one_hot(values, depth, dtype=tf.int64), 0))
        shares = tf.cast(tf.truediv(seen, tf.reduce_sum(seen)), tf.float32)
        return seen, tf.tile(tf.expand_dims(shares, 0), [batch, 1])

    return classes.batch(batch).apply(scan(first, update)).unbatch()


def _filtered(
    dataset: DatasetV2, acceptance: DatasetV2, initial: DatasetV2, classes: DatasetV2, seed: Any
) -> DatasetV2:
    import penstock as tf

    def with_warning(accept: Any, shares: Any) -> Any:
        rejected = tf.reduce_sum((1 - accept) * shares)
        return tf.cond(
            tf.less(rejected, 0.5),
            lambda: accept,
            lambda: tf.Print(
                accept,
                [rejected, shares, accept],
                message="Proportion of examples rejected by sampler is high: ",
                summarize=100,
                first_n=10,
            ),
        )

    checked = ZipDataset((acceptance, initial)).map(with_warning)
    entries = ZipDataset((classes, checked, dataset)).map(
        lambda value, probabilities, data: (value, tf.gather(probabilities, value), data)
    )
    kept = entries.filter(
        lambda _, probability, data: tf.random_uniform([], seed=seed) < probability
    )
    return kept.map(lambda value, _, data: (value, data))


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Transformation:
    """Leaves out elements at random so that classes come with the frequencies `target_dist`."""

    def apply(dataset: DatasetV2) -> DatasetV2:
        target = convert_to_tensor(target_dist, name="target_dist")
        classes = dataset.map(class_func)
        original_share = None
        if initial_dist is None:
            initial = _estimated(target, classes)
            both = initial.map(lambda shares: _acceptance(shares, target))
            acceptance = both.map(lambda accept, _: accept)
            original = both.map(lambda _, probability: probability)
        else:
            shares = convert_to_tensor(initial_dist, name="initial_dist")
            accept, probability = _acceptance(shares, target)
            initial = TensorDataset(shares).repeat()
            acceptance = TensorDataset(accept).repeat()
            original = TensorDataset(probability).repeat()
            known = constant_value(shares), constant_value(target)
            if known[0] is not None and known[1] is not None:
                original_share = np.min(known[1] / known[0])
        kept = _filtered(dataset, acceptance, initial, classes, seed).prefetch(3)
        everything = ZipDataset((classes, dataset))
        if original_share == 1:
            return everything
        if original_share == 0:
            return kept
        weights = original.map(lambda probability: [(probability, 1.0 - probability)])
        return sample_from_datasets([everything, kept], weights=weights, seed=seed)

    return apply
