"""Boxes in images: crops, suppression of overlapping boxes, drawn and random boxes.

A box is four numbers: the first row and column, the last row and column, in units of the image's
height and width.
"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_shape, constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import SIGNED
from penstock.ops.image_resize import size_from_input
from penstock.ops.shape_checks import merge_sizes, with_rank, with_size
from penstock.shapes import Shape

__all__ = [
    "combined_non_max_suppression",
    "crop_and_resize",
    "draw_bounding_boxes",
    "non_max_suppression",
    "non_max_suppression_overlaps",
    "non_max_suppression_padded",
    "non_max_suppression_with_scores",
    "sample_distorted_bounding_box",
]

_CROPPED = types(
    dtypes.uint8,
    dtypes.uint16,
    SIGNED,
    dtypes.float16,
    dtypes.float32,
    dtypes.float64,
)
_HALF_SINGLE = types(dtypes.float16, dtypes.float32, default=dtypes.float32)
_METHOD = attr("string", "bilinear", allowed=("bilinear", "nearest"))


def _sampled(**covered: float) -> dict[str, Any]:
    """Attrs of sampled boxes, in the order in which their functions take them."""
    return {
        "T": types(dtypes.uint8, SIGNED),
        "seed": 0,
        "seed2": 0,
        **covered,
        "aspect_ratio_range": attr("list(float)", [0.75, 1.33]),
        "area_range": attr("list(float)", [0.05, 1.0]),
        "max_attempts": 100,
        "use_image_if_no_bounding_boxes": False,
    }


CropAndResize = op(
    "CropAndResize(image: T, boxes: float32, box_ind: int32, crop_size: int32) -> crops: float32",
    T=_CROPPED,
    method=_METHOD,
    extrapolation_value=0.0,
)
CropAndResizeGradImage = op(
    "CropAndResizeGradImage(grads: float32, boxes: float32, box_ind: int32, image_size: int32) "
    "-> output: T",
    T=types(dtypes.float32, dtypes.float16, dtypes.float64),
    method=_METHOD,
)
CropAndResizeGradBoxes = op(
    "CropAndResizeGradBoxes(grads: float32, image: T, boxes: float32, box_ind: int32) "
    "-> output: float32",
    T=_CROPPED,
    method=attr("string", "bilinear", allowed=("bilinear",)),
)
NonMaxSuppression = op(
    "NonMaxSuppression(boxes: float32, scores: float32, max_output_size: int32) "
    "-> selected_indices: int32",
    iou_threshold=0.5,
)
NonMaxSuppressionV2 = op(
    "NonMaxSuppressionV2(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold) "
    "-> selected_indices: int32",
    T=_HALF_SINGLE,
    T_threshold=_HALF_SINGLE,
)
NonMaxSuppressionV3 = op(
    "NonMaxSuppressionV3(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
    "score_threshold: T_threshold) -> selected_indices: int32",
    T=_HALF_SINGLE,
    T_threshold=_HALF_SINGLE,
)
NonMaxSuppressionV4 = op(
    "NonMaxSuppressionV4(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
    "score_threshold: T_threshold) -> selected_indices: int32, valid_outputs: int32",
    T=_HALF_SINGLE,
    T_threshold=_HALF_SINGLE,
    pad_to_max_output_size=False,
)
NonMaxSuppressionV5 = op(
    "NonMaxSuppressionV5(boxes: T, scores: T, max_output_size: int32, iou_threshold: T, "
    "score_threshold: T, soft_nms_sigma: T) -> selected_indices: int32, selected_scores: T, "
    "valid_outputs: int32",
    T=_HALF_SINGLE,
    pad_to_max_output_size=False,
)
NonMaxSuppressionWithOverlaps = op(
    "NonMaxSuppressionWithOverlaps(overlaps: float32, scores: float32, max_output_size: int32, "
    "overlap_threshold: float32, score_threshold: float32) -> selected_indices: int32",
)
CombinedNonMaxSuppression = op(
    "CombinedNonMaxSuppression(boxes: float32, scores: float32, max_output_size_per_class: int32, "
    "max_total_size: int32, iou_threshold: float32, score_threshold: float32) "
    "-> nmsed_boxes: float32, nmsed_scores: float32, nmsed_classes: float32, "
    "valid_detections: int32",
    pad_per_class=False,
    clip_boxes=True,
)
DrawBoundingBoxes = op("DrawBoundingBoxes(images: T, boxes: float32) -> output: T", T=_HALF_SINGLE)
DrawBoundingBoxesV2 = op(
    "DrawBoundingBoxesV2(images: T, boxes: float32, colors: float32) -> output: T", T=_HALF_SINGLE
)
SampleDistortedBoundingBox = op(
    "SampleDistortedBoundingBox(image_size: T, bounding_boxes: float32) -> begin: T, size: T, "
    "bboxes: float32",
    STATEFUL,
    **_sampled(min_object_covered=0.1),
)
SampleDistortedBoundingBoxV2 = op(
    "SampleDistortedBoundingBoxV2(image_size: T, bounding_boxes: float32, "
    "min_object_covered: float32) -> begin: T, size: T, bboxes: float32",
    STATEFUL,
    **_sampled(),
)
not_differentiable(
    DrawBoundingBoxes,
    NonMaxSuppression,
    NonMaxSuppressionV2,
    NonMaxSuppressionWithOverlaps,
    SampleDistortedBoundingBox,
    SampleDistortedBoundingBoxV2,
)


# Shapes ---------------------------------------------------------------------------------------


def _check_boxes(boxes: Shape, box_ind: Shape) -> int | None:
    """The number of boxes of which each has the number of its image."""
    count, numbers = with_rank(boxes, 2)
    with_size(numbers, 4)
    return merge_sizes(count, with_rank(box_ind, 1)[0])


@CropAndResize.shape
def _(op: Operation, image: Shape, boxes: Shape, box_ind: Shape, crop_size: Shape) -> Shape:
    *_, depth = with_rank(image, 4)
    return (_check_boxes(boxes, box_ind), *size_from_input(op, 3), depth)


@CropAndResizeGradImage.shape
def _(op: Operation, grads: Shape, boxes: Shape, box_ind: Shape, image_size: Shape) -> Shape:
    with_rank(image_size, 1)
    sizes = constant_shape(op.inputs[3])
    return with_rank(sizes, 4)


@CropAndResizeGradBoxes.shape
def _(op: Operation, grads: Shape, image: Shape, boxes: Shape, box_ind: Shape) -> Shape:
    return boxes


@NonMaxSuppression.shape
@NonMaxSuppressionV2.shape
@NonMaxSuppressionV3.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    _check_suppression(*inputs)
    return (None,)


def _check_suppression(
    boxes: Shape, scores: Shape, max_output_size: Shape, *thresholds: Shape
) -> None:
    count, numbers = with_rank(boxes, 2)
    with_size(numbers, 4)
    merge_sizes(count, with_rank(scores, 1)[0])
    for number in (max_output_size, *thresholds):
        with_rank(number, 0)


def _selected(op: Operation) -> int | None:
    """How many boxes are selected, where that is known."""
    known = constant_value(op.inputs[2])
    return int(known) if op.attrs["pad_to_max_output_size"] and known is not None else None


@NonMaxSuppressionV4.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    _check_suppression(*inputs)
    return [(_selected(op),), ()]


@NonMaxSuppressionV5.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    _check_suppression(*inputs)
    return [(_selected(op),), (_selected(op),), ()]


@NonMaxSuppressionWithOverlaps.shape
def _(op: Operation, overlaps: Shape, scores: Shape, *numbers: Shape) -> Shape:
    rows, columns = with_rank(overlaps, 2)
    merge_sizes(merge_sizes(rows, columns), with_rank(scores, 1)[0])
    for number in numbers:
        with_rank(number, 0)
    return (None,)


@CombinedNonMaxSuppression.shape
def _(op: Operation, boxes: Shape, scores: Shape, *numbers: Shape) -> list[Shape]:
    batch, count, classes, coordinates = with_rank(boxes, 4)
    other_batch, other_count, score_classes = with_rank(scores, 3)
    with_size(coordinates, 4)
    batch = merge_sizes(batch, other_batch)
    merge_sizes(count, other_count)
    if classes not in (None, 1):
        merge_sizes(classes, score_classes)
    for number in numbers:
        with_rank(number, 0)
    size = _combined_size(op, score_classes)
    return [(batch, size, 4), (batch, size), (batch, size), (batch,)]


def _combined_size(op: Operation, classes: int | None) -> int | None:
    per_class, total = (constant_value(tensor) for tensor in op.inputs[2:4])
    if total is not None and total <= 0:
        raise ValueError("max_total_size should be > 0")
    if not op.attrs["pad_per_class"]:
        return None if total is None else int(total)
    if per_class is None or total is None or classes is None:
        return None
    if per_class <= 0:
        raise ValueError("max_output_size_per_class should be > 0 if pad_per_class is set to true")
    return min(int(total), int(per_class) * classes)


@DrawBoundingBoxes.shape
@DrawBoundingBoxesV2.shape
def _(op: Operation, images: Shape, boxes: Shape, *colors: Shape) -> Shape:
    images = with_rank(images, 4)
    with_size(with_rank(boxes, 3)[2], 4)
    return images


@SampleDistortedBoundingBox.shape
@SampleDistortedBoundingBoxV2.shape
def _(op: Operation, image_size: Shape, bounding_boxes: Shape, *covered: Shape) -> list[Shape]:
    with_size(with_rank(image_size, 1)[0], 3)
    with_size(with_rank(bounding_boxes, 3)[2], 4)
    for number in covered:
        with_rank(number, 0)
    return [(3,), (3,), (1, 1, 4)]


# Gradients ------------------------------------------------------------------------------------


@CropAndResize.gradient
def _(op: Operation, grad: Tensor) -> Any:
    from penstock.ops.shaping import shape as shape_of

    image, boxes, box_ind, _ = op.inputs
    sizes: Any = image.shape.as_list() if image.shape.is_fully_defined() else shape_of(image)
    by_image = None
    if image.dtype in (dtypes.float16, dtypes.float32, dtypes.float64):
        attrs = {key: op.attrs[key] for key in ("T", "method")}
        by_image = CropAndResizeGradImage(grad, boxes, box_ind, sizes, **attrs)
    return [by_image, CropAndResizeGradBoxes(grad, image, boxes, box_ind), None, None]


# Functions ------------------------------------------------------------------------------------


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_ind: Any = None,
    crop_size: Any = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: Any = None,
) -> Tensor:
    """The parts of images that lie in boxes, all resized to `crop_size`.

    Args:
      image: A batch of images.
      boxes: [boxes, 4]: the first and last row and column, 0 to 1. A box whose first is after its
        last is mirrored.
      box_indices: For each box the number of its image (`box_ind` is the old name).
      crop_size: Height and width of the crops.
      extrapolation_value: What lies outside of an image.
    """
    from penstock.ops.shaping import renamed_argument

    box_ind = renamed_argument("box_indices", box_indices, "box_ind", box_ind)
    return CropAndResize(
        image,
        boxes,
        box_ind,
        crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """The numbers of at most `max_output_size` boxes, best scores first.

    A box is left out that overlaps one with a better score by more than `iou_threshold`
    (intersection over union), or whose score is not above `score_threshold`.
    """
    with name_scope(name, "non_max_suppression"):
        overlap = convert_to_tensor(iou_threshold, name="iou_threshold")
        least = convert_to_tensor(score_threshold, name="score_threshold")
        return NonMaxSuppressionV3(boxes, scores, max_output_size, overlap, least)


def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`, with the scores of the boxes.

    With `soft_nms_sigma` > 0 overlapping boxes lose score rather than being left out.
    """
    with name_scope(name, "non_max_suppression_with_scores"):
        overlap = convert_to_tensor(iou_threshold, name="iou_threshold")
        least = convert_to_tensor(score_threshold, name="score_threshold")
        sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        selected = NonMaxSuppressionV5(boxes, scores, max_output_size, overlap, least, sigma)
        return selected.selected_indices, selected.selected_scores


