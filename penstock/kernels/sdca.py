"""Kernels of stochastic dual coordinate ascent, on the host.

All weights of a step are one vector: those of the dense features, then the gathered ones of the
sparse features. An example is the places of its features in that vector, and their values.
"""

import math

import numpy as np
import torch

from penstock import errors, shapes
from penstock.kernels.dual_losses import LOSSES
from penstock.kernels.hashes import farmhash128
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import to_array

_DUAL, _PRIMAL_LOSS, _DUAL_LOSS, _WEIGHT = range(4)  # columns of the examples' state


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


def _shrunk(weights, threshold):
    return np.sign(weights) * np.maximum(np.abs(weights) - threshold, 0) if threshold else weights


class _Inputs:
    """The inputs of a node by name."""

    def __init__(self, node, values):
        arrays = iter(to_array(value) for value in values)
        for arg in node.spec.inputs:
            count = 1 if arg.number_attr is None else node.attrs[arg.number_attr]
            parts = [next(arrays) for _ in range(count)]
            setattr(self, arg.name, parts if arg.number_attr is not None else parts[0])


class _Examples:
    """The examples of a batch, and the weights that they use."""

    def __init__(self, inputs):
        self.weights = inputs.example_weights.reshape(-1)
        self.labels = inputs.example_labels.reshape(-1)
        if self.labels.size != self.weights.size:
            raise _invalid(
                f"Expected {self.weights.size} example labels but got {self.labels.size}"
            )
        parts = [*inputs.dense_weights, *inputs.sparse_weights]
        self.nominal = np.concatenate([part.reshape(-1) for part in parts]).astype(np.float32)
        self.delta = np.zeros_like(self.nominal)
        self._places = [[] for _ in range(self.weights.size)]
        self._values = [[] for _ in range(self.weights.size)]
        start = self._add_dense(inputs)
        self._add_sparse(inputs, start)
        self.features = [
            (np.concatenate(places), np.concatenate(values).astype(np.float64))
            for places, values in zip(self._places, self._values, strict=True)
        ]
        self.squared_norms = [float(values @ values) for _, values in self.features]

    def _add_dense(self, inputs):
        start = 0
        for i, (features, weights) in enumerate(
            zip(inputs.dense_features, inputs.dense_weights, strict=True)
        ):
            if features.ndim != 2:
                raise _invalid(
                    f"Dense features at index {i} must be rank 2 but is rank {features.ndim}"
                )
            if features.shape[1] > weights.size:
                raise _invalid(
                    f"More dense features than we have parameters for: {features.shape[1]}"
                )
            places = np.arange(start, start + features.shape[1])
            for example in range(self.weights.size):
                self._places[example].append(places)
                self._values[example].append(features[example])
            start += weights.size
        return start

    def _add_sparse(self, inputs, start):
        for i, indices in enumerate(inputs.sparse_indices):
            features = inputs.sparse_feature_indices[i].reshape(-1)
            examples = inputs.sparse_example_indices[i].reshape(-1)
            if examples.size != features.size:
                raise _invalid(
                    "Found mismatched example_indices and feature_indices "
                    f"[{_listed(examples)}] vs [{_listed(features)}]"
                )
            values = np.ones(features.size, np.float32)
            if i < len(inputs.sparse_feature_values):
                values = inputs.sparse_feature_values[i].reshape(-1)
            places = start + _positions(features, indices.reshape(-1))
            self._add_column(examples, places, values)
            start += inputs.sparse_weights[i].size

    def _add_column(self, examples, places, values):
        if len(np.unique(np.stack([examples, places]), axis=1).T) < examples.size:
            raise _invalid("Duplicate index in sparse vector.")
        count = self.weights.size
        order = np.argsort(examples, kind="stable")
        ends = np.searchsorted(examples[order], np.arange(count + 1))
        for example in range(count):
            chosen = order[ends[example] : ends[example + 1]]
            self._places[example].append(places[chosen])
            self._values[example].append(values[chosen])


def _positions(features, indices):
    """Where each feature is among the indices of the weights."""
    order = np.argsort(indices, kind="stable")
    found = np.searchsorted(indices, features, side="right", sorter=order) - 1
    is_there = found >= 0
    is_there[is_there] = indices[order[found[is_there]]] == features[is_there]
    if not is_there.all():
        missing = features[~is_there][0]
        raise _invalid(f"Found sparse feature indices out of valid range: {missing}")
    return order[found]


def _listed(numbers):
    return " ".join(map(str, numbers.tolist()))


