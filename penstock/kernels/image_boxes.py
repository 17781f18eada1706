"""Kernels of boxes: suppression of overlapping ones, and drawing.

Boxes are chosen one after the other, which is a loop over those that are chosen; how the boxes of
a block overlap each other is one NumPy operation.
"""

import numpy as np
import torch

from penstock import errors
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.score_heap import ScoreHeap
from penstock.kernels.values import to_array, torch_type

_single = np.float32


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# Suppression ----------------------------------------------------------------------------------


def _ordered(boxes):
    """The corners of boxes, the smaller number first: four arrays."""
    a, b, c, d = boxes.T
    return np.minimum(a, c), np.minimum(b, d), np.maximum(a, c), np.maximum(b, d)


class _Overlaps:
    """Intersection over union of boxes."""

    def __init__(self, boxes):
        self._top, self._left, self._bottom, self._right = _ordered(boxes)
        self._area = (self._bottom - self._top) * (self._right - self._left)

    def of(self, box, others):
        height = np.minimum(self._bottom[others], self._bottom[box]) - np.maximum(
            self._top[others], self._top[box]
        )
        width = np.minimum(self._right[others], self._right[box]) - np.maximum(
            self._left[others], self._left[box]
        )
        shared = np.maximum(height, 0) * np.maximum(width, 0)
        area, own = self._area[others], self._area[box]
        union = area + own - shared
        real = (area > 0) & (own > 0)
        return np.where(real, shared / np.where(real, union, _single(1)), _single(0))


class _Given:
    """Overlaps that a matrix tells."""

    def __init__(self, matrix):
        self._matrix = matrix

    def of(self, box, others):
        return self._matrix[others, box]


def _by_score(scores, least):
    """The numbers of scores above `least`, best first; of equal ones the first."""
    candidates = np.nonzero(scores > least)[0]
    return candidates[np.argsort(-scores[candidates], kind="stable")]


def _suppressed(overlaps, scores, most, threshold, least):
    """The numbers of the boxes that are left, best first.

    As in TensorFlow 1.15, boxes that overlap by just the threshold are suppressed.
    """
    candidates = _by_score(scores, least)
    ranked = scores[candidates]
    if (ranked[1:] == ranked[:-1]).any():
        return _suppressed_one_by_one(overlaps, scores, most, threshold, least)
    return _suppressed_in_order(overlaps, candidates, most, threshold, np.greater_equal)


def _suppressed_one_by_one(overlaps, scores, most, threshold, least):
    """As `_suppressed`, with TensorFlow 1.15's order of equal scores.

    That comes from its heap, into which each box that was chosen is put back, to be suppressed by
    itself later.
    """
    candidates = np.nonzero(scores > least)[0]
    heap = ScoreHeap(scores[candidates].tolist())
    chosen: list[int] = []
    seen = set()
    while len(chosen) < most and len(heap):
        number = heap.pop()
        box = int(candidates[number])
        if box in seen or (overlaps.of(box, np.array(chosen, int)) >= threshold).any():
            continue
        chosen.append(box)
        seen.add(box)
        heap.push(number)
    return chosen


def _suppressed_in_order(overlaps, candidates, most, threshold, clash):
    """Those of the candidates that are left when none may clash with one before it."""
    size = min(_LARGEST_BLOCK, max(_SMALLEST_BLOCK, 2 * most))
    chosen: list[int] = []
    while len(chosen) < most and candidates.size:
        block, candidates = candidates[:size], candidates[size:]
        if chosen:
            clashes = clash(overlaps.of(np.array(chosen), block[:, None]), threshold)
            block = block[~clashes.any(1)]
        clashes = clash(overlaps.of(block, block[:, None]), threshold)
        left = np.ones(len(block), bool)
        for i, box in enumerate(block.tolist()):
            if left[i]:
                chosen.append(box)
                if len(chosen) == most:
                    break
                left &= ~clashes[:, i]
    return chosen


_SMALLEST_BLOCK, _LARGEST_BLOCK = 16, 256  # boxes that are compared with each other at once


def _softly_suppressed(overlaps, scores, most, limit, least, sigma):
    """The boxes that are left, and their scores: boxes lose score as they overlap better ones.

    Those that overlap one by the limit or more are gone.
    """
    candidates = _by_score(scores, least)
    left = scores[candidates]
    chosen: list[int] = []
    final: list[float] = []
    while len(chosen) < most and candidates.size:
        first = int(np.argmax(left))
        best = candidates[first]
        chosen.append(int(best))
        final.append(float(left[first]))
        candidates, left = np.delete(candidates, first), np.delete(left, first)
        overlap = overlaps.of(best, candidates)
        left = left * np.exp(_single(-0.5) / sigma * overlap * overlap)
        remaining = (left > least) & (overlap < limit)
        candidates, left = candidates[remaining], left[remaining]
        # Of equal scores the first box is chosen.
        order = np.argsort(candidates, kind="stable")
        candidates, left = candidates[order], left[order]
    return chosen, final


