"""The nodes that functions of images make."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of


def _image(tf: Any, *shape: Any, dtype: str = "float32") -> Any:
    return tf.placeholder(dtype, shape or None)


_KNOWN = [(5, 6, 3), (2, 5, 6, 3)]
_UNKNOWN: list[Any] = [(None, None, 3), (None, None, None, 3)]


def _forms(tf: Any) -> list[Any]:
    """Images of which more and more is unknown."""
    return [_image(tf, *shape) for shape in (*_KNOWN, *_UNKNOWN, ())]


def _nodes(tf: Any, function: Any, *shape: Any) -> list[Any]:
    """The nodes that a function makes of an image that assertions must check, without attrs.

    The words of these assertions are those of TensorFlow 1.15, which its successors changed.
    """
    graph = tf.Graph()
    with graph.as_default():
        result = function(_image(tf, *shape))
    nodes: list[Any] = [
        [op.name, op.type, [tensor.name for tensor in op.inputs]] for op in graph.get_operations()
    ]
    return [*nodes, result if isinstance(result, str) else [result.name, str(result.shape)]]


def _built(tf: Any, functions: list[Any]) -> list[Any]:
    """The nodes that functions make of images of unknown sizes."""
    return [_nodes(tf, function, *shape) for shape in _UNKNOWN for function in functions]


def resized(tf: Any) -> Any:
    image, batch, *unknown = _forms(tf)
    method = tf.image.ResizeMethod
    return [
        tf.image.resize_images(image, [7, 8]),
        tf.image.resize_images(batch, [5, 6]),
        tf.image.resize_images(image, [5, 6]),
        tf.image.resize_images(batch, (7, 8), method=method.NEAREST_NEIGHBOR, align_corners=True),
        tf.image.resize_images(image, tf.constant([7, 8]), method.BICUBIC, name="named"),
        tf.image.resize_images(image, [7, tf.placeholder(tf.int32, [])], method.AREA),
        tf.image.resize_images(unknown[0], [7, 8]),
        tf.image.resize_images(unknown[1], tf.placeholder(tf.int32, [2])),
        tf.image.resize_images(image, [10, 20], preserve_aspect_ratio=True),
        tf.image.resize_images(unknown[0], [10, 20], preserve_aspect_ratio=True),
        tf.image.resize_bilinear(batch, [3, 4], align_corners=True),
        tf.image.resize_bicubic(batch, [3, 4], name="cubic"),
        tf.image.resize_nearest_neighbor(batch, [3, 4], half_pixel_centers=True),
        tf.image.resize_area(batch, [3, 4]),
        error_of(lambda: tf.image.resize_images(unknown[2], [3, 4])),
        error_of(lambda: tf.image.resize_images(image, [3, 4, 5])),
        error_of(lambda: tf.image.resize_images(image, [3, 4], method=9)),
        error_of(lambda: tf.image.resize_images(_image(tf, 3, 4), [3, 4])),
        error_of(lambda: tf.image.resize_bilinear(image, [3, 4])),
    ]


def _cropped_to_a_tensor(tf: Any, image: Any) -> Any:
    return tf.image.resize_image_with_crop_or_pad(image, tf.placeholder(tf.int32, []), 4)


def padded(tf: Any) -> Any:
    functions = [
        lambda image: tf.image.resize_image_with_crop_or_pad(image, 9, 4),
        lambda image: tf.image.pad_to_bounding_box(image, 1, 2, 9, 10),
        lambda image: tf.image.crop_to_bounding_box(image, 1, 2, 2, 3),
    ]
    results = [function(_image(tf, *shape)) for shape in _KNOWN for function in functions]
    # As TensorFlow 1.15 does, Penstock computes this ratio in double precision.
    functions.append(lambda image: tf.image.resize_image_with_pad(image, 9, 10))
    results.append(_built(tf, functions))
    results.append(_nodes(tf, lambda image: _cropped_to_a_tensor(tf, image), 5, 6, 3))
    height = tf.placeholder(tf.int32, [])
    image = _image(tf, 5, 6, 3)
    results += [
        tf.image.pad_to_bounding_box(image, 1, 2, height, 10),
        tf.image.crop_to_bounding_box(image, height, 2, 2, 3),
        error_of(lambda: tf.image.pad_to_bounding_box(image, -1, 2, 9, 10)),
        error_of(lambda: tf.image.pad_to_bounding_box(image, 6, 2, 9, 10)),
        error_of(lambda: tf.image.crop_to_bounding_box(image, 1, 2, 5, 3)),
        error_of(lambda: tf.image.crop_to_bounding_box(_image(tf, 5, 6), 1, 2, 5, 3)),
        error_of(lambda: tf.image.resize_image_with_crop_or_pad(image, 0, 4)),
        error_of(lambda: tf.image.resize_image_with_crop_or_pad(_image(tf, 0, 6, 3), 2, 4)),
    ]
    return results


def central(tf: Any) -> Any:
    image, batch, *_ = _forms(tf)
    return [
        tf.image.central_crop(image, 0.5),
        tf.image.central_crop(batch, 0.25),
        tf.image.central_crop(image, 1.0),
        _built(tf, [lambda image: tf.image.central_crop(image, 0.5)]),
        error_of(lambda: tf.image.central_crop(image, 0.0)),
        error_of(lambda: tf.image.central_crop(image, 1.01)),
        _nodes(tf, lambda nothing: error_of(lambda: tf.image.central_crop(nothing, 0.5))),
    ]


def central_by_a_tensor(tf: Any) -> Any:
    return tf.image.central_crop(_image(tf, 5, 6, 3), tf.placeholder(tf.float64, []))


def mirrored(tf: Any) -> Any:
    functions = [
        tf.image.flip_left_right,
        tf.image.flip_up_down,
        tf.image.transpose_image,
        lambda image: tf.image.random_flip_left_right(image, seed=3),
        tf.image.random_flip_up_down,
    ]
    results = [function(_image(tf, *shape)) for shape in _KNOWN for function in functions]
    image = _image(tf, 5, 6, 3)
    return [
        *results,
        _built(tf, functions),
        tf.image.transpose(image, name="named"),
        error_of(lambda: tf.image.flip_left_right(_image(tf, 5, 6))),
        error_of(lambda: tf.image.flip_left_right(_image(tf, 1, 1, 5, 6, 3))),
        error_of(lambda: tf.image.flip_left_right(_image(tf, 5, 0, 3))),
    ]


def turned(tf: Any) -> Any:
    image, batch, *_ = _forms(tf)
    return [
        tf.image.rot90(image),
        tf.image.rot90(batch, k=3, name="named"),
        tf.image.rot90(image, k=tf.placeholder(tf.int32, [])),
        _built(tf, [tf.image.rot90]),
        error_of(lambda: tf.image.rot90(image, k=[1, 2])),
    ]


def colors(tf: Any) -> Any:
    results = []
    for dtype in ("float32", "uint8", "float64", "int16"):
        image = _image(tf, 5, 6, 3, dtype=dtype)
        results += [
            tf.image.adjust_brightness(image, 0.2),
            tf.image.adjust_contrast(image, 1.5),
            tf.image.adjust_hue(image, 0.1),
            tf.image.adjust_saturation(image, 0.5),
            tf.image.adjust_gamma(image, 2.0, 1.5),
            tf.image.random_brightness(image, 0.3, seed=1),
            tf.image.random_contrast(image, 0.3, 0.8, seed=2),
            tf.image.random_hue(image, 0.3, seed=3),
            tf.image.random_saturation(image, 0.3, 0.8, seed=4),
            tf.image.rgb_to_grayscale(image),
        ]
    image = _image(tf, 5, 6, 3)
    return [
        *results,
        tf.image.adjust_hue(image, tf.placeholder(tf.float32, []), name="hue"),
        tf.image.adjust_gamma(image, tf.placeholder(tf.float32, [])),
        tf.image.rgb_to_hsv(image),
        tf.image.hsv_to_rgb(image, name="rgb"),
        tf.image.rgb_to_yiq(image),
        tf.image.yiq_to_rgb(image),
        tf.image.rgb_to_yuv(image),
        tf.image.yuv_to_rgb(image),
        tf.image.rgb_to_grayscale(_image(tf), name="gray"),
        tf.image.grayscale_to_rgb(_image(tf, 5, 6, 1)),
        tf.image.grayscale_to_rgb(_image(tf, None, 5, 6, 1)),
        tf.image.grayscale_to_rgb(_image(tf)),
        error_of(lambda: tf.image.grayscale_to_rgb(image)),
        error_of(lambda: tf.image.adjust_gamma(image, -1)),
        error_of(lambda: tf.image.random_brightness(image, -0.1)),
        error_of(lambda: tf.image.random_contrast(image, 0.5, 0.4)),
        error_of(lambda: tf.image.random_contrast(image, -0.5, 0.4)),
        error_of(lambda: tf.image.random_hue(image, 0.6)),
        error_of(lambda: tf.image.random_saturation(image, 0.5, 0.5)),
    ]


def types(tf: Any) -> Any:
    numbers = ("uint8", "int32", "float32", "float64")
    results = []
    for source in numbers:
        for target in ("uint8", "int16", "float32", "float64"):
            image = _image(tf, 2, 2, 3, dtype=source)
            results += [
                tf.image.convert_image_dtype(image, target),
                tf.image.convert_image_dtype(image, target, saturate=True, name="to"),
            ]
    image = _image(tf, 2, 2, 3)
    results.append(error_of(lambda: tf.image.convert_image_dtype(image, tf.string)))
    return results


def files(tf: Any) -> Any:
    data = tf.placeholder(tf.string, [])
    image = _image(tf, 5, 6, 3, dtype="uint8")
    return [
        tf.image.decode_jpeg(data),
        tf.image.decode_jpeg(data, channels=3, ratio=2, name="small"),
        tf.image.decode_and_crop_jpeg(data, [1, 2, 3, 4], channels=1),
        tf.image.decode_png(data, dtype=tf.uint16),
        tf.image.decode_gif(data),
        tf.image.decode_bmp(data, channels=4),
        tf.image.encode_jpeg(image, quality=80),
        tf.image.encode_png(image),
        tf.image.extract_jpeg_shape(data),
        tf.image.is_jpeg(data),
        tf.image.is_jpeg(data, name="jpeg"),
        tf.image.adjust_jpeg_quality(image, 50),
        tf.image.adjust_jpeg_quality(_image(tf, 5, 6, 1), tf.placeholder(tf.int32, [])),
        tf.image.random_jpeg_quality(image, 20, 80, seed=3),
        tf.io.decode_jpeg(data),
        error_of(lambda: tf.image.random_jpeg_quality(image, 80, 20)),
        error_of(lambda: tf.image.random_jpeg_quality(image, 80, 120)),
        error_of(lambda: tf.image.decode_jpeg(tf.placeholder(tf.string, [2]))),
    ]


def files_of_any_format(tf: Any) -> Any:
    data = tf.placeholder(tf.string, [])
    return [
        tf.image.decode_image(data),
        tf.image.decode_image(data, channels=3, expand_animations=False),
        tf.image.decode_image(data, dtype=tf.float32, name="floats"),
    ]


def boxes(tf: Any) -> Any:
    batch = _image(tf, 2, 5, 6, 3)
    corners, scores = _image(tf, 7, 4), _image(tf, 7)
    found = tf.image.sample_distorted_bounding_box([40, 60, 3], _image(tf, 1, 2, 4), seed=3)
    named = tf.image.sample_distorted_bounding_box(
        tf.placeholder(tf.int32, [3]),
        _image(tf, 1, 2, 4),
        min_object_covered=0.3,
        aspect_ratio_range=[0.5, 2.0],
        area_range=(0.1, 0.9),
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
        name="sampled",
    )
    combined = tf.image.combined_non_max_suppression(
        _image(tf, 2, 7, 1, 4), _image(tf, 2, 7, 3), 5, 6
    )
    return [
        *found,
        *named,
        *combined,
        tf.image.crop_and_resize(batch, corners, tf.placeholder(tf.int32, [7]), [3, 4]),
        tf.image.crop_and_resize(
            batch, corners, box_indices=[0] * 7, crop_size=[3, 4], method="nearest"
        ),
        tf.image.non_max_suppression(corners, scores, 3),
        tf.image.non_max_suppression(corners, scores, 3, 0.3, 0.1, name="best"),
        *tf.image.non_max_suppression_with_scores(corners, scores, 3, soft_nms_sigma=0.5),
        tf.image.non_max_suppression_overlaps(_image(tf, 7, 7), scores, 3),
        tf.image.draw_bounding_boxes(batch, _image(tf, 2, 7, 4)),
        tf.image.draw_bounding_boxes(batch, _image(tf, 2, 7, 4), colors=[[1.0, 0.0, 0.0]]),
        tf.image.extract_glimpse(batch, [2, 2], _image(tf, 2, 2)),
        tf.image.extract_image_patches(
            batch, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], padding="SAME"
        ),
        tf.image.extract_patches(
            batch, sizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="VALID"
        ),
    ]


def qualities(tf: Any) -> Any:
    image, batch, *_ = _forms(tf)
    other = _image(tf, 2, 5, 6, 3)
    return [
        tf.image.per_image_standardization(image),
        tf.image.per_image_standardization(batch),
        _built(tf, [tf.image.per_image_standardization]),
        tf.image.total_variation(image),
        tf.image.total_variation(batch, name="variation"),
        *tf.image.image_gradients(batch),
        tf.image.sobel_edges(batch),
        tf.image.psnr(batch, other, max_val=255),
        tf.image.psnr(image, _image(tf, 5, 6, 3), 1.0, name="ratio"),
        tf.image.psnr(*(_image(tf, 5, 6, 3, dtype="uint8") for _ in range(2)), max_val=255),
        error_of(lambda: tf.image.total_variation(_image(tf, 2, 3))),
        error_of(lambda: tf.image.image_gradients(image)),
        error_of(lambda: tf.image.psnr(batch, _image(tf, 3, 5, 6, 3), 1.0)),
    ]


def similarities(tf: Any) -> Any:
    # Of known channels Penstock knows more shapes than TensorFlow does.
    one, other = _image(tf, 2, 40, 40, None), _image(tf, 2, 40, 40, None)
    bytes_ = [_image(tf, 40, 40, None, dtype="uint8") for _ in range(2)]
    return [
        tf.image.ssim(one, other, 1.0),
        tf.image.ssim(*bytes_, max_val=255, filter_size=5),
        tf.image.ssim_multiscale(one, other, 1.0, power_factors=(0.3, 0.7), filter_size=5),
    ]


def gradients(tf: Any) -> Any:
    known, unknown = _image(tf, 2, 5, 6, 3), _image(tf, None, None, None, 3)
    results = []
    for image in (known, unknown):
        for method in range(3):
            results += tf.gradients(tf.image.resize_images(image, [7, 8], method), [image])
        corners = _image(tf, 7, 4)
        crops = tf.image.crop_and_resize(image, corners, [0] * 7, [3, 4])
        results += tf.gradients(crops, [image, corners])
    return results
