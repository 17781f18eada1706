"""`tf.contrib.gan`: models, losses and training, on networks of one variable each."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

gan = tf.contrib.gan

REAL = np.array([[3.4, 2.3, -2.3], [6.3, -2.1, 0.2]], np.float32)
GENERATED = np.array([[6.2, -1.5, 2.3], [-2.9, -5.1, 0.1]], np.float32)


@pytest.fixture(autouse=True)
def _own_graph() -> Any:
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        yield


def value(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def generator(inputs: Any) -> Any:
    inputs = inputs[0] if isinstance(inputs, list) else inputs
    return tf.get_variable("dummy_g", initializer=2.0) * inputs


def discriminator(data: Any, _: Any) -> Any:
    return tf.get_variable("dummy_d", initializer=2.0) * data


def recognizer(data: Any, inputs: Any) -> Any:
    return discriminator(data, inputs), [tf.distributions.Normal(0.0, 1.0)]


def classifier(data: Any, inputs: Any) -> Any:
    return discriminator(data, inputs), tf.one_hot([0, 1, 4], 10)


def simple() -> Any:
    return gan.gan_model(generator, discriminator, tf.zeros([1, 2]), tf.random_normal([1, 2]))


def with_information() -> Any:
    noise = [tf.random_normal([1, 2])]
    return gan.infogan_model(generator, recognizer, tf.zeros([1, 2]), [], noise)


def with_classes() -> Any:
    labels = tf.one_hot([0, 1, 2], 10)
    noise = tf.random_normal([1, 2])
    return gan.acgan_model(generator, classifier, tf.zeros([1, 2]), noise, labels)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def expected_losses() -> dict[str, float]:
    smooth = np.mean(-0.875 * np.log(sigmoid(REAL)) - 0.125 * np.log(1 - sigmoid(REAL)))
    fake = np.mean(-np.log(1 - sigmoid(GENERATED)))
    return {
        "wasserstein_generator_loss": -GENERATED.mean(),
        "wasserstein_discriminator_loss": GENERATED.mean() - REAL.mean(),
        "minimax_discriminator_loss": smooth + fake,
        "modified_discriminator_loss": smooth + fake,
        "minimax_generator_loss": -(np.log(1 + np.exp(-1.0)) + fake),
        "modified_generator_loss": np.mean(-np.log(sigmoid(GENERATED))),
        "least_squares_generator_loss": np.mean((GENERATED - 1) ** 2) / 2,
        "least_squares_discriminator_loss": np.mean((REAL - 1) ** 2) / 2
        + np.mean(GENERATED**2) / 2,
    }


@pytest.mark.parametrize("name", expected_losses())
def test_losses_by_arguments_and_of_models(name: str) -> None:
    outputs = {"discriminator_gen_outputs": GENERATED}
    if "discriminator" in name:
        outputs["discriminator_real_outputs"] = REAL
    by_arguments = getattr(gan.losses.wargs, name)
    of_model = getattr(gan.losses, name)
    model = namedtuple("Outputs", outputs)(**outputs)
    losses = [by_arguments(**outputs), of_model(model)]
    assert len(tf.losses.get_losses()) == 2
    np.testing.assert_allclose(value(losses), [expected_losses()[name]] * 2, rtol=1e-5)
    assert by_arguments.__name__ == of_model.__name__ == name


def test_arguments_that_a_model_lacks() -> None:
    from penstock.contrib.gan.python.losses.python import tuple_losses_impl

    fields = namedtuple("Fields", ["a", "c"])

    def total(a: int, b: int, c: int = 3, d: int = 4) -> int:
        return a + 10 * b + 100 * c + 1000 * d

    of_model = tuple_losses_impl._args_to_gan_model(total)
    assert of_model(fields(1, 2), b=5, d=6) == 6251
    assert of_model(fields(1, None), b=5) == 4351
    with pytest.raises(ValueError, match="`b` must be supplied to total loss function"):
        of_model(fields(1, 2))
    with pytest.raises(ValueError, match="present in both the tuple and keyword args"):
        of_model(fields(1, 2), b=1, c=5)


def test_gradient_penalty() -> None:
    real, generated = tf.zeros([4, 3]), tf.ones([4, 3])

    def linear(data: Any, _: Any) -> Any:
        return 2.0 * tf.reduce_sum(data, axis=1)

    def penalty(**kwargs: Any) -> Any:
        return gan.losses.wargs.wasserstein_gradient_penalty(
            real, generated, None, linear, "D", **kwargs
        )

    slope = 2.0 * np.sqrt(3.0)
    found = value([penalty(), penalty(target=2.0), penalty(target=8.0, one_sided=True)])
    np.testing.assert_allclose(found, [(slope - 1) ** 2, (slope / 2 - 1) ** 2, 0.0], rtol=1e-5)
    with pytest.raises(ValueError, match="can't have unknown rank"):
        gan.losses.wargs.wasserstein_gradient_penalty(
            tf.placeholder(tf.float32), generated, None, linear, "D"
        )


def test_mutual_information() -> None:
    normal = tf.distributions.Normal(0.0, 1.0)
    loss = gan.losses.wargs.mutual_information_penalty([tf.constant([1.0, -1.0])], [normal])
    assert value(loss) == pytest.approx(0.5 + 0.5 * np.log(2 * np.pi))
    with pytest.raises(ValueError, match="must be a list or tuple"):
        gan.losses.wargs.mutual_information_penalty([1.0], normal)
    with pytest.raises(ValueError, match="must be the same as `predicted_distributions` length"):
        gan.losses.wargs.mutual_information_penalty([1.0, 2.0], [normal])


def test_combined_with_a_main_loss() -> None:
    x = tf.get_variable("x", initializer=[3.0, 4.0])
    main, adversarial = tf.reduce_sum(x), tf.reduce_sum(10.0 * x)
    combine = gan.losses.wargs.combine_adversarial_loss
    assert combine(main, adversarial, weight_factor=0.0) is main
    by_factor = combine(main, adversarial, weight_factor=0.5)
    by_ratio = combine(main, adversarial, gradient_ratio=2.0)
    np.testing.assert_allclose(value([by_factor, by_ratio]), [42.0, 7.0 + 70.0 / 20], rtol=1e-5)
    with pytest.raises(ValueError, match="cannot both be `None.`"):
        combine(main, adversarial)
    with pytest.raises(ValueError, match="cannot both be specified"):
        combine(main, adversarial, 1.0, 1.0)


@pytest.mark.parametrize("make", [simple, with_information, with_classes])
@pytest.mark.parametrize("one_sided", [False, True])
def test_gradient_penalty_of_models(make: Any, one_sided: bool) -> None:
    model = make()
    plain = gan.gan_loss(model)
    penalized = gan.gan_loss(
        model, gradient_penalty_weight=1.0, gradient_penalty_one_sided=one_sided
    )
    losses = value([plain, penalized])
    assert losses[0].generator_loss == losses[1].generator_loss
    assert losses[0].discriminator_loss < losses[1].discriminator_loss
    assert len(tf.trainable_variables()) == 2
    names = [v.op.name for v in (*model.generator_variables, *model.discriminator_variables)]
    assert names == ["Generator/dummy_g", "Discriminator/dummy_d"]


def test_terms_for_models_of_one_kind() -> None:
    with pytest.raises(ValueError, match="must be an `InfoGANModel`"):
        gan.gan_loss(simple(), mutual_information_penalty_weight=1.0)
    with tf.variable_scope("other"), pytest.raises(ValueError, match="must be an `ACGANModel`"):
        gan.gan_loss(simple(), aux_cond_generator_weight=1.0)
    with tf.variable_scope("third"), pytest.raises(ValueError, match="must be greater than 0"):
        gan.gan_loss(simple(), gradient_penalty_weight=-1.0)


def test_class_and_information_terms() -> None:
    model = with_classes()
    plain = gan.gan_loss(model)
    more = gan.gan_loss(
        model, aux_cond_generator_weight=tf.constant(2.0), aux_cond_discriminator_weight=3.0
    )
    entropy = gan.losses.acgan_generator_loss(model)
    both = gan.losses.acgan_discriminator_loss(model)
    plain, more, entropy, both = value([plain, more, entropy, both])
    assert more.generator_loss == pytest.approx(plain.generator_loss + 2 * entropy)
    assert more.discriminator_loss == pytest.approx(plain.discriminator_loss + 3 * both)


def test_regularizers_are_in_the_losses() -> None:
    model = simple()
    before = gan.gan_loss(model)
    for scope, amount in (("Generator", 3.0), ("Discriminator", 2.0)):
        with tf.name_scope(f"{scope}/"):
            tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(amount))
    before, after = value([before, gan.gan_loss(model)])
    np.testing.assert_allclose(np.subtract(after, before), [3.0, 2.0], rtol=1e-6)


def test_shapes_of_generated_and_real_data() -> None:
    with pytest.raises(ValueError, match="must be the same shape as real data"):
        gan.gan_model(generator, discriminator, tf.zeros([1, 3]), tf.zeros([1, 2]))
    with tf.variable_scope("unchecked"):
        gan.gan_model(
            generator, discriminator, tf.zeros([1, 3]), tf.zeros([1, 2]), check_shapes=False
        )
    with pytest.raises(TypeError, match="must output a tuple"):
        gan.acgan_model(lambda x: x, lambda x, _: 1, tf.zeros([1]), tf.zeros([1]), None)


def test_cycle() -> None:
    model = gan.cyclegan_model(generator, discriminator, tf.zeros([1, 2]), tf.ones([1, 2]))
    loss = gan.cyclegan_loss(model)
    assert isinstance(loss, gan.CycleGANLoss)
    consistency, losses = value([gan.losses.cycle_consistency_loss(model), loss])
    assert consistency == pytest.approx(1.5)  # y comes back as 4 y, x stays zero
    assert losses.loss_x2y.generator_loss == pytest.approx(15.0 + 0.5)
    train_ops = gan.gan_train_ops(
        model, loss, tf.train.GradientDescentOptimizer(0.1), tf.train.AdamOptimizer(0.1)
    )
    assert len(train_ops.generator_train_op) == len(train_ops.discriminator_train_op) == 2
    value(train_ops[:2])


def test_many_domains() -> None:
    def translate(data: Any, targets: Any) -> Any:
        return generator(data) + tf.reduce_sum(targets)

    def judge(data: Any, domains: int) -> Any:
        flat = tf.layers.flatten(discriminator(data, None))
        return tf.reduce_mean(flat, axis=1), flat[:, :domains]

    images, labels = tf.ones([2, 4, 4, 3]), tf.one_hot([0, 2], 3)
    model = gan.stargan_model(translate, judge, [images, images], [labels, labels])
    assert model.generated_data.shape == [4, 4, 4, 3]
    losses = value(gan.stargan_loss(model))
    assert np.isfinite(losses).all()
    gan.eval.add_stargan_image_summaries(model, num_images=1, display_diffs=True)
    assert "stargan_image_generation" in value(tf.summary.merge_all()).decode("latin1")


@pytest.mark.parametrize("given", [False, True])
def test_update_operations_go_to_their_network(given: bool) -> None:
    model = simple()
    loss = gan.gan_loss(model)
    counts, updates = [], []
    for scope in (model.generator_scope, model.discriminator_scope):
        with tf.variable_scope(scope):
            counts.append(tf.get_variable("count", initializer=0, trainable=False))
            updates.append(counts[-1].assign_add(1))
            tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, updates[-1])
    stray = tf.constant(1.0)
    kwargs = {"update_ops": [stray, *updates]} if given else {}
    if not given:
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, stray)
    optimizers = [tf.train.GradientDescentOptimizer(1.0) for _ in range(2)]
    with pytest.raises(ValueError, match="There are unused update ops:"):
        gan.gan_train_ops(model, loss, *optimizers, **kwargs)
    train_ops = gan.gan_train_ops(
        model, loss, *optimizers, check_for_unused_update_ops=False, **kwargs
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train_ops.generator_train_op)
        assert session.run(counts) == [1, 0]
        session.run(train_ops.discriminator_train_op)
        assert session.run(counts) == [1, 1]


@pytest.mark.parametrize("make", [simple, with_information, with_classes])
def test_training(make: Any) -> None:
    model = make()
    train_ops = gan.gan_train_ops(
        model,
        gan.gan_loss(model),
        tf.train.GradientDescentOptimizer(1.0),
        tf.train.GradientDescentOptimizer(1.0),
        summarize_gradients=True,
    )
    stop = tf.train.StopAtStepHook(num_steps=2)
    assert gan.gan_train(train_ops, logdir="", hooks=[stop]) == 2


@pytest.mark.parametrize("hooks", [gan.get_sequential_train_hooks, gan.get_joint_train_hooks])
def test_steps_of_each_network(hooks: Any) -> None:
    step = tf.train.create_global_step()
    train_ops = gan.GANTrainOps(
        step.assign_add(10, use_locking=True),
        step.assign_add(100, use_locking=True),
        step.assign_add(1),
    )
    last = gan.gan_train(
        train_ops,
        get_hooks_fn=hooks(gan.GANTrainSteps(3, 4)),
        logdir="",
        hooks=[tf.train.StopAtStepHook(num_steps=1)],
    )
    assert last == 1 + 3 * 10 + 4 * 100


def test_steps_of_a_supervisor() -> None:
    step = tf.train.create_global_step()
    train_ops = gan.GANTrainOps(tf.constant(3.0), tf.constant(2.0), step.assign_add(1))
    loss = tf.contrib.slim.learning.train(
        train_ops,
        "",
        global_step=step,
        number_of_steps=1,
        train_step_fn=gan.get_sequential_train_steps(gan.GANTrainSteps(3, 4)),
    )
    assert loss == 17.0


def test_synchronous_optimizers_do_not_count_steps() -> None:
    model = simple()
    optimizers = [
        tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(1.0), 1) for _ in range(2)
    ]
    train_ops = gan.gan_train_ops(model, gan.gan_loss(model), *optimizers)
    assert len(train_ops.train_hooks) == 2
    assert len(tf.trainable_variables()) == 2
    step = tf.train.get_or_create_global_step()
    tokens = [optimizer.get_init_tokens_op(num_tokens=1) for optimizer in optimizers]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run([optimizer.chief_init_op for optimizer in optimizers])
        runners = [optimizer.get_chief_queue_runner() for optimizer in optimizers]
        coordinator = tf.train.Coordinator(clean_stop_exception_types=(tf.errors.CancelledError,))
        threads = [
            each
            for runner in runners
            for each in runner.create_threads(session, coordinator, daemon=True, start=True)
        ]
        session.run(tokens)
        session.run(train_ops.generator_train_op)
        session.run(train_ops.discriminator_train_op)
        assert session.run(step) == 0
        assert session.run(train_ops.global_step_inc_op) == 1
    for thread in threads:  # closing the session ended what they waited for
        thread.join()


def test_pool() -> None:
    number = tf.placeholder(tf.int32, [])
    pooled = gan.features.tensor_pool([[number, number + 1], (number,)], pool_size=5)
    assert isinstance(pooled[0], list)
    assert isinstance(pooled[1], tuple)
    with tf.Session() as session:
        seen = [session.run(pooled, {number: i}) for i in range(30)]
    firsts = [first for [[first, _], _] in seen]
    assert all(second == first + 1 and third == first for [[first, second], [third]] in seen)
    assert firsts[:5] == [0, 1, 2, 3, 4]
    assert all(first <= i for i, first in enumerate(firsts))
    assert firsts != list(range(30))
    assert max(firsts.count(each) for each in firsts) <= 2
    assert gan.features.tensor_pool(number, pool_size=0) is number
    with pytest.raises(ValueError, match="`pool_size` is negative"):
        gan.features.tensor_pool(number, pool_size=-1)


def test_losses_with_a_pool() -> None:
    model = simple()
    loss = gan.gan_loss(model, tensor_pool_fn=lambda x: gan.features.tensor_pool(x, 3))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(6):
            assert np.isfinite(session.run(loss)).all()


def test_conditioning() -> None:
    image = tf.zeros([4, 2, 2, 1])
    conditioned = gan.features.condition_tensor(image, tf.ones([4, 3]))
    assert conditioned.shape == [4, 2, 2, 1]
    labelled = gan.features.condition_tensor_from_onehot(image, tf.one_hot([0, 1, 0, 1], 2), 5)
    found = value(labelled)
    np.testing.assert_array_equal(found[:2], found[2:])
    assert tf.get_collection("trainable_variables", "embedding")[0].shape == [2, 5]
    with pytest.raises(ValueError, match="at least 2D"):
        gan.features.condition_tensor(image, tf.ones([4]))


def test_clipping() -> None:
    model = simple()
    sgd = tf.train.GradientDescentOptimizer(100.0)
    optimizer = gan.features.clip_discriminator_weights(sgd, model, 0.01)
    train_op = optimizer.minimize(
        gan.gan_loss(model).discriminator_loss, var_list=model.discriminator_variables
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train_op)
        assert abs(session.run(model.discriminator_variables[0])) == pytest.approx(0.01, rel=1e-3)
    with pytest.raises(ValueError, match="must be positive"):
        gan.features.clip_variables(sgd, [], -1)


@pytest.mark.parametrize("axis", [-1, 1])
def test_virtual_batch_normalization(axis: int) -> None:
    draw = np.random.default_rng(0)
    reference = draw.normal(size=[5, 4, 3]).astype(np.float32)
    batch = draw.normal(size=[2, 4, 3]).astype(np.float32)
    vbn = gan.features.VBN(tf.constant(reference), axis=axis)
    normalized, own = value([vbn(tf.constant(batch)), vbn.reference_batch_normalization()])
    axes = (0, 1) if axis == -1 else (0, 2)
    for index in range(2):
        # An example counts as one more in the reference batch.
        joined = np.concatenate([reference, batch[index : index + 1]])
        mean, variance = (f(joined, axis=axes, keepdims=True) for f in (np.mean, np.var))
        expected = ((joined - mean) / np.sqrt(variance + 1e-3))[-1]
        np.testing.assert_allclose(normalized[index], expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(own.mean(axis=axes), np.zeros(own.shape[axis]), atol=1e-5)


def test_spectral_normalization() -> None:
    weights = np.random.default_rng(1).normal(size=[3, 4, 5]).astype(np.float32)
    largest = np.linalg.svd(weights.reshape(-1, 5), compute_uv=False)[0]
    norm = gan.features.compute_spectral_norm(tf.constant(weights), 100)
    scaled = gan.features.spectral_normalize(tf.constant(weights), 100)
    found, normalized = value([norm, scaled])
    assert found == pytest.approx(largest, rel=1e-4)
    np.testing.assert_allclose(normalized, weights / largest, rtol=1e-3)
    getter = gan.features.spectral_normalization_custom_getter()
    with tf.variable_scope("normalized", custom_getter=getter):
        tf.layers.dense(tf.ones([2, 3]), 4, name="dense")
    names = {variable.op.name for variable in tf.global_variables()}
    # The getter is given the whole name, inside the scope of the layer.
    scope = "normalized/dense/normalized/dense/kernel/spectral_normalize"
    assert f"{scope}/spectral_norm/spectral_norm_u" in names


def test_grids_of_images() -> None:
    images = np.arange(6 * 2 * 2 * 1, dtype=np.float32).reshape(6, 2, 2, 1)
    rows = np.concatenate([np.concatenate(images[i : i + 3], axis=1) for i in (0, 3)])
    grid = gan.eval.eval_utils.image_grid(tf.constant(images), (2, 3), (2, 2), 1)
    flat = gan.eval.image_grid(tf.constant(images.reshape(6, 4)), (2, 3), (2, 2), 1)
    tiled = gan.eval.image_reshaper(tf.constant(images[:5]))
    found, from_flat, short = value([grid, flat, tiled])
    np.testing.assert_array_equal(found[0], rows)
    np.testing.assert_array_equal(from_flat[0], rows)
    expected = rows.copy()
    expected[2:, 4:] = 0
    np.testing.assert_array_equal(short[0], expected)
    with pytest.raises(ValueError, match="incompatible with minibatch size 6"):
        gan.eval.image_grid(tf.constant(images), (2, 2), (2, 2), 1)


def test_summaries_of_models() -> None:
    images = tf.ones([4, 2, 2, 3])
    model = gan.gan_model(generator, discriminator, images, images)
    gan.eval.add_gan_model_image_summaries(model, grid_size=2)
    gan.eval.add_image_comparison_summaries(model, display_diffs=True)
    gan.eval.add_regularization_loss_summaries(model)
    summary = tf.Summary.FromString(value(tf.summary.merge_all()))
    assert {each.tag for each in summary.value} == {
        "real_data/image",
        "generated_data/image",
        "image_comparison/image",
        "generator_variables/Generator/dummy_g_0",
        "discriminator_variables/Discriminator/dummy_d_0",
        "generator_regularization_loss",
        "discriminator_regularization_loss",
    }


def test_estimator(tmp_path: Path) -> None:
    def generate(noise: Any, mode: str) -> Any:
        return tf.layers.dense(noise, 1)

    def judge(data: Any, _: Any) -> Any:
        return tf.layers.dense(data, 1)

    estimator = gan.estimator.GANEstimator(
        str(tmp_path),
        generate,
        judge,
        gan.losses.wasserstein_generator_loss,
        gan.losses.wasserstein_discriminator_loss,
        tf.train.GradientDescentOptimizer(0.1),
        lambda: tf.train.GradientDescentOptimizer(0.1),
        add_summaries=gan.estimator.SummaryType.VARIABLES,
        get_eval_metric_ops_fn=lambda model: {"size": tf.metrics.mean(model.generated_data)},
    )
    estimator.train(lambda: (tf.ones([3, 2]), tf.ones([3, 1])), steps=2)
    scores = estimator.evaluate(lambda: (tf.ones([3, 2]), tf.ones([3, 1])), steps=1)
    assert scores["global_step"] == 2
    assert {"generator_loss", "discriminator_loss", "size", "loss"} <= scores.keys()
    made = list(estimator.predict(lambda: tf.data.Dataset.from_tensors(np.ones([3, 2], "f"))))
    assert np.shape(made) == (3, 1)
    with pytest.raises(ValueError, match="generator_loss_fn must be callable"):
        gan.estimator.GANEstimator(str(tmp_path))


def test_paths_inside() -> None:
    from penstock.contrib.gan.python import namedtuples, train
    from penstock.contrib.gan.python.features.python.random_tensor_pool_impl import tensor_pool
    from penstock.contrib.gan.python.losses.python import losses_impl

    assert namedtuples.GANModel is gan.GANModel
    assert train.gan_loss is gan.gan_loss
    assert tensor_pool is gan.features.tensor_pool
    assert losses_impl.minimax_generator_loss is gan.losses.wargs.minimax_generator_loss
    with pytest.raises(AttributeError, match="frechet_classifier_distance"):
        _ = gan.eval.sliced_wasserstein_distance
