"""Models of GANs: both networks built, the discriminator for generated and for real data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.framework.variables import get_trainable_variables
from penstock.contrib.gan.namedtuples import (
    ACGANModel,
    CycleGANModel,
    GANModel,
    InfoGANModel,
    StarGANModel,
)

__all__ = ["acgan_model", "cyclegan_model", "gan_model", "infogan_model", "stargan_model"]

_Network = Callable[..., Any]


def _convert_tensor_or_l_or_d(tensor_or_l_or_d: Any) -> Any:
    """A value, or those of a list or dictionary, as tensors."""
    if isinstance(tensor_or_l_or_d, (list, tuple)):
        return [tf.convert_to_tensor(each) for each in tensor_or_l_or_d]
    if isinstance(tensor_or_l_or_d, dict):
        return {name: tf.convert_to_tensor(each) for name, each in tensor_or_l_or_d.items()}
    return tf.convert_to_tensor(tensor_or_l_or_d)


def _check_same_shape(generated_data: Any, real_data: Any) -> None:
    if not generated_data.shape.is_compatible_with(real_data.shape):
        raise ValueError(
            f"Generator output shape ({generated_data.shape}) must be the same shape as real data "
            f"({real_data.shape})."
        )


def gan_model(
    generator_fn: _Network,
    discriminator_fn: _Network,
    real_data: Any,
    generator_inputs: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    check_shapes: bool = True,
) -> GANModel:
    """A `GANModel`.

    Args:
      generator_fn: makes data of `generator_inputs`.
      discriminator_fn: takes data and `generator_inputs`, and gives logits.
      real_data: examples.
      generator_inputs: noise, or what to condition on: a tensor, or a list or dictionary of them.
      generator_scope: of the generator's variables.
      discriminator_scope: of the discriminator's variables.
      check_shapes: whether generated data must have the shape of real ones.
    """
    with tf.variable_scope(generator_scope) as gen_scope:
        generator_inputs = _convert_tensor_or_l_or_d(generator_inputs)
        generated_data = generator_fn(generator_inputs)
    with tf.variable_scope(discriminator_scope) as dis_scope:
        gen_outputs = discriminator_fn(generated_data, generator_inputs)
    with tf.variable_scope(dis_scope, reuse=True):
        real_data = tf.convert_to_tensor(real_data)
        real_outputs = discriminator_fn(real_data, generator_inputs)
    if check_shapes:
        _check_same_shape(generated_data, real_data)
    return GANModel(
        generator_inputs,
        generated_data,
        get_trainable_variables(gen_scope),
        gen_scope,
        generator_fn,
        real_data,
        real_outputs,
        gen_outputs,
        get_trainable_variables(dis_scope),
        dis_scope,
        discriminator_fn,
    )


def _check_predicted(distributions: Any, noise: Any) -> None:
    if not isinstance(distributions, (tuple, list)):
        raise ValueError(
            f"`predicted_distributions` must be a list. Instead, found {type(distributions)}."
        )
    if len(distributions) != len(noise):
        raise ValueError(
            f"Length of `predicted_distributions` {len(distributions)} must be the same as the "
            f"length of structured noise {len(noise)}."
        )


def infogan_model(
    generator_fn: _Network,
    discriminator_fn: _Network,
    real_data: Any,
    unstructured_generator_inputs: Any,
    structured_generator_inputs: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
) -> InfoGANModel:
    """A model whose discriminator gives logits and distributions of the structured noise."""
    with tf.variable_scope(generator_scope) as gen_scope:
        unstructured = _convert_tensor_or_l_or_d(unstructured_generator_inputs)
        structured = _convert_tensor_or_l_or_d(structured_generator_inputs)
        generator_inputs = unstructured + structured
        generated_data = generator_fn(generator_inputs)
    with tf.variable_scope(discriminator_scope) as dis_scope:
        gen_outputs, predicted = discriminator_fn(generated_data, generator_inputs)
    _check_predicted(predicted, structured)
    with tf.variable_scope(dis_scope, reuse=True):
        real_data = tf.convert_to_tensor(real_data)
        real_outputs, _ = discriminator_fn(real_data, generator_inputs)
    _check_same_shape(generated_data, real_data)
    return InfoGANModel(
        generator_inputs,
        generated_data,
        get_trainable_variables(gen_scope),
        gen_scope,
        generator_fn,
        real_data,
        real_outputs,
        gen_outputs,
        get_trainable_variables(dis_scope),
        dis_scope,
        lambda data, inputs: discriminator_fn(data, inputs)[0],
        structured,
        predicted,
        discriminator_fn,
    )


def _two_outputs(discriminator_output: Any) -> tuple[Any, Any]:
    try:
        logits, classification = discriminator_output
    except (TypeError, ValueError):
        raise TypeError(
            "A discriminator function for ACGAN must output a tuple consisting of (discrimination "
            "logits, classification logits)."
        ) from None
    return logits, classification


def acgan_model(
    generator_fn: _Network,
    discriminator_fn: _Network,
    real_data: Any,
    generator_inputs: Any,
    one_hot_labels: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    check_shapes: bool = True,
) -> ACGANModel:
    """A model whose discriminator gives logits, and logits of classes."""
    with tf.variable_scope(generator_scope) as gen_scope:
        generator_inputs = _convert_tensor_or_l_or_d(generator_inputs)
        generated_data = generator_fn(generator_inputs)
    with tf.variable_scope(discriminator_scope) as dis_scope:
        gen_outputs, gen_classes = _two_outputs(discriminator_fn(generated_data, generator_inputs))
    with tf.variable_scope(dis_scope, reuse=True):
        real_data = tf.convert_to_tensor(real_data)
        real_outputs, real_classes = _two_outputs(discriminator_fn(real_data, generator_inputs))
    if check_shapes:
        _check_same_shape(generated_data, real_data)
    return ACGANModel(
        generator_inputs,
        generated_data,
        get_trainable_variables(gen_scope),
        gen_scope,
        generator_fn,
        real_data,
        real_outputs,
        gen_outputs,
        get_trainable_variables(dis_scope),
        dis_scope,
        discriminator_fn,
        one_hot_labels,
        real_classes,
        gen_classes,
    )


def cyclegan_model(
    generator_fn: _Network,
    discriminator_fn: _Network,
    data_x: Any,
    data_y: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    model_x2y_scope: Any = "ModelX2Y",
    model_y2x_scope: Any = "ModelY2X",
    check_shapes: bool = True,
) -> CycleGANModel:
    """Two models, from one set of data to the other and back (Zhu et al., 2017)."""

    def one_way(scope: Any, source: Any, target: Any) -> GANModel:
        with tf.variable_scope(scope):
            return gan_model(
                generator_fn,
                discriminator_fn,
                target,
                source,
                generator_scope,
                discriminator_scope,
                check_shapes,
            )

    x2y = one_way(model_x2y_scope, data_x, data_y)
    y2x = one_way(model_y2x_scope, data_y, data_x)
    with tf.variable_scope(y2x.generator_scope, reuse=True):
        reconstructed_x = y2x.generator_fn(x2y.generated_data)
    with tf.variable_scope(x2y.generator_scope, reuse=True):
        reconstructed_y = x2y.generator_fn(y2x.generated_data)
    return CycleGANModel(x2y, y2x, reconstructed_x, reconstructed_y)


def _as_one_tensor(value: Any) -> Any:
    converted = _convert_tensor_or_l_or_d(value)
    return tf.concat(converted, 0) if isinstance(converted, list) else converted


def stargan_model(
    generator_fn: _Network,
    discriminator_fn: _Network,
    input_data: Any,
    input_data_domain_label: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
) -> StarGANModel:
    """A model that takes data of each domain to one drawn at random, and back.

    Args:
      generator_fn: takes data and one-hot targets, gives data.
      discriminator_fn: takes data and the number of domains, gives logits and logits of domains.
      input_data: a tensor, or a list to be concatenated.
      input_data_domain_label: one-hot domains of the data.
      generator_scope: of the generator's variables.
      discriminator_scope: of the discriminator's variables.
    """
    data, labels = _as_one_tensor(input_data), _as_one_tensor(input_data_domain_label)
    labels.shape.assert_has_rank(2)
    labels.shape.assert_is_fully_defined()
    batch_size, domains = labels.shape.as_list()
    with tf.variable_scope(generator_scope) as gen_scope:
        drawn = tf.random_uniform([batch_size], minval=0, maxval=domains, dtype=tf.int32)
        targets = tf.one_hot(drawn, domains)
        generated = generator_fn(data, targets)
    with tf.variable_scope(gen_scope, reuse=True):
        reconstructed = generator_fn(generated, labels)
    with tf.variable_scope(discriminator_scope) as dis_scope:
        generated_source, generated_domain = discriminator_fn(generated, domains)
    with tf.variable_scope(dis_scope, reuse=True):
        input_source, input_domain = discriminator_fn(data, domains)
    return StarGANModel(
        input_data=data,
        input_data_domain_label=labels,
        generated_data=generated,
        generated_data_domain_target=targets,
        reconstructed_data=reconstructed,
        discriminator_input_data_source_predication=input_source,
        discriminator_generated_data_source_predication=generated_source,
        discriminator_input_data_domain_predication=input_domain,
        discriminator_generated_data_domain_predication=generated_domain,
        generator_variables=get_trainable_variables(gen_scope),
        generator_scope=gen_scope,
        generator_fn=generator_fn,
        discriminator_variables=get_trainable_variables(dis_scope),
        discriminator_scope=dis_scope,
        discriminator_fn=discriminator_fn,
    )
