"""Every op of datasets: which recorded pipeline has it, and that older ones do the same."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.data.dataset import from_variant
from penstock.ir import registry
from penstock.ops.datasets import iterators, rearranged, sources
from tests.data_pipelines.pipelines import PIPELINES, write_files
from tests.data_pipelines.running import plain

# Ops, and a pipeline that TensorFlow builds with them too.
IN_PIPELINES = {
    "BatchDatasetV2": "batched",
    "CSVDataset": "csv",
    "CacheDataset": "cached",
    "ConcatenateDataset": "ranges",
    "DenseToSparseBatchDataset": "sparse_batches",
    "DirectedInterleaveDataset": "chosen",
    "FilterDataset": "filtered",
    "FixedLengthRecordDatasetV2": "fixed_length_records",
    "FlatMapDataset": "flat_mapped",
    "GeneratorDataset": "generator",
    "ExperimentalGroupByReducerDataset": "reduced_by_key",
    "GroupByWindowDataset": "grouped",
    "IgnoreErrorsDataset": "without_failing_elements",
    "InterleaveDataset": "interleaved",
    "IteratorGetNext": "ranges",
    "IteratorToStringHandle": "ranges",
    "IteratorV2": "ranges",
    "MakeIterator": "ranges",
    "MapAndBatchDataset": "mapped_and_batched",
    "MapDataset": "mapped",
    "PaddedBatchDatasetV2": "padded",
    "ParallelInterleaveDataset": "interleaved_by_the_old_function",
    "ParallelInterleaveDatasetV2": "interleaved_in_parallel",
    "ParallelMapDataset": "mapped_in_parallel",
    "PrefetchDataset": "prefetched",
    "RandomDataset": "random_numbers",
    "RangeDataset": "ranges",
    "RepeatDataset": "repeated",
    "ScanDataset": "scanned",
    "ShardDataset": "sharded",
    "ShuffleAndRepeatDataset": "shuffled_and_repeated",
    "ShuffleDataset": "shuffled",
    "SkipDataset": "taken",
    "SparseTensorSliceDataset": "slices_of_a_sparse_tensor",
    "TFRecordDataset": "parsed_records",
    "TakeDataset": "taken",
    "TakeWhileDataset": "taken_while",
    "TensorDataset": "from_tensors",
    "TensorSliceDataset": "slices_of_a_list",
    "TextLineDataset": "text_lines",
    "UnbatchDataset": "unbatched",
    "UniqueDataset": "unique",
    "WindowDataset": "windows",
    "ZipDataset": "zipped",
}

# Other names of ops, with the same inputs.
OLDER = {
    "ExperimentalCSVDataset": "CSVDataset",
    "ExperimentalDenseToSparseBatchDataset": "DenseToSparseBatchDataset",
    "ExperimentalDirectedInterleaveDataset": "DirectedInterleaveDataset",
    "GroupByReducerDataset": "ExperimentalGroupByReducerDataset",
    "ExperimentalGroupByWindowDataset": "GroupByWindowDataset",
    "ExperimentalIgnoreErrorsDataset": "IgnoreErrorsDataset",
    "ExperimentalMapAndBatchDataset": "MapAndBatchDataset",
    "ExperimentalMapDataset": "MapDataset",
    "ExperimentalRandomDataset": "RandomDataset",
    "ExperimentalScanDataset": "ScanDataset",
    "ExperimentalTakeWhileDataset": "TakeWhileDataset",
    "ExperimentalUnbatchDataset": "UnbatchDataset",
    "ExperimentalUniqueDataset": "UniqueDataset",
    "Iterator": "IteratorV2",
    "IteratorGetNextSync": "IteratorGetNext",
}

NUMBERS = {"output_types": [tf.int64], "output_shapes": [[]]}


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def _graph_def(name, folder):
    with tf.Graph().as_default() as graph:
        PIPELINES[name](tf, folder).make_initializable_iterator().get_next()
    return graph.as_graph_def()


def _op_types(graph_def):
    bodies = [function.node_def for function in graph_def.library.function]
    return {node.op for nodes in (graph_def.node, *bodies) for node in nodes}


@pytest.mark.parametrize(("op", "name"), IN_PIPELINES.items())
def test_pipeline_has_the_op(op, name, tmp_path):
    write_files(tf, tmp_path)
    assert op in _op_types(_graph_def(name, tmp_path))


def _elements(graph_def):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        outputs = graph.get_operation_by_name("IteratorGetNext").outputs
        found = []
        with tf.Session() as sess:
            sess.run("MakeIterator")
            while len(found) < 30:
                try:
                    values = sess.run(outputs)
                except tf.errors.OutOfRangeError:
                    break
                variants = [output.dtype == tf.variant for output in outputs]
                found.append(
                    ["variant" if is_one else plain(value)
                     for is_one, value in zip(variants, values, strict=True)]
                )  # fmt: skip
        return found


@pytest.mark.parametrize(("older", "newer"), OLDER.items())
def test_older_op_does_the_same(older, newer, tmp_path):
    write_files(tf, tmp_path)
    graph_def = _graph_def(IN_PIPELINES[newer], tmp_path)
    expected = _elements(graph_def)
    known = registry.find(older).attrs
    renamed = [node for node in graph_def.node if node.op == newer]
    for node in renamed:
        node.op = older
        for key in [key for key in node.attr if key not in known and not key.startswith("_")]:
            del node.attr[key]
    assert renamed
    assert _elements(graph_def) == expected


def run_all(dataset):
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    found = []
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        while True:
            try:
                found.append(sess.run(element))
            except tf.errors.OutOfRangeError:
                return found


def numbers(variant):
    return from_variant(variant, tf.TensorSpec([], tf.int64))


@pytest.mark.parametrize(
    ("op", "settings", "attrs"),
    [
        ("OptionsDataset", [], {"serialized_options": ""}),
        ("OptimizeDataset", [["map_fusion"]], {}),
        ("ModelDataset", [], {}),
        ("MaxIntraOpParallelismDataset", [2], {}),
        ("ExperimentalMaxIntraOpParallelismDataset", [2], {}),
        ("PrivateThreadPoolDataset", [2], {}),
        ("ExperimentalPrivateThreadPoolDataset", [2], {}),
        ("AssertNextDataset", [["Range"]], {}),
        ("ExperimentalAssertNextDataset", [["Range"]], {}),
        ("NonSerializableDataset", [], {}),
        ("ExperimentalNonSerializableDataset", [], {}),
        ("SleepDataset", [1], {}),
        ("ExperimentalSleepDataset", [1], {}),
        ("AssertCardinalityDataset", [3], {}),
    ],
)
def test_same_elements(op, settings, attrs):
    source = tf.data.Dataset.range(3)._variant_tensor
    assert run_all(numbers(registry.find(op)(source, *settings, **attrs, **NUMBERS))) == [0, 1, 2]


def test_asserted_cardinality():
    source = tf.data.Dataset.range(3)._variant_tensor
    dataset = numbers(rearranged.AssertCardinalityDataset(source, 4, **NUMBERS))
    with pytest.raises(tf.errors.FailedPreconditionError, match="expected to contain 4 elements"):
        run_all(dataset)


def test_batches():
    source = tf.data.Dataset.range(5)._variant_tensor
    spec = tf.TensorSpec([None], tf.int64)
    attrs = {"output_types": [tf.int64], "output_shapes": [[None]]}
    plain_batches = from_variant(rearranged.BatchDataset(source, 2, **attrs), spec)
    assert [batch.tolist() for batch in run_all(plain_batches)] == [[0, 1], [2, 3], [4]]
    no_shape = tf.constant([], tf.int64)
    padded = rearranged.PaddedBatchDataset(
        source, 2, [no_shape], [tf.constant(0, tf.int64)], output_shapes=[[None]]
    )
    batches = run_all(from_variant(padded, spec))
    assert [batch.tolist() for batch in batches] == [[0, 1], [2, 3], [4]]
    for op in ("SlidingWindowDataset", "ExperimentalSlidingWindowDataset"):
        windows = from_variant(registry.find(op)(source, 3, 1, 1, **attrs), spec)
        assert [window.tolist() for window in run_all(windows)] == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]


@pytest.mark.parametrize(
    ("op", "settings"),
    [
        ("ParallelInterleaveDataset", [2, 1, False, 1, 1]),
        ("ExperimentalParallelInterleaveDataset", [2, 1, False, 1, 1]),
        ("ParallelInterleaveDatasetV2", [2, 1, 2]),
        ("ParallelInterleaveDatasetV3", [2, 1, 2]),
        ("ParallelInterleaveDatasetV4", [2, 1, -1, -1, 2]),
        ("LegacyParallelInterleaveDatasetV2", [2, 1, 1, 1]),
    ],
)
def test_interleaving(op, settings):
    dataset = tf.data.Dataset.range(1, 4).interleave(
        lambda n: tf.data.Dataset.from_tensors(n).repeat(n), cycle_length=2
    )
    node = dataset._variant_tensor.op
    older = registry.find(op)(node.inputs[0], [], *settings, f=node.attrs["f"], **NUMBERS)
    assert run_all(numbers(older)) == run_all(dataset) == [1, 2, 2, 3, 3, 3]


@pytest.mark.parametrize("op", ["ParallelMapDataset", "ParallelMapDatasetV2"])
def test_parallel_map(op):
    dataset = tf.data.Dataset.range(4).map(lambda n: n + 1)
    node = dataset._variant_tensor.op
    other = registry.find(op)(node.inputs[0], [], 2, f=node.attrs["f"], **NUMBERS)
    assert run_all(numbers(other)) == [1, 2, 3, 4]


@pytest.mark.parametrize("prefix", ["", "Experimental"])
def test_thread_pools(prefix):
    """ThreadPoolHandle, ExperimentalThreadPoolHandle, ThreadPoolDataset,
    ExperimentalThreadPoolDataset."""
    source = tf.data.Dataset.range(3)._variant_tensor
    pool = registry.find(f"{prefix}ThreadPoolHandle")(num_threads=2, display_name="two")
    dataset = registry.find(f"{prefix}ThreadPoolDataset")(source, pool, **NUMBERS)
    assert run_all(numbers(dataset)) == [0, 1, 2]


@pytest.mark.parametrize("op", ["ParseExampleDataset", "ExperimentalParseExampleDataset"])
def test_parsed_examples(op):
    texts = tf.data.Dataset.from_tensors(["", ""])._variant_tensor
    parsed = registry.find(op)(
        texts,
        2,
        [tf.constant(7, tf.int64)],
        sparse_keys=[],
        dense_keys=["a"],
        sparse_types=[],
        dense_shapes=[[]],
        output_types=[tf.int64],
        output_shapes=[[2]],
    )
    (found,) = run_all(from_variant(parsed, tf.TensorSpec([2], tf.int64)))
    assert found.tolist() == [7, 7]


def test_files(tmp_path):
    write_files(tf, tmp_path)
    spec = tf.TensorSpec([], tf.string)
    records = sources.FixedLengthRecordDataset(str(tmp_path / "fixed.bin"), 2, 3, 1, 0)
    assert run_all(from_variant(records, spec)) == [b"aaa", b"bbb", b"ccc"]
    for op in ("MatchingFilesDataset", "ExperimentalMatchingFilesDataset"):
        names = run_all(from_variant(registry.find(op)([str(tmp_path / "*.txt")]), spec))
        assert [name.decode()[-5:] for name in names] == ["a.txt", "b.txt"]
    words = tf.data.Dataset.from_tensor_slices(["x", "y"])._variant_tensor
    for op in ("DatasetToTFRecord", "ExperimentalDatasetToTFRecord"):
        path = str(tmp_path / op)
        with tf.Session() as sess:
            sess.run(registry.find(op)(words, path, ""))
        assert run_all(tf.data.TFRecordDataset(path)) == [b"x", b"y"]


def test_anonymous_iterators():
    dataset = tf.data.Dataset.range(2)._variant_tensor
    handle, deleter = iterators.AnonymousIteratorV2(**NUMBERS)
    with tf.control_dependencies([iterators.MakeIterator(dataset, handle)]):
        (first,) = iterators.IteratorGetNext(handle, **NUMBERS)
    with tf.control_dependencies([first]):
        delete = iterators.DeleteIterator(handle, deleter)
    alone = iterators.AnonymousIterator(**NUMBERS)
    with tf.control_dependencies([iterators.MakeIterator(dataset, alone)]):
        (other,) = iterators.IteratorGetNext(alone, **NUMBERS)
    with tf.Session() as sess:
        assert sess.run([first, delete]) == [0, None]
        assert sess.run(other) == 0


def test_handles():
    iterator = tf.data.Dataset.range(3).make_initializable_iterator()
    handle = tf.placeholder(tf.string, [])
    same = iterators.IteratorFromStringHandle(handle, output_types=[tf.int64])
    newer = iterators.IteratorFromStringHandleV2(handle, output_types=[tf.int64])
    devices = [
        op(iterator._iterator_resource)
        for op in (iterators.IteratorGetDevice, iterators.ExperimentalIteratorGetDevice)
    ]
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        text = sess.run(iterator.string_handle())
        elements = [iterators.IteratorGetNext(each, **NUMBERS) for each in (same, newer)]
        assert [sess.run(element, {handle: text}) for element in elements] == [[0], [1]]
        assert all(name.endswith(b"CPU:0") for name in sess.run(devices))


def test_one_shot_and_whole_datasets():
    """OneShotIterator, ReduceDataset, DatasetToSingleElement, DatasetCardinality, optionals
    (OptionalFromValue, OptionalNone, OptionalHasValue, OptionalGetValue,
    IteratorGetNextAsOptional), SerializeIterator and DeserializeIterator have tests of their own.
    """
    dataset = tf.data.Dataset.range(3)
    wrapped = iterators.UnwrapDatasetVariant(iterators.WrapDatasetVariant(dataset._variant_tensor))
    size = iterators.ExperimentalDatasetCardinality(wrapped)
    with tf.Session() as sess:
        assert sess.run(size) == 3
    assert run_all(numbers(wrapped)) == [0, 1, 2]
