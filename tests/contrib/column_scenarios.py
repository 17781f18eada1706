"""Models of tf.contrib.layers' feature columns, built alike by TensorFlow 1.15 and Penstock.

A scenario gives tensors by name; nothing in it is random. Written for Python 3.7 too.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import numpy as np


def numbers(*shape: int) -> np.ndarray:
    """Fixed numbers without a pattern, between -1 and 1."""
    return np.sin(np.arange(np.prod(shape), dtype=np.float64) * 1.7 + 0.3).reshape(shape)


def varied(tf: Any) -> Any:
    """An initializer whose values differ from place to place."""

    def initialize(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return tf.constant(numbers(*[int(size) for size in shape]), dtype or tf.float32)

    return initialize


def set_weights(tf: Any) -> list:
    """Gives all variables, which are zeros in linear models, values that differ."""
    return [
        tf.assign(variable, tf.constant(numbers(*variable.shape.as_list()), tf.float32))
        for variable in tf.global_variables()
    ]


def sparse(tf: Any, indices: Any, values: Any, shape: Any, dtype: Any = None) -> Any:
    """A sparse tensor whose values are not known before they are computed, as in programs."""
    fed = tf.placeholder_with_default(np.array(indices, np.int64), np.shape(indices))
    return tf.SparseTensor(fed, tf.constant(values, dtype), shape)


def words(tf: Any) -> Any:
    places = [[0, 0], [0, 1], [1, 0], [3, 0], [3, 2]]
    return sparse(tf, places, ["marlo", "omar", "stringer", "omar", "avon"], [4, 3])


def ids(tf: Any) -> Any:
    return sparse(tf, [[0, 0], [1, 0], [1, 1], [2, 0]], [7, 3, 12, 0], [4, 2], tf.int64)


def features(tf: Any) -> dict:
    return {
        "word": words(tf),
        "id": ids(tf),
        "weight": tf.SparseTensor(words(tf).indices, [1.0, 2.0, -1.0, 0.5, 4.0], [4, 3]),
        "count": tf.SparseTensor(ids(tf).indices, tf.constant([3, 0, 1, 2], tf.int64), [4, 2]),
        "price": tf.constant(3 * numbers(4, 2), tf.float32),
        "age": tf.constant([[5], [20], [33], [70]], tf.int64),
        "dense_word": tf.constant([["a"], [""], ["b"], ["c"]]),
    }


def columns(tf: Any) -> dict:
    layers = tf.contrib.layers
    word = layers.sparse_column_with_hash_bucket("word", 10)
    keys = layers.sparse_column_with_keys("word", ["omar", "marlo", "avon"], combiner="mean")
    number = layers.sparse_column_with_integerized_feature("id", 10)
    age = layers.bucketized_column(
        layers.real_valued_column("age", dtype=tf.int64), [18, 30, 30, 65]
    )
    price = layers.real_valued_column("price", 2, normalizer=lambda x: x / 2.0)
    prices = layers.bucketized_column(layers.real_valued_column("price", 2), [-1.0, 0.0, 1.5])
    crossed = layers.crossed_column([word, age], 50)
    return {
        "word": word,
        "keys": keys,
        "number": number,
        "age": age,
        "price": price,
        "prices": prices,
        "crossed": crossed,
        "crossed_by_key": layers.crossed_column(
            [layers.sparse_column_with_keys("word", ["a"]), number, prices],
            1000,
            hash_key=layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY,
        ),
        "crossed_twice": layers.crossed_column([crossed, number], 200, combiner="sqrtn"),
        "several_hashes": layers.sparse_column_with_hash_bucket(
            "word", 10, combiner="sqrtn", hash_keys=[[1, 2], [3, 4]]
        ),
        "hashed_ids": layers.sparse_column_with_hash_bucket("id", 7, dtype=tf.int64),
        "dense_word": layers.sparse_column_with_hash_bucket("dense_word", 6),
        "weighted": layers.weighted_sparse_column(word, "weight"),
        "weighted_keys": layers.weighted_sparse_column(keys, "weight"),
        "counted": layers.weighted_sparse_column(number, "count", dtype=tf.int64),
    }


def linear(*names: str, **options: Any) -> Any:
    def build(tf: Any) -> dict:
        known = columns(tf)
        model = tf.contrib.layers.weighted_sum_from_feature_columns
        logits, variables, bias = model(features(tf), [known[name] for name in names], 3, **options)
        assert [type(of_column) for of_column in variables.values()] == [list] * len(names)
        return {"logits": logits, "bias": bias, "before": set_weights(tf)}

    return build


def joint(*names: str) -> Any:
    def build(tf: Any) -> dict:
        known = columns(tf)
        logits, _, _ = tf.contrib.layers.joint_weighted_sum_from_feature_columns(
            features(tf), [known[name] for name in names], 2
        )
        return {"logits": logits, "before": set_weights(tf)}

    return build


def embedded(tf: Any, name: str, **options: Any) -> Any:
    options.setdefault("initializer", varied(tf))
    return tf.contrib.layers.embedding_column(columns(tf)[name], **options)


def network(make: Any, **options: Any) -> Any:
    def build(tf: Any) -> dict:
        parts = {}
        chosen = make(tf, columns(tf), tf.contrib.layers)
        layer = tf.contrib.layers.input_from_feature_columns(
            features(tf), chosen, cols_to_outs=parts, **options
        )
        found = {"layer": layer}
        found.update({column.name: part for column, part in parts.items()})
        return found

    return build


def shared(tf: Any, known: dict, layers: Any) -> Any:
    other = layers.sparse_column_with_hash_bucket("dense_word", 10)
    return list(
        layers.shared_embedding_columns(
            [known["word"], other, known["weighted"]], 4, initializer=varied(tf)
        )
    )


def scattered(tf: Any, known: dict, layers: Any) -> Any:
    key = layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
    return [
        layers.scattered_embedding_column("word", 30, 4, key, combiner=each, initializer=varied(tf))
        for each in ("mean", "sum", "sqrtn")
    ]


def sequence(tf: Any) -> dict:
    layers = tf.contrib.layers
    steps = tf.SparseTensor(
        [[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]], ["a", "b", "a", "c"], [2, 2, 2]
    )
    flat = tf.SparseTensor([[0, 0], [1, 1]], tf.constant([2, 1], tf.int64), [2, 2])
    letters = layers.sparse_column_with_keys("steps", ["a", "b", "c"])
    chosen = [
        layers.real_valued_column("x", 3),
        layers.embedding_column(letters, 2, initializer=varied(tf)),
        layers.one_hot_column(layers.sparse_column_with_integerized_feature("flat", 3)),
    ]
    given = {"steps": steps, "flat": flat, "x": tf.constant(numbers(2, 2, 3), tf.float32)}
    return {"layer": layers.sequence_input_from_feature_columns(given, chosen)}


def example(tf: Any, **values: Any) -> bytes:
    def feature(value: Any) -> Any:
        if isinstance(value[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
        if isinstance(value[0], float):
            return tf.train.Feature(float_list=tf.train.FloatList(value=value))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=value))

    found = {key: feature(value) for key, value in values.items()}
    return tf.train.Example(features=tf.train.Features(feature=found)).SerializeToString()


def parsed(tf: Any) -> dict:
    layers = tf.contrib.layers
    word = layers.sparse_column_with_hash_bucket("word", 10)
    price = layers.real_valued_column("price", 2, default_value=[1.0, 2])
    age = layers.bucketized_column(layers.real_valued_column("age", default_value=40), [18, 30, 65])
    chosen = [layers.crossed_column([word, age], 30), price, age, layers.one_hot_column(word)]
    serialized = [
        example(tf, word=[b"omar", b"avon"], price=[1.5, 2.5], age=[20.0]),
        example(tf, word=[b"marlo"]),
    ]
    tensors = layers.parse_feature_columns_from_examples(serialized, chosen)
    found = {
        str(key if isinstance(key, str) else key.name): value for key, value in tensors.items()
    }
    layer = layers.input_from_feature_columns(tensors, chosen[1:])
    return {
        "layer": layer,
        "crossed": found["age_bucketized_X_word"].values,
        "price": found["price"],
    }


def parsed_sequence(tf: Any) -> dict:
    layers = tf.contrib.layers
    steps = [tf.train.Feature(int64_list=tf.train.Int64List(value=[n])) for n in (4, 5, 6)]
    serialized = tf.train.SequenceExample(
        context=tf.train.Features(
            feature={"age": tf.train.Feature(float_list=tf.train.FloatList(value=[3.0]))}
        ),
        feature_lists=tf.train.FeatureLists(
            feature_list={"id": tf.train.FeatureList(feature=steps)}
        ),
    ).SerializeToString()
    age, number = layers.real_valued_column("age"), layers.real_valued_column("id", dtype=tf.int64)
    context, sequences = layers.parse_feature_columns_from_sequence_examples(
        serialized, [age], [number]
    )
    return {"age": context["age"], "id": sequences["id"]}


def transformed(tf: Any) -> dict:
    known = columns(tf)
    chosen = [known[name] for name in ("age", "price", "weighted", "counted", "hashed_ids")]
    found = tf.contrib.layers.transform_features(features(tf), chosen)
    result = {}
    for column, tensor in found.items():
        parts = tensor if isinstance(tensor, tuple) else (tensor,)
        for place, part in enumerate(parts):
            values = part.values if isinstance(part, tf.SparseTensor) else part
            result[f"{column.name}_{place}"] = values
    return result


def vocabulary(tf: Any) -> dict:
    layers = tf.contrib.layers
    path = os.path.join(tempfile.mkdtemp(), "words")
    with open(path, "w") as file:
        file.write("omar\nstringer\nmarlo\n7\n12\n")
    result = {}
    for name, column, options in (
        ("plain", "word", {}),
        ("buckets", "word", {"num_oov_buckets": 4}),
        ("default", "word", {"default_value": 2}),
        ("short", "word", {"vocab_size": 2}),
        ("ids", "id", {"dtype": tf.int64}),
    ):
        options.setdefault("vocab_size", 5)
        made = layers.sparse_column_with_vocabulary_file(column, path, **options)
        layer = layers.input_from_feature_columns(features(tf), [layers.one_hot_column(made)])
        result[name] = layer
    return result


def core_layers(tf: Any) -> dict:
    """The functions of tf.feature_column take these columns too."""
    known = columns(tf)
    layers = tf.contrib.layers
    embedding = layers.embedding_column(known["keys"], 3, initializer=varied(tf))
    dense = [embedding, layers.one_hot_column(known["number"]), known["prices"], known["price"]]
    layer = tf.feature_column.input_layer(features(tf), dense)
    logits = tf.feature_column.linear_model(
        features(tf), [known["word"], known["weighted_keys"], known["age"], known["crossed"]], 2
    )
    return {"layer": layer, "logits": logits, "before": set_weights(tf)}


def lookups(tf: Any) -> dict:
    from importlib import import_module

    ops = import_module(tf.__name__ + ".contrib.layers.python.layers.embedding_ops")
    vector = tf.constant(numbers(20), tf.float32)
    parts = [tf.constant(numbers(4), tf.float32), tf.constant(numbers(3), tf.float32)]
    table = tf.constant(numbers(10, 3), tf.float32)
    holed = sparse(tf, [[0, 0], [0, 1], [2, 0]], [1, 5, 3], [4, 2], tf.int64)
    filled = sparse(tf, [[0, 0], [0, 1], [1, 0]], [1, 5, 3], [2, 2], tf.int64)
    weights = tf.SparseTensor(filled.indices, [1.0, 3.0, 2.0], [2, 2])
    places = tf.constant([[[0, 3]], [[1, 2]], [[4, 4]]])[:, 0]
    scattered = ops._sampled_scattered_embedding_lookup
    aggregated = ops.embedding_lookup_sparse_with_distributed_aggregation
    return {
        "scattered": ops.scattered_embedding_lookup(vector, tf.constant([["a"], ["b"]]), 5),
        "of_parts": ops.scattered_embedding_lookup(parts, tf.constant([1, 2, 3]), 4, hash_key=9),
        "sparse": ops.scattered_embedding_lookup_sparse(vector, holed, 3, combiner="sum"),
        "words": ops.scattered_embedding_lookup_sparse(vector, words(tf), 3, combiner="mean"),
        "sampled": scattered(vector, tf.constant([7, 8, 9]), sampled_candidates=places),
        "signed": ops._sampled_scattered_embedding_lookup_sparse(
            vector, filled, dimension=3, with_sign_hash=True
        ),
        "unique": ops.embedding_lookup_unique(table, tf.constant([[1, 3], [3, 9]])),
        "sum": aggregated(table, filled, None, combiner="sum"),
        "mean": aggregated([table, table], filled, weights, combiner="mean"),
        "sqrtn": aggregated(table, filled, weights, combiner="sqrtn", max_norm=1.0),
        "safe": ops.safe_embedding_lookup_sparse(table, holed, combiner="sqrtn"),
        "default": ops.safe_embedding_lookup_sparse(table, holed, combiner="mean", default_id=4),
    }


def targets(tf: Any) -> dict:
    layers = tf.contrib.layers
    logits, many = tf.constant(numbers(4, 1), tf.float32), tf.constant(numbers(4, 3), tf.float32)
    weights = {"w": tf.constant([[1.0], [2.0], [0.0], [1.0]])}
    regression = layers.regression_target(weight_column_name="w")
    binary = layers.multi_class_target(2)
    classes = layers.multi_class_target(3, weight_column_name="w")
    labels = tf.constant([[0], [1], [2], [1]])
    two = tf.constant([[0], [1], [1], [0]])
    return {
        "regression": regression.training_loss(logits, labels, weights),
        "weighted": regression.loss(logits, labels, weights),
        "numbers": regression.logits_to_predictions(logits),
        "binary": binary.loss(logits, two, {}),
        "probabilities": binary.logits_to_predictions(logits, proba=True),
        "classes": classes.loss(many, labels, weights),
        "of_classes": classes.logits_to_predictions(many),
        "auc": binary.get_eval_ops({}, logits, two)["auc"][1],
        "accuracy": classes.get_eval_ops(weights, many, labels[:, 0])["accuracy"][1],
    }


def inferred(tf: Any) -> dict:
    layers = tf.contrib.layers
    given = {"a": tf.zeros([5, 2, 3], tf.int32), "b": tf.zeros([5], tf.float64)}
    found = layers.infer_real_valued_columns(given)
    spec = layers.create_feature_spec_for_parsing(found)
    placeholders = layers.make_place_holder_tensors_for_base_features(
        [layers.real_valued_column("p", 3), layers.real_valued_column("q", dtype=tf.int32)]
    )
    assert [placeholders[key].shape.as_list() for key in "pq"] == [[None, 3], [None, 1]]
    texts = sorted(
        str(column) for column in [*found, *layers.infer_real_valued_columns(given["b"])]
    )
    return {"columns": tf.constant(texts), "shape": tf.constant(spec["a"].shape)}


def keys(tf: Any) -> dict:
    """The texts by which columns are ordered."""
    layers = tf.contrib.layers
    known = columns(tf)
    made = [
        known[name] for name in ("word", "keys", "number", "price", "weighted", "several_hashes")
    ]
    made += [layers.one_hot_column(known["keys"]), embedded(tf, "word", dimension=3)]
    made += scattered(tf, known, layers)
    return {"keys": tf.constant([column.key for column in made])}


def with_tables(build: Any) -> Any:
    def initialized(tf: Any) -> dict:
        found = build(tf)
        found["before"] = [tf.tables_initializer(), *found.get("before", [])]
        return found

    return initialized


BUILDERS = {
    "linear_sparse": linear("word", "keys", "number"),
    "linear_dense": linear("price", "age", "prices"),
    "linear_crossed": linear("crossed", "crossed_by_key", "crossed_twice"),
    "linear_weighted": linear("weighted", "weighted_keys", "counted", "several_hashes"),
    "linear_others": linear("hashed_ids", "dense_word", "price", weight_collections=["mine"]),
    "joint": joint("word", "number", "crossed"),
    "dense": network(lambda tf, known, layers: [known["price"], known["age"], known["prices"]]),
    "one_hot": network(
        lambda tf, known, layers: [
            layers.one_hot_column(known[name])
            for name in ("word", "keys", "number", "weighted", "weighted_keys", "crossed")
        ]
    ),
    "embedded": network(
        lambda tf, known, layers: [
            embedded(tf, "word", dimension=3),
            embedded(tf, "keys", dimension=2, combiner="sqrtn"),
            embedded(tf, "number", dimension=4, max_norm=0.5),
            embedded(tf, "weighted", dimension=2, combiner="sum", trainable=False),
            embedded(tf, "crossed", dimension=2),
        ]
    ),
    "shared": network(shared),
    "scattered": network(scattered),
    "sequence": sequence,
    "parsed": parsed,
    "parsed_sequence": parsed_sequence,
    "transformed": transformed,
    "vocabulary": vocabulary,
    "core_layers": core_layers,
    "lookups": lookups,
    "targets": targets,
    "inferred": inferred,
    "keys": keys,
}
SCENARIOS = {name: with_tables(build) for name, build in BUILDERS.items()}
