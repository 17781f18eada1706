"""Datasets that say how the pipeline before them is to run; their elements are its elements."""

from __future__ import annotations

from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.datasets.statistics import timed
from penstock.kernels.queues import place_of
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.sparse_rows import invalid
from penstock.state.datasets import Context, Dataset, Elements


@dataset_kernel(
    "OptionsDataset",
    "ModelDataset",
    "NonSerializableDataset",
    "ExperimentalNonSerializableDataset",
    "WrapDatasetVariant",
    "UnwrapDatasetVariant",
)
def _(node):
    return lambda source, *settings: source


@dataset_kernel("MaxIntraOpParallelismDataset", "ExperimentalMaxIntraOpParallelismDataset")
def _(node):
    def run(source, most):
        if int(most) < 0:
            raise invalid("`max_intra_op_parallelism` must be >= 0")
        return source  # kernels share the threads of the process

    return run


class _SourceDataset(Dataset):
    """A dataset whose elements are those of another."""

    def __init__(self, source):
        self._source = source

    @property
    def is_plain(self) -> bool:
        return self._source.is_plain

    def iterate(self, context: Context) -> Elements:
        return self._source.iterate(context)

    def cardinality(self) -> int:
        return self._source.cardinality()


# Threads ------------------------------------------------------------------------------------------


class ThreadPool:
    """How many threads the pipelines may have that use it."""

    def __init__(self, threads):
        if threads <= 0:
            raise invalid("`num_threads` must be greater than zero.")
        self.threads = threads


class _ThreadsDataset(_SourceDataset):
    """A dataset whose pipeline calls functions in at most so many threads."""

    def __init__(self, source, threads):
        super().__init__(source)
        self._threads = threads

    def iterate(self, context):
        return super().iterate(context.with_threads(self._threads))


@dataset_kernel("PrivateThreadPoolDataset", "ExperimentalPrivateThreadPoolDataset")
def _(node):
    def run(source, threads):
        if int(threads) < 1:
            raise invalid("`num_threads` must be >= 1")
        return _ThreadsDataset(source, int(threads))

    return run


@kernel("ThreadPoolHandle", "ExperimentalThreadPoolHandle", devices=HOST)
def _(node, env):
    resources, name = place_of(node, env)
    find, threads = resources.get_or_create, node.attrs["num_threads"]
    return lambda: find(ThreadPool, node.attrs["container"], name, lambda: ThreadPool(threads))


@dataset_kernel("ThreadPoolDataset", "ExperimentalThreadPoolDataset")
def _(node):
    return lambda source, pool: _ThreadsDataset(source, pool.threads)


# Rewritings ---------------------------------------------------------------------------------------


class _OptimizedDataset(_SourceDataset):
    """A dataset that is iterated as some of TensorFlow's rewritings ask for.

    Of those, three can be noticed: parallel parts may give results as they come, a shuffle and the
    repeat of it draw from one buffer, and statistics tell how long each part of the pipeline takes.
    Others change how fast the same elements come.
    """

    def __init__(self, source, rewritings):
        super().__init__(timed(source) if b"latency_all_edges" in rewritings else source)
        self._out_of_order = b"make_sloppy" in rewritings
        self._fuses_shuffles = b"shuffle_and_repeat_fusion" in rewritings
        if b"slack" in rewritings:
            _check_last_prefetch(source)

    def iterate(self, context):
        if self._out_of_order:
            context = context.without_order()
        if self._fuses_shuffles:
            context = context.with_fused_shuffles()
        return super().iterate(context)


#: What may follow the prefetch that is to have slack.
_AFTER_PREFETCH = {
    "CacheDataset",
    "ConcatenateDataset",
    "FilterDataset",
    "MapDataset",
    "MaxIntraOpParallelismDataset",
    "ModelDataset",
    "OptimizeDataset",
    "OptionsDataset",
    "ParallelMapDataset",
    "PrivateThreadPoolDataset",
    "RepeatDataset",
    "ShardDataset",
    "ShuffleAndRepeatDataset",
    "ShuffleDataset",
    "SkipDataset",
    "TakeDataset",
    "ZipDataset",
}


def _check_last_prefetch(dataset):
    """Refuses a pipeline that does not end with a prefetch, up to what keeps elements apart."""
    if dataset.recipe is None:
        return
    node, inputs, _ = dataset.recipe
    if node.type == "PrefetchDataset" and int(inputs[1]) != 0:
        return
    if node.type not in _AFTER_PREFETCH and node.type != "PrefetchDataset":
        raise invalid(
            f'Encountered unsupported op "{node.type}" when rewriting the input pipeline graph to '
            "use slack in its final prefetch transformation."
        )
    for each in inputs:
        if isinstance(each, Dataset):
            _check_last_prefetch(each)


@dataset_kernel("OptimizeDataset")
def _(node):
    return lambda source, rewritings: _OptimizedDataset(source, set(rewritings.reshape(-1)))
