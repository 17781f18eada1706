"""Kernels of ensembles of boosted trees: keeping, growing and asking them, on the host."""

import numpy as np
import torch

from penstock import errors, proto
from penstock.kernels.registry import HOST, Constant, kernel
from penstock.kernels.split_gains import TOLERANCE, weights_and_gains
from penstock.kernels.values import to_array
from penstock.state.tree_ensemble import Split, TreeEnsemble

_PRE_PRUNING, _POST_PRUNING = 1, 2
_ENOUGH = 0.01  # a bias that changes less than this is at the centre


@kernel("BoostedTreesEnsembleResourceHandleOp", devices=HOST)
def _(node, env):
    name = node.attrs["shared_name"] or node.name
    find = env.resources.get_or_create
    return Constant(find(TreeEnsemble, node.attrs["container"], name, lambda: TreeEnsemble(name)))


@kernel("IsBoostedTreesEnsembleInitialized", devices=HOST, fresh=True)
def _(node):
    return lambda ensemble: torch.tensor(ensemble.is_created)


@kernel("BoostedTreesCreateEnsemble", "BoostedTreesDeserializeEnsemble", devices=HOST)
def _(node):
    creates = node.type == "BoostedTreesCreateEnsemble"

    def run(ensemble, stamp, serialized):
        with ensemble.lock:
            if not creates:
                ensemble.message  # noqa: B018 - must be there
            load = ensemble.create if creates else ensemble.load
            load(serialized.item(), stamp.item())

    return run


@kernel("BoostedTreesSerializeEnsemble", devices=HOST, fresh=True)
def _(node):
    def run(ensemble):
        with ensemble.lock:
            serialized = np.empty((), object)
            serialized[()] = ensemble.message.SerializeToString()
            return torch.tensor(ensemble.stamp), serialized

    return run


@kernel("BoostedTreesGetEnsembleStates", devices=HOST, fresh=True)
def _(node):
    def run(ensemble):
        with ensemble.lock:
            counts = (ensemble.tree_count, ensemble.finished_count, ensemble.attempted_layers)
            return (
                torch.tensor(ensemble.stamp),
                *(torch.tensor(count, dtype=torch.int32) for count in counts),
                torch.tensor(ensemble.last_layer, dtype=torch.int32),
            )

    return run


# Growing --------------------------------------------------------------------------------------


def _best_splits(candidates):
    """The best split of each node; of equally good ones the one of the first feature."""
    best = {}
    for split in candidates:
        known = best.get(split.node)
        if known is None or _is_better(split, known):
            best[split.node] = split
    return [best[number] for number in sorted(best)]


def _is_better(split, known):
    more = np.float32(split.gain) - np.float32(known.gain)
    if abs(more) < TOLERANCE:
        return split.feature < known.feature
    return more > 0


def _update(ensemble, candidates, depth, mode):
    with ensemble.lock:
        message = ensemble.message
        ensemble.stamp += 1
        splits = _best_splits(candidates)
        ensemble.count_attempt()
        if not message.trees:
            ensemble.add_tree(np.zeros(1, np.float32))
        if mode == _PRE_PRUNING:
            splits = [split for split in splits if split.gain >= 0]
        if splits:
            ensemble.grow(splits, depth, prunes=mode == _POST_PRUNING)


def _candidates(features, lists, rate):
    """The splits that the columns of each feature describe."""
    rate = np.float32(rate)
    for feature, columns in zip(features, zip(*lists, strict=True), strict=True):
        dimensions, nodes, gains, thresholds, left, right, kinds = columns
        for i in range(len(nodes)):
            yield Split(
                int(nodes[i]),
                feature,
                int(dimensions[i]),
                int(thresholds[i]),
                float(gains[i]),
                rate * left[i],
                rate * right[i],
                kinds[i],
            )


@kernel("BoostedTreesUpdateEnsemble", devices=HOST)
def _(node):
    count, mode = node.attrs["num_features"], node.attrs["pruning_mode"]

    def run(ensemble, feature_ids, *inputs):
        *flat, depth, rate = inputs
        arrays = [to_array(value) for value in flat]
        nodes, gains, thresholds, left, right = _lists_of(arrays, count)
        dimensions = [np.zeros(len(each), np.int32) for each in nodes]
        kinds = [["INEQUALITY_DEFAULT_LEFT"] * len(each) for each in nodes]
        lists = dimensions, nodes, gains, thresholds, _first(left), _first(right), kinds
        candidates = _candidates(feature_ids.tolist(), lists, rate.item())
        _update(ensemble, candidates, depth.item(), mode)

    return run


def _lists_of(arrays, count):
    return [arrays[start : start + count] for start in range(0, len(arrays), count)]


def _first(contributions):
    """Of contributions to several logits those to the first one."""
    return [each[:, :1] for each in contributions]


@kernel("BoostedTreesUpdateEnsembleV2", devices=HOST)
def _(node):
    count, groups = node.attrs["num_features"], node.attrs["num_groups"]
    width = node.attrs["logits_dimension"]

    def run(ensemble, *inputs):
        features = [number for group in inputs[:groups] for number in group.tolist()]
        *flat, depth, rate, mode = inputs[groups:]
        lists = _lists_of([to_array(value) for value in flat], count)
        dimensions, nodes, gains, thresholds, left, right, kinds = lists
        left, right = ([each[:, :width] for each in side] for side in (left, right))
        kinds = [[_kind(text) for text in each] for each in kinds]
        lists = dimensions, nodes, gains, thresholds, left, right, kinds
        candidates = _candidates(features, lists, rate.item())
        _update(ensemble, candidates, depth.item(), mode.item())

    return run


