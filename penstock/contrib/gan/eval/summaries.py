"""Summaries of what models generate, of their variables, and of their regularizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.gan.eval.image_tiles import image_grid, image_reshaper
from penstock.contrib.gan.namedtuples import CycleGANModel

__all__ = [
    "add_cyclegan_image_summaries",
    "add_gan_model_image_summaries",
    "add_gan_model_summaries",
    "add_image_comparison_summaries",
    "add_regularization_loss_summaries",
    "add_stargan_image_summaries",
]


def _check_is_image(data: Any) -> None:
    data.shape.assert_has_rank(4)
    data.shape[1:].assert_is_fully_defined()


def _both_ways(model: CycleGANModel, kind: str, add: Callable[..., None], **kwargs: Any) -> None:
    for way, partial_model in (("x2y", model.model_x2y), ("y2x", model.model_y2x)):
        with tf.name_scope(f"cyclegan_{way}_{kind}"):
            add(partial_model, **kwargs)


def add_gan_model_image_summaries(
    gan_model: Any, grid_size: int = 4, model_summaries: bool = True
) -> None:
    """Grids of real and of generated images, and histograms of variables if wanted."""
    if isinstance(gan_model, CycleGANModel):
        raise ValueError(
            "`add_gan_model_image_summaries` does not take in CycleGANModels. Please use "
            "`add_cyclegan_image_summaries` instead."
        )
    for name in ("real_data", "generated_data"):
        _check_is_image(getattr(gan_model, name))
    for name in ("real_data", "generated_data"):
        data = getattr(gan_model, name)
        height, width, channels = data.shape.as_list()[1:]
        grid = image_grid(data[: grid_size**2], (grid_size, grid_size), (height, width), channels)
        tf.summary.image(name, grid, max_outputs=1)
    if model_summaries:
        add_gan_model_summaries(gan_model)


def add_cyclegan_image_summaries(cyclegan_model: CycleGANModel) -> None:
    """For each way: an image, what was made of it, and what came back, side by side."""
    if not isinstance(cyclegan_model, CycleGANModel):
        raise ValueError(
            f"`cyclegan_model` was not a CycleGANModel. Instead, was {type(cyclegan_model)}"
        )
    x2y, y2x = cyclegan_model.model_x2y, cyclegan_model.model_y2x
    ways = (
        ("x2y", x2y, cyclegan_model.reconstructed_x),
        ("y2x", y2x, cyclegan_model.reconstructed_y),
    )
    for _, model, reconstructed in ways:
        for data in (model.generator_inputs, model.generated_data, reconstructed):
            _check_is_image(data)
    for way, model, reconstructed in ways:
        images = [model.generator_inputs[0], model.generated_data[0], reconstructed[0]]
        tf.summary.image(
            f"{way}_image_comparison", image_reshaper(images, num_cols=3), max_outputs=1
        )


def add_image_comparison_summaries(
    gan_model: Any, num_comparisons: int = 2, display_diffs: bool = False
) -> None:
    """Inputs of the generator, what it made of them, and real images, row below row.

    Args:
      gan_model: a model from images to images.
      num_comparisons: how many images.
      display_diffs: whether to add a row with how far generated images are from real ones.
    """
    if isinstance(gan_model, CycleGANModel):
        _both_ways(
            gan_model,
            "image_comparison_summaries",
            add_image_comparison_summaries,
            num_comparisons=num_comparisons,
            display_diffs=display_diffs,
        )
        return
    inputs, generated, real = (
        gan_model.generator_inputs,
        gan_model.generated_data,
        gan_model.real_data,
    )
    for data in (inputs, generated, real):
        _check_is_image(data)
    generated.shape.assert_is_compatible_with(inputs.shape)
    real.shape.assert_is_compatible_with(generated.shape)
    rows = [tf.unstack(data[:num_comparisons]) for data in (inputs, generated, real)]
    if display_diffs:
        rows.append(
            [tf.abs(tf.to_float(a) - tf.to_float(b)) for a, b in zip(*rows[1:], strict=True)]
        )
    images = [image for row in rows for image in row]
    tf.summary.image(
        "image_comparison", image_reshaper(images, num_cols=num_comparisons), max_outputs=1
    )


def add_stargan_image_summaries(
    stargan_model: Any, num_images: int = 2, display_diffs: bool = False
) -> None:
    """Images as they are and as they become in each domain; with differences if wanted.

    Args:
      stargan_model: a `StarGANModel`.
      num_images: how many rows.
      display_diffs: whether to add a row of differences below each.
    """
    data = stargan_model.input_data
    _check_is_image(data)
    domains = stargan_model.input_data_domain_label.shape.as_list()[-1]

    def in_each_domain(image: Any) -> list[Any]:
        copies = tf.stack([image] * domains)
        with tf.variable_scope(stargan_model.generator_scope, reuse=True):
            return tf.unstack(stargan_model.generator_fn(copies, tf.eye(domains)))

    tiles: list[Any] = []
    for image in tf.unstack(data[:num_images]):
        translated = in_each_domain(image)
        tiles += [image, *translated]
        if display_diffs:
            tiles += [tf.zeros_like(image), *(tf.abs(each - image) for each in translated)]
    tf.summary.image(
        "stargan_image_generation", image_reshaper(tiles, num_cols=domains + 1), max_outputs=1
    )


def add_gan_model_summaries(gan_model: Any) -> None:
    """Histograms of all variables of a model."""
    if isinstance(gan_model, CycleGANModel):
        _both_ways(gan_model, "summaries", add_gan_model_summaries)
        return
    for scope, variables in (
        ("generator_variables", gan_model.generator_variables),
        ("discriminator_variables", gan_model.discriminator_variables),
    ):
        with tf.name_scope(scope):
            for variable in variables:
                tf.summary.histogram(variable.name, variable)


def add_regularization_loss_summaries(gan_model: Any) -> None:
    """The losses of the regularizers of each network."""
    if isinstance(gan_model, CycleGANModel):
        _both_ways(gan_model, "regularization_loss_summaries", add_regularization_loss_summaries)
        return
    for network in ("generator", "discriminator"):
        scope = getattr(gan_model, f"{network}_scope")
        if scope:
            loss = tf.losses.get_regularization_loss(scope.name)
            tf.summary.scalar(f"{network}_regularization_loss", loss)
