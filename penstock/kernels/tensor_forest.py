"""Kernels of random forests, on the host: trees grow from streams of examples."""

import numpy as np
import torch

from penstock import errors, proto
from penstock.kernels.hashes import farmhash, hash_strings
from penstock.kernels.registry import HOST, Constant, kernel
from penstock.kernels.values import to_array
from penstock.state.decision_tree import DecisionTree, FertileStatistics, LeafStatistics, at_depth


def _params(node):
    given = node.attrs["params"]
    return proto.TensorForestParams.FromString(
        given if isinstance(given, bytes) else given.encode("latin1")
    )


def _matrix(dense, indices, values, shape):
    """The features of examples as one array, those that are given sparsely after the others."""
    dense = to_array(dense)
    sizes = to_array(shape)
    if sizes.size < 2:
        return dense.reshape(len(dense), -1), None
    rows = int(sizes[0])
    sparse = np.zeros((rows, int(sizes[1])), np.float32)
    places = to_array(indices)
    sparse[places[:, 0], places[:, 1]] = to_array(values)
    if dense.ndim < 2:
        return sparse, 0
    return np.concatenate([dense, sparse], axis=1), dense.shape[1]


def _is_strict(params):
    return params.inequality_test_type == proto.InequalityTest.LESS_THAN


def _handle(kind):
    def factory(node, env):
        name = node.attrs["shared_name"] or node.name
        find = env.resources.get_or_create
        return Constant(find(kind, node.attrs["container"], name, lambda: kind(name)))

    return factory


kernel("DecisionTreeResourceHandleOp", devices=HOST)(_handle(DecisionTree))
kernel("FertileStatsResourceHandleOp", devices=HOST)(_handle(FertileStatistics))


@kernel("TreeIsInitializedOp", "FertileStatsIsInitializedOp", devices=HOST, fresh=True)
def _(node):
    return lambda resource: torch.tensor(resource.is_created)


@kernel("CreateTreeVariable", "TreeDeserialize", devices=HOST)
def _(node):
    params = _params(node)
    creates = node.type == "CreateTreeVariable"

    def run(tree, config):
        with tree.lock:
            if not (creates and tree.is_created):
                tree.create(config.item(), params.num_outputs)

    return run


@kernel("CreateFertileStatsVariable", "FertileStatsDeserialize", devices=HOST)
def _(node):
    creates = node.type == "CreateFertileStatsVariable"

    def run(stats, config):
        with stats.lock:
            if not (creates and stats.is_created):
                stats.create(config.item())

    return run


def _text(value):
    result = np.empty((), object)
    result[()] = value
    return result


@kernel("TreeSerialize", devices=HOST, fresh=True)
def _(node):
    def run(tree):
        with tree.lock:
            return _text(_created(tree).serialized())

    return run


@kernel("FertileStatsSerialize", devices=HOST, fresh=True)
def _(node):
    params = _params(node)

    def run(stats):
        with stats.lock:
            kept = params.checkpoint_stats
            return _text(stats.serialized(_is_strict(params)) if kept else b"")

    return run


def _created(tree):
    if not tree.is_created:
        message = f"The tree {tree.name} has not been initialized."
        raise errors.FailedPreconditionError(None, None, message)
    return tree


@kernel("TreeSize", devices=HOST, fresh=True)
def _(node):
    def run(tree):
        with tree.lock:
            return torch.tensor(len(_created(tree)), dtype=torch.int32)

    return run


@kernel("FeatureUsageCounts", devices=HOST, fresh=True)
def _(node):
    count = _params(node).num_features

    def run(tree):
        with tree.lock:
            used = np.array([each for each in _created(tree).feature if each >= 0], np.int64)
        return torch.from_numpy(np.bincount(used, minlength=count).astype(np.int32))

    return run


@kernel("TraverseTreeV4", devices=HOST, fresh=True)
def _(node):
    def run(tree, *data):
        examples, _ = _matrix(*data)
        with tree.lock:
            return torch.from_numpy(_created(tree).leaves(examples))

    return run


@kernel("TreePredictionsV4", devices=HOST, fresh=True)
def _(node):
    params = _params(node)

    def run(tree, *data):
        examples, _ = _matrix(*data)
        with tree.lock:
            leaves = _created(tree).leaves(examples)
            seen, places = np.unique(leaves, return_inverse=True)
            values = np.array([tree.values[leaf] for leaf in seen], np.float32)
            values = values.reshape(len(seen), params.num_outputs)
            paths = np.empty(0, object)
            if params.inference_tree_paths:
                paths = np.array([tree.path_to(leaf) for leaf in seen], object)[places]
        if not params.is_regression:
            sums = values.sum(1, keepdims=True)
            values = np.divide(values, sums, out=values, where=sums > 0)
        return torch.from_numpy(values[places.reshape(-1)]), paths

    return run