def _checked(boxes, scores, most):
    if boxes.dim() != 2 or boxes.shape[1] != 4:
        raise _invalid(f"boxes must have 4 columns, got shape {list(boxes.shape)}")
    _check_scores(scores, boxes.shape[0], most)
    return _Overlaps(to_array(boxes.float())), to_array(scores.float())


def _check_scores(scores, count, most):
    if scores.dim() != 1 or scores.shape[0] != count:
        raise _invalid(f"scores has incompatible shape: {list(scores.shape)} for {count} boxes")
    if most.dim() != 0:
        raise _invalid(f"max_output_size must be 0-D, got shape {list(most.shape)}")


def _checked_threshold(value, name="iou_threshold"):
    threshold = float(value)
    if not 0 <= threshold <= 1:
        raise _invalid(f"{name} must be in [0, 1], got {threshold}")
    return _single(threshold)


def _indices(chosen):
    return torch.tensor(chosen, dtype=torch.int32)


@kernel("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", devices=HOST, fresh=True)
def _(node):
    fixed = node.attrs.get("iou_threshold")

    def run(boxes, scores, most, threshold=fixed, least=-np.inf):
        overlaps, values = _checked(boxes, scores, most)
        threshold = _checked_threshold(threshold)
        return _indices(_suppressed(overlaps, values, most.item(), threshold, float(least)))

    return run


@kernel("NonMaxSuppressionV4", devices=HOST, fresh=True)
def _(node):
    padded = node.attrs["pad_to_max_output_size"]

    def run(boxes, scores, most, threshold, least):
        overlaps, values = _checked(boxes, scores, most)
        threshold = _checked_threshold(threshold)
        chosen = _suppressed(overlaps, values, most.item(), threshold, float(least))
        return _filled(_indices(chosen), most, padded), torch.tensor(len(chosen), dtype=torch.int32)

    return run


def _filled(values, most, padded):
    if not padded:
        return values
    return torch.nn.functional.pad(values, (0, most.item() - values.shape[0]))


@kernel("NonMaxSuppressionV5", devices=HOST, fresh=True)
def _(node):
    padded, dtype = node.attrs["pad_to_max_output_size"], torch_type(node.attrs["T"])

    def run(boxes, scores, most, threshold, least, sigma):
        overlaps, values = _checked(boxes, scores, most)
        limit = _checked_threshold(threshold)
        if float(sigma) < 0:
            raise _invalid(f"soft_nms_sigma must be >= 0, got {float(sigma)}")
        if float(sigma) == 0:
            chosen = _suppressed(overlaps, values, most.item(), limit, float(least))
            final = values[chosen].tolist()
        else:
            bounds = limit, float(least), _single(float(sigma))
            chosen, final = _softly_suppressed(overlaps, values, most.item(), *bounds)
        return (
            _filled(_indices(chosen), most, padded),
            _filled(torch.tensor(final, dtype=dtype), most, padded),
            torch.tensor(len(chosen), dtype=torch.int32),
        )

    return run


@kernel("NonMaxSuppressionWithOverlaps", devices=HOST, fresh=True)
def _(node):
    def run(overlaps, scores, most, threshold, least):
        if overlaps.dim() != 2 or overlaps.shape[0] != overlaps.shape[1]:
            raise _invalid(f"overlaps must be square, got shape {list(overlaps.shape)}")
        _check_scores(scores, overlaps.shape[0], most)
        given = _Given(to_array(overlaps))
        limit = _single(float(threshold))
        return _indices(_suppressed(given, to_array(scores), most.item(), limit, float(least)))

    return run


# Of all classes -------------------------------------------------------------------------------


@kernel("CombinedNonMaxSuppression", devices=HOST, fresh=True)
def _(node):
    per_class_padding, clip = node.attrs["pad_per_class"], node.attrs["clip_boxes"]

    def run(boxes, scores, per_class, total, threshold, least):
        _check_combined(boxes, scores, per_class, total)
        limit, least = _checked_threshold(threshold), float(least)
        most, classes = per_class.item(), scores.shape[2]
        size = total.item()
        if per_class_padding:
            size = min(size, most * classes)
        results = [
            _best_of_image(*image, most, size, limit, least)
            for image in zip(to_array(boxes), to_array(scores), strict=True)
        ]
        return _stacked(results, boxes.shape[0], size, clip)

    return run


