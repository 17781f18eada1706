"""A wide and deep classifier on feature columns, of people in a CSV file that the program makes up.

penstock run examples/wide_and_deep.py --model_type wide_deep --steps 400
"""

import csv
import os
import tempfile

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer("steps", 400, "training steps")
flags.DEFINE_integer("batch_size", 40, "people per step")
flags.DEFINE_enum("model_type", "wide_deep", ["wide", "deep", "wide_deep"], "which model")
flags.DEFINE_string("logdir", "", "folder for the model and the CSV files (default: a new one)")
FLAGS = flags.FLAGS

COLUMNS = ["age", "hours", "education", "work", "town", "income"]
DEFAULTS = [[0.0], [0.0], [""], [""], [""], [""]]
EDUCATIONS = ["school", "trade", "college", "doctorate"]
WORKS = ["farm", "mill", "office", "laboratory"]


def write_people(path, count, seed):
    """Writes people whose income follows from their age, hours, and education in their work."""
    random = np.random.RandomState(seed)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        for _ in range(count):
            age, hours = random.randint(18, 70), random.randint(10, 60)
            education, work = random.randint(4), random.randint(4)
            score = (hours - 35) / 10 - ((age - 48) / 15) ** 2 + 2 * (education == work) + 0.5
            income = ">50K" if score + random.normal(0, 0.3) > 0 else "<=50K"
            town = "town-%d" % random.randint(30)
            writer.writerow([age, hours, EDUCATIONS[education], WORKS[work], town, income])


def input_fn(path, epochs, shuffle):
    def parse(line):
        features = dict(zip(COLUMNS, tf.decode_csv(line, record_defaults=DEFAULTS)))
        label = tf.equal(features.pop("income"), ">50K")
        return features, tf.cast(label, tf.int32)

    data = tf.data.TextLineDataset(path).map(parse, num_parallel_calls=2)
    if shuffle:
        data = data.shuffle(2000, seed=1)
    return data.repeat(epochs).batch(FLAGS.batch_size)


def feature_columns():
    """The columns of the wide part and of the deep part."""
    age = tf.feature_column.numeric_column("age", normalizer_fn=lambda x: (x - 45.0) / 15.0)
    hours = tf.feature_column.numeric_column("hours", normalizer_fn=lambda x: (x - 35.0) / 10.0)
    decades = tf.feature_column.bucketized_column(
        tf.feature_column.numeric_column("age"), [25, 30, 35, 40, 45, 50, 55, 60, 65]
    )
    education = tf.feature_column.categorical_column_with_vocabulary_list("education", EDUCATIONS)
    work = tf.feature_column.categorical_column_with_vocabulary_list("work", WORKS)
    town = tf.feature_column.categorical_column_with_hash_bucket("town", 100)
    crossed = tf.feature_column.crossed_column(["education", "work"], hash_bucket_size=200)
    wide = [education, work, town, decades, crossed]
    deep = [
        age,
        hours,
        tf.feature_column.indicator_column(education),
        tf.feature_column.indicator_column(work),
        tf.feature_column.embedding_column(town, dimension=4),
    ]
    return wide, deep


def build_estimator(folder):
    wide, deep = feature_columns()
    config = tf.estimator.RunConfig(model_dir=folder, tf_random_seed=1)
    if FLAGS.model_type == "wide":
        return tf.estimator.LinearClassifier(wide, config=config)
    if FLAGS.model_type == "deep":
        return tf.estimator.DNNClassifier([32, 16], deep, config=config)
    return tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide,
        dnn_feature_columns=deep,
        dnn_hidden_units=[32, 16],
        config=config,
    )


def main(_):
    folder = FLAGS.logdir or tempfile.mkdtemp()
    tf.gfile.MakeDirs(folder)
    train_file, test_file = (os.path.join(folder, name) for name in ("train.csv", "test.csv"))
    write_people(train_file, 2000, seed=1)
    write_people(test_file, 500, seed=2)

    model = build_estimator(os.path.join(folder, FLAGS.model_type))
    model.train(lambda: input_fn(train_file, epochs=None, shuffle=True), steps=FLAGS.steps)
    results = model.evaluate(lambda: input_fn(test_file, epochs=1, shuffle=False))
    for name in ("accuracy", "accuracy_baseline", "auc", "average_loss"):
        print("%s: %.3f" % (name, results[name]))
    first = next(model.predict(lambda: input_fn(test_file, epochs=1, shuffle=False)))
    print("first person: income >50K with probability %.2f" % first["probabilities"][1])


if __name__ == "__main__":
    tf.logging.set_verbosity(tf.logging.WARN)
    tf.app.run()