class _Solver:
    """Improves the dual variables of examples one after the other."""

    def __init__(self, node, examples):
        attrs = node.attrs
        self.loss = LOSSES[attrs["loss_type"]]
        self.examples = examples
        self.l2 = attrs["l2"]
        self.threshold = attrs["l1"] / attrs["l2"]
        self.partitions = attrs["num_loss_partitions"]

    def prediction(self, example):
        places, values = self.examples.features[example]
        weights = self.examples.nominal[places] + self.examples.delta[places] * self.partitions
        return float(values @ _shrunk(weights, self.threshold))

    def improve(self, state, example):
        loss, examples = self.loss, self.examples
        weight = float(examples.weights[example])
        label = loss.label(float(examples.labels[example]))
        dual = float(state[example, _DUAL])
        places, values = examples.features[example]
        norm = examples.squared_norms[example] / self.l2 * weight * self.partitions
        new = loss.updated_dual(label, dual, self.prediction(example), norm)
        before = float(values @ _shrunk(examples.nominal[places], self.threshold))
        np.add.at(examples.delta, places, values * ((new - dual) * weight / self.l2))
        state[example] = (
            new,
            loss.primal(before, label) * weight,
            loss.dual(dual, label) * weight,
            weight,
        )

    def order(self, state, adaptive):
        """The examples in random order; adaptively, those that promise most come more often."""
        number = len(self.examples.features)
        random = np.random.default_rng()
        if not adaptive:
            return random.permutation(number)
        gains = np.array([self._promise(state, example) for example in range(number)])
        if not gains.sum() > 0:
            return random.permutation(number)
        # A picked example is ten times less likely to be picked again.
        times = np.zeros(number, np.int64)
        order = []
        for example in random.choice(number, 2 * number, p=gains / gains.sum()):
            if len(order) < number and random.random() <= 0.1 ** times[example]:
                times[example] += 1
                order.append(example)
        unseen = sorted(np.flatnonzero(times == 0), key=lambda example: -gains[example])
        return order + unseen[: number - len(order)]

    def _promise(self, state, example):
        examples, loss = self.examples, self.loss
        label = loss.label(float(examples.labels[example]))
        distance = state[example, _DUAL] + loss.slope(self.prediction(example), label)
        size = math.sqrt(examples.squared_norms[example] + self.l2 * loss.smoothness)
        return float(examples.weights[example]) * size * abs(float(distance))


@kernel("SdcaOptimizer", "SdcaOptimizerV2", devices=HOST, fresh=True)
def _(node):
    attrs = node.attrs
    if attrs["num_sparse_features"] + attrs["num_dense_features"] == 0:
        raise _invalid("Requires at least one feature to train.")
    adaptive = attrs["adaptive" if node.type == "SdcaOptimizerV2" else "adaptative"]

    def run(*values):
        inputs = _Inputs(node, values)
        examples = _Examples(inputs)
        state = inputs.example_state_data
        if state.ndim != 2:
            raise _invalid(f"example_state_data must be rank 2 but is rank {state.ndim}")
        expected = (examples.weights.size, 4)
        if state.shape != expected:
            raise _invalid(
                f"Expected shape {shapes.text(expected)} for example_state_data, got "
                f"{shapes.text(state.shape)}"
            )
        state = state.copy()
        solver = _Solver(node, examples)
        for example in solver.order(state, adaptive):
            solver.improve(state, example)
        parts = [*inputs.dense_weights, *inputs.sparse_weights]
        ends = np.cumsum([part.size for part in parts])[:-1]
        deltas = [
            torch.from_numpy(np.ascontiguousarray(delta).reshape(part.shape))
            for delta, part in zip(np.split(examples.delta, ends), parts, strict=True)
        ]
        dense = len(inputs.dense_weights)
        return (torch.from_numpy(state), *deltas[dense:], *deltas[:dense])

    return run


@kernel("SdcaShrinkL1", devices=HOST)
def _(node):
    threshold = node.attrs["l1"] / node.attrs["l2"]

    def run(*variables):
        for variable in variables:
            weights = variable.read()
            weights.copy_(torch.nn.functional.softshrink(weights, threshold))

    return run


@kernel("SdcaFprint", devices=HOST, fresh=True)
def _(node):
    def run(ids):
        if ids.ndim != 1:
            raise _invalid(f"Input must be a vector, got shape {shapes.text(ids.shape)}")
        prints = np.array([farmhash128(each) for each in ids.tolist()], np.uint64).reshape(-1, 2)
        prints[:, 0] -= np.where(prints[:, 0] < 2, np.uint64(2), np.uint64(0))
        return torch.from_numpy(prints.view(np.int64))

    return run