def _check_combined(boxes, scores, per_class, total):
    if boxes.dim() != 4 or boxes.shape[3] != 4:
        raise _invalid(f"boxes must be [batch, boxes, classes, 4], got {list(boxes.shape)}")
    if scores.dim() != 3 or scores.shape[:2] != boxes.shape[:2]:
        raise _invalid(f"scores has incompatible shape {list(scores.shape)}")
    if boxes.shape[2] not in (1, scores.shape[2]):
        raise _invalid(
            "third dimension of boxes must be either 1 or equal to the third dimension of scores, "
            f"got {boxes.shape[2]} and {scores.shape[2]}"
        )
    if per_class.item() <= 0:
        raise _invalid("max_size_per_class must be positive")
    if total.item() <= 0:
        raise _invalid("max_total_size must be > 0")


def _best_of_image(boxes, scores, most, size, threshold, least):
    """The best boxes of an image over all classes: boxes, scores, classes."""
    found = []
    for number in range(scores.shape[1]):
        own = boxes[:, number if boxes.shape[1] > 1 else 0]
        candidates = _by_score(scores[:, number], least)
        chosen = _suppressed_in_order(_Overlaps(own), candidates, most, threshold, np.greater)
        found.append((own[chosen], scores[chosen, number], np.full(len(chosen), number, _single)))
    all_boxes, all_scores, all_classes = (
        np.concatenate(parts) for parts in zip(*found, strict=True)
    )
    order = np.argsort(-all_scores, kind="stable")[:size]
    return all_boxes[order], all_scores[order], all_classes[order]


def _stacked(results, batch, size, clip):
    boxes = np.zeros((batch, size, 4), _single)
    scores, classes = np.zeros((batch, size), _single), np.zeros((batch, size), _single)
    counts = np.zeros(batch, np.int32)
    for i, (own, points, numbers) in enumerate(results):
        count = counts[i] = len(points)
        boxes[i, :count] = np.clip(own, 0, 1) if clip else own
        scores[i, :count], classes[i, :count] = points, numbers
    return tuple(map(torch.from_numpy, (boxes, scores, classes, counts)))


# Drawing --------------------------------------------------------------------------------------

_COLORS = np.array(
    [
        [1, 1, 0, 1],  # yellow
        [0, 0, 1, 1],  # blue
        [1, 0, 0, 1],  # red
        [0, 1, 0, 1],  # lime
        [0.5, 0, 0.5, 1],  # purple
        [0.5, 0.5, 0, 1],  # olive
        [0.5, 0, 0, 1],  # maroon
        [0, 0, 0.5, 1],  # navy
        [0, 1, 1, 1],  # aqua
        [1, 0, 1, 1],  # fuchsia
    ],
    _single,
)


@kernel("DrawBoundingBoxes", "DrawBoundingBoxesV2", devices=HOST, fresh=True)
def _(node):
    def run(images, boxes, colors=None):
        if images.dim() != 4:
            raise _invalid(f"The rank of the images should be 4, got {list(images.shape)}")
        if boxes.dim() != 3 or boxes.shape[2] != 4 or boxes.shape[0] != images.shape[0]:
            raise _invalid(
                f"boxes must be [batch, boxes, 4] for {images.shape[0]} images, got "
                f"{list(boxes.shape)}"
            )
        palette = _palette(images.shape[3], colors).to(images.dtype)
        result = images.clone(memory_format=torch.contiguous_format)
        height, width = images.shape[1] - 1, images.shape[2] - 1
        ends = (boxes * torch.tensor([height, width, height, width])).to(torch.int64).tolist()
        for image, own in zip(result, ends, strict=True):
            for number, box in enumerate(own):
                _draw(image, box, palette[number % len(palette)])
        return result

    return run


def _palette(channels, colors):
    """The colors of boxes by turns, with the channels of the image."""
    if not 0 < channels <= 4 and colors is None:
        raise _invalid(f"Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA): {channels}")
    if colors is not None and colors.numel():
        if colors.dim() != 2 or colors.shape[1] < channels:
            raise _invalid(
                f"colors must have {channels} channels or more, got shape {list(colors.shape)}"
            )
        return colors[:, :channels]
    table = _COLORS[:, :channels].copy()
    if channels == 1:
        table[:] = 1
    return torch.from_numpy(table)


def _draw(image, box, color):
    """Draws the lines of a box that lie inside an image."""
    top, left, bottom, right = box
    height, width, _ = image.shape
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[row, columns] = color
    for column in (left, right):
        if 0 <= column < width:
            image[rows, column] = color
