"""Every n-th element of a dataset; and pipelines of which each of n workers reads its share."""

from __future__ import annotations

from penstock.kernels.datasets.recipes import called_bodies, dataset_kernel
from penstock.kernels.sparse_rows import invalid
from penstock.state.datasets import Dataset, DerivedDataset, UnaryElements


class _Shard(UnaryElements):
    def __init__(self, source, shards, index, all_have_some):
        super().__init__(source)
        self._before, self._after = index, shards - 1 - index
        self._pending = self._before
        self._unchecked = all_have_some

    def next(self):
        source_next = self._source.next
        for _ in range(self._pending):
            if source_next() is None:
                return None
        self._pending = self._after + self._before
        element = source_next()
        if self._unchecked and element is not None:
            self._check_others()
        return element

    def _check_others(self):
        """Sees to it that there is an element for each shard behind this one, too."""
        self._unchecked = False
        for others in range(self._after):
            if self._source.next() is None:
                elements, shards = self._before + 1 + others, self._before + 1 + self._after
                raise invalid(
                    "There aren't enough elements in this dataset for each shard to have at least "
                    f"one element (# elems = {elements}, # shards = {shards}). If you are using "
                    "datasets with distribution strategy, consider turning dataset autosharding "
                    "off with `tf.data.Options`."
                )
        self._pending = self._before

    def save(self):
        return [self._pending, self._unchecked, self._source.save()]

    def restore(self, state):
        self._pending, self._unchecked, source = state
        self._source.restore(source)


def _shard(source, shards, index, all_have_some=False):
    """Every element of the source whose number modulo `shards` is `index`."""

    def cardinality(of_source):
        return of_source if of_source < 0 else (of_source - index + shards - 1) // shards

    def make(elements, _):
        return _Shard(elements, shards, index, all_have_some)

    return DerivedDataset(source, make, cardinality)


@dataset_kernel("ShardDataset")
def _(node):
    def run(source, shards, index):
        shards, index = int(shards), int(index)
        if shards <= 0:
            raise invalid(
                f"Number of shards must be greater than zero (currently num_shards = {shards})."
            )
        if not 0 <= index < shards:
            raise invalid(f"Index must be between 0 and {shards - 1} (currently index = {index}).")
        return _shard(source, shards, index, node.attrs["require_non_empty"])

    return run


# A share of the files for each worker -------------------------------------------------------------

_READERS = {
    "FixedLengthRecordDataset",
    "FixedLengthRecordDatasetV2",
    "TFRecordDataset",
    "TextLineDataset",
}
_OF_SEVERAL = {"ConcatenateDataset", "ZipDataset"}
_MAKING_DATASETS = {
    "ExperimentalParallelInterleaveDataset",
    "FlatMapDataset",
    "InterleaveDataset",
    "LegacyParallelInterleaveDatasetV2",
    "ParallelInterleaveDataset",
    "ParallelInterleaveDatasetV2",
}
_OF_ONE = {
    "BatchDataset",
    "BatchDatasetV2",
    "CacheDataset",
    "ExperimentalMapAndBatchDataset",
    "FilterDataset",
    "MapAndBatchDataset",
    "MapDataset",
    "MaxIntraOpParallelismDataset",
    "ModelDataset",
    "OptimizeDataset",
    "OptionsDataset",
    "PaddedBatchDataset",
    "PaddedBatchDatasetV2",
    "ParallelMapDataset",
    "PrefetchDataset",
    "PrivateThreadPoolDataset",
    "RepeatDataset",
    "ShardDataset",
    "ShuffleAndRepeatDataset",
    "ShuffleDataset",
    "SkipDataset",
    "TakeDataset",
    "WindowDataset",
}


def _with_share_of_files(dataset, share):
    """The pipeline with a share of the files that it reads, None where it reads none.

    Files are read by a dataset that is made of each file's name; so the names are shared out. What
    is between there and the end must not care which of the elements come.
    """
    if dataset.recipe is None:
        return None
    node, (source, *others), make = dataset.recipe
    if node.type in _OF_SEVERAL:
        parts = [_with_share_of_files(each, share) for each in dataset.recipe.inputs]
        return None if None in parts else make(*parts)
    if node.type in _MAKING_DATASETS and _reads_files(node):
        return make(_shared_names(source, share), *others)
    if node.type not in _OF_ONE:
        return None
    part = _with_share_of_files(source, share)
    return None if part is None else make(part, *others)


def _reads_files(node):
    """Whether a function that a node calls makes a dataset of the contents of a file."""
    bodies = called_bodies(node)
    return any(op.type in _READERS for body in bodies for op in body.get_operations())


def _shared_names(names, share):
    """A share of the files; they are shuffled afterwards, where the order must not depend on it."""
    unshuffled, shuffle = _without_shuffle(names)
    shared = share(unshuffled)
    return shared if shuffle is None else shuffle.make(shared, *shuffle.inputs[1:])


def _without_shuffle(dataset):
    """The dataset without the last shuffle in it, and that shuffle's recipe, if there is one."""
    recipe = dataset.recipe
    if recipe is None or not recipe.inputs or not isinstance(recipe.inputs[0], Dataset):
        return dataset, None
    source, *others = recipe.inputs
    if recipe.node.type == "ShuffleDataset":
        return source, recipe
    unshuffled, shuffle = _without_shuffle(source)
    return (dataset, None) if shuffle is None else (recipe.make(unshuffled, *others), shuffle)


@dataset_kernel("AutoShardDataset", "ExperimentalAutoShardDataset")
def _(node):
    def run(source, workers, index):
        workers, index = int(workers), int(index)
        if workers <= 0:
            raise invalid("num_workers must be greater than zero.")
        if not 0 <= index < workers:
            raise invalid(f"index must be between 0 and {workers - 1}")
        found = _with_share_of_files(source, lambda names: _shard(names, workers, index))
        return _shard(source, workers, index, all_have_some=True) if found is None else found

    return run