@kernel("UpdateModelV4", devices=HOST)
def _(node):
    params = _params(node)

    def run(tree, leaves, labels, weights):
        if params.is_regression:
            return  # a mean is known when a leaf is split, not before
        labels = to_array(labels).reshape(len(leaves), -1)[:, 0].astype(np.int64)
        with tree.lock:
            _created(tree).count(to_array(leaves), labels, _weights(weights, len(labels)))

    return run


def _weights(weights, count):
    given = to_array(weights).reshape(-1)
    return given if given.size else np.ones(count, np.float32)


def _sums(labels, weights, params):
    """What each example adds to sums, as rows (see LeafStatistics)."""
    count = len(weights)
    if params.is_regression:
        numbers = labels.reshape(count, -1).astype(np.float64)
        rows = np.concatenate([np.ones((count, 1)), numbers, numbers**2], axis=1)
        return rows * weights[:, None]
    rows = np.zeros((count, params.num_outputs))
    rows[np.arange(count), labels.reshape(count, -1)[:, 0].astype(np.int64)] = weights
    return rows


@kernel("ProcessInputV4", devices=HOST, fresh=True)
def _(node):
    params = _params(node)
    seed = node.attrs["random_seed"]
    random = np.random.default_rng(seed or None)

    def run(tree, stats, dense, indices, values, shape, labels, weights, leaf_ids):
        examples, first_sparse = _matrix(dense, indices, values, shape)
        leaves = to_array(leaf_ids)
        sums = _sums(to_array(labels), _weights(weights, len(leaves)), params)
        finished = []
        with tree.lock, stats.lock:
            for leaf in np.unique(leaves).tolist():
                kept = stats.of_leaf.setdefault(leaf, LeafStatistics())
                here = np.flatnonzero(leaves == leaf)
                wanted = int(at_depth(params.num_splits_to_consider, tree.depth[leaf]))
                new = here[: max(wanted - len(kept.features), 0)]
                _add_candidates(kept, examples[new], first_sparse, random)
                here = here[len(new) :]
                if len(here) and kept.features:
                    kept.add(examples[here], sums[here], _is_strict(params))
                    if _is_finished(kept, params, tree.depth[leaf]):
                        finished.append(leaf)
        return torch.tensor(finished, dtype=torch.int32)

    return run


def _add_candidates(kept, examples, first_sparse, random):
    """A split at the value of a random feature, for each example."""
    for example in examples:
        columns = len(example)
        if first_sparse is not None:  # of those given sparsely, only those that it has
            given = first_sparse + np.flatnonzero(example[first_sparse:])
            choice = np.concatenate([np.arange(first_sparse), given])
            columns = choice if len(choice) else columns
        feature = int(random.choice(columns))
        kept.features.append(feature)
        kept.thresholds.append(float(example[feature]))


def _is_finished(kept, params, depth):
    enough = at_depth(params.split_after_samples, depth)
    if params.is_regression:
        return kept.total[0] >= enough
    return kept.total.sum() >= enough and np.count_nonzero(kept.total) > 1


def _leaf_values(sums, params):
    """What a leaf says for the sums of its examples: counts of classes, or means."""
    if not params.is_regression:
        return sums.astype(np.float32)
    return (sums[1 : 1 + params.num_outputs] / max(sums[0], 1e-12)).astype(np.float32)


@kernel("GrowTreeV4", devices=HOST)
def _(node):
    params = _params(node)

    def run(tree, stats, finished):
        with tree.lock, stats.lock:
            for leaf in to_array(finished).tolist():
                if len(tree) + 2 > params.max_nodes:
                    return
                kept = stats.of_leaf.pop(leaf, None)
                best = None if kept is None else kept.best(params.is_regression)
                if best is None:
                    continue
                sides = (kept.left[best], kept.total - kept.left[best])
                tree.split(
                    leaf,
                    kept.features[best],
                    kept.thresholds[best],
                    _is_strict(params),
                    [_leaf_values(side, params) for side in sides],
                )

    return run


@kernel("FinalizeTree", devices=HOST)
def _(node):
    params = _params(node)

    def run(tree, stats):
        with tree.lock, stats.lock:
            for leaf, kept in stats.of_leaf.items():
                if kept.total is not None and params.is_regression:
                    tree.values[leaf] = _leaf_values(kept.total, params)

    return run


@kernel("ReinterpretStringToFloat", devices=HOST, fresh=True)
def _(node):
    def run(texts):
        hashes = hash_strings(farmhash, texts.reshape(-1).tolist())
        return torch.from_numpy(hashes.astype(np.float32).reshape(texts.shape))

    return run