def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """As `non_max_suppression`, filled up with zeros; and how many boxes were selected."""
    with name_scope(name, "non_max_suppression_padded"):
        overlap = convert_to_tensor(iou_threshold, name="iou_threshold")
        least = convert_to_tensor(score_threshold, name="score_threshold")
        return NonMaxSuppressionV4(
            boxes,
            scores,
            max_output_size,
            overlap,
            least,
            pad_to_max_output_size=pad_to_max_output_size,
        )


def non_max_suppression_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """As `non_max_suppression`, for boxes of which `overlaps[i, j]` says how they overlap."""
    with name_scope(name, "non_max_suppression_overlaps"):
        overlap = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return NonMaxSuppressionWithOverlaps(
            overlaps, scores, max_output_size, overlap, score_threshold
        )


def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """The best boxes of each image of a batch, suppressed within each class.

    Returns boxes [batch, selected, 4], their scores and classes, and how many of them count.
    """
    with name_scope(name, "combined_non_max_suppression"):
        overlap = convert_to_tensor(iou_threshold, dtypes.float32, name="iou_threshold")
        least = convert_to_tensor(score_threshold, dtypes.float32, name="score_threshold")
        total = convert_to_tensor(max_total_size)
        return CombinedNonMaxSuppression(
            boxes,
            scores,
            max_output_size_per_class,
            total,
            overlap,
            least,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )


def crop_and_resize_v2(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """The parts of images that lie in boxes; see `crop_and_resize`."""
    return CropAndResize(
        image,
        boxes,
        box_indices,
        crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


def draw_bounding_boxes_v2(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Tensor:
    """Images with the outlines of their boxes drawn into them, in the rows of `colors` by turns."""
    return draw_bounding_boxes(images, boxes, name, colors)


def draw_bounding_boxes(
    images: Any, boxes: Any, name: str | None = None, colors: Any = None
) -> Tensor:
    """Images with the outlines of their boxes, [batch, boxes, 4], drawn into them."""
    if colors is None:
        return DrawBoundingBoxes(images, boxes, name=name)
    return DrawBoundingBoxesV2(images, boxes, colors, name=name)


def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any = None,
    seed2: Any = None,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
    name: str | None = None,
) -> Any:
    """A random box that covers at least `min_object_covered` of one of the given boxes.

    Returns `begin` and `size` for `tf.slice`, and the box itself, [1, 1, 4].

    Args:
      image_size: Height, width and channels.
      bounding_boxes: [batch, boxes, 4].
      aspect_ratio_range: Of the width to the height, [0.75, 1.33] if None.
      area_range: Of the image's area, [0.05, 1] if None.
      max_attempts: After how many failures it is the whole image, 100 if None.
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        return SampleDistortedBoundingBoxV2(
            image_size,
            bounding_boxes,
            min_object_covered,
            seed=seed,
            seed2=seed2,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
            name=name,
        )


def sample_distorted_bounding_box_v2(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: Any = None,
    use_image_if_no_bounding_boxes: Any = None,
    name: str | None = None,
) -> Any:
    """As `sample_distorted_bounding_box`, with the graph's seed where `seed` is not 0."""
    from penstock.ops.seeds import get_seed

    seed1, seed2 = get_seed(seed) if seed else (0, 0)
    return sample_distorted_bounding_box(
        image_size,
        bounding_boxes,
        seed1,
        seed2,
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
        name,
    )