def _kind(text):
    name = text.decode()
    if name not in proto.SplitTypeWithDefault.keys():
        raise errors.InternalError(None, None, f"Parse failed: {name!r} is no type of split")
    return name


@kernel("BoostedTreesCenterBias", devices=HOST, fresh=True)
def _(node):
    def run(ensemble, gradients, hessians, l1, l2):
        sums = (to_array(value).reshape(1, -1) for value in (gradients, hessians))
        logits, _ = weights_and_gains(*sums, l1.item(), l2.item())
        logits = logits[0]
        with ensemble.lock:
            trees = ensemble.message.trees
            ensemble.stamp += 1
            if not trees:
                ensemble.add_tree(logits)
                return torch.tensor(True)
            bias = ensemble.arrays(0, logits.size).values[0].copy()
            ensemble.set_bias(bias + logits)
            with np.errstate(all="ignore"):
                return torch.tensor(bool((np.abs(logits / bias) > _ENOUGH).any()))

    return run


# Asking ---------------------------------------------------------------------------------------


def _columns(features):
    return np.stack([to_array(feature) for feature in features])


@kernel("BoostedTreesPredict", devices=HOST, fresh=True)
def _(node):
    width = node.attrs["logits_dimension"]

    def run(ensemble, *features):
        columns = _columns(features)
        rows = np.arange(columns.shape[1])
        logits = np.zeros((len(rows), width), np.float32)
        with ensemble.lock:
            for number, weight in enumerate(ensemble.message.tree_weights):
                tree = ensemble.arrays(number, width)
                leaves = tree.leaves(np.zeros_like(rows), columns, rows)
                logits += np.float32(weight) * tree.values[leaves]
        return torch.from_numpy(logits)

    return run


@kernel("BoostedTreesTrainingPredict", devices=HOST, fresh=True)
def _(node):
    width = node.attrs["logits_dimension"]

    def run(ensemble, tree_ids, node_ids, *features):
        with ensemble.lock:
            count = ensemble.tree_count
            if not count:
                logits = torch.zeros(len(tree_ids), width)
                return logits, tree_ids.clone(), torch.zeros_like(node_ids)
            cached = to_array(tree_ids), to_array(node_ids)
            logits, nodes = _continued(ensemble, cached, _columns(features), width)
        latest = torch.full_like(tree_ids, count - 1)
        return torch.from_numpy(logits), latest, torch.from_numpy(nodes.astype(np.int32))

    return run


def _continued(ensemble, cached, columns, width):
    """What is new since examples came to the cached trees and nodes, and the last tree's leaves."""
    trees, nodes = cached
    logits = np.zeros((len(trees), width), np.float32)
    leaves = np.zeros(len(trees), np.int64)
    for number in range(int(trees.min(initial=0)), ensemble.tree_count):
        rows = np.flatnonzero(trees <= number)
        tree = ensemble.arrays(number, width)
        start, known = _starts(ensemble, number, trees[rows] == number, nodes[rows], width)
        leaves[rows] = tree.leaves(start, columns, rows)
        weight = np.float32(ensemble.message.tree_weights[number])
        logits[rows] += weight * (tree.values[leaves[rows]] + known)
    return logits, leaves


def _starts(ensemble, number, is_cached, nodes, width):
    """The nodes of a tree where examples go on, and what to add to their leaf's value.

    A cached node's value was counted before, so it is taken off. After pruning, the node is
    another one, and the value that was counted differs from that one's.
    """
    start = np.where(is_cached & (nodes >= 0), nodes, 0).astype(np.int64)
    known = np.zeros((len(start), width), np.float32)
    counted = np.flatnonzero(is_cached & (nodes >= 0))
    metadata = ensemble.message.tree_metadata[number]
    updates = metadata.post_pruned_nodes_meta
    if metadata.is_finalized and len(updates):
        for row in counted:
            update = updates[start[row]]
            start[row] = update.new_node_id
            known[row] = update.logit_change
    known[counted] -= ensemble.arrays(number, width).values[start[counted]]
    return start, known


@kernel("BoostedTreesExampleDebugOutputs", devices=HOST, fresh=True)
def _(node):
    if node.attrs["logits_dimension"] != 1:
        raise errors.InvalidArgumentError(
            None, None, "Currently only one dimensional outputs are supported."
        )

    def run(ensemble, *features):
        columns = _columns(features)
        outputs = np.empty(columns.shape[1], object)
        with ensemble.lock:
            for row in range(len(outputs)):
                outputs[row] = _path(ensemble, columns, row).SerializeToString()
        return outputs

    return run


def _path(ensemble, columns, row):
    """The features that decide about an example, and its logits after each decision."""
    weights = ensemble.message.tree_weights
    path = proto.DebugOutput()
    logit = np.float32(weights[0]) * ensemble.arrays(0, 1).values[0, 0]
    path.logits_path.append(logit)
    before = np.float32(0)
    at = np.array([row])
    for number, weight in enumerate(weights):
        tree = ensemble.arrays(number, 1)
        here = np.zeros(1, np.int64)
        while not tree.is_leaf[here[0]]:
            path.feature_ids.append(int(tree.feature[here[0]]))
            here = tree.children(here, columns, at)
            logit = np.float32(weight) * tree.values[here[0], 0]
            path.logits_path.append(logit + before)
        if number == 0 or here[0] > 0:  # a root alone says nothing, but the first one is the bias
            before += logit
    return path
