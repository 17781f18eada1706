"""Kernels of parts of images: crops at boxes, random boxes and random crops."""

import functools

import numpy as np
import torch

from penstock import errors
from penstock.kernels.random import generator_of
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.signed_bits import as_signed
from penstock.kernels.values import torch_type


def _invalid(message):
    return errors.InvalidArgumentError(None, None, message)


# Crops at boxes -------------------------------------------------------------------------------


class _Lines:
    """Where in an image the rows (or columns) of each crop are: tensors [boxes, crop size]."""

    def __init__(self, first, last, size, wanted):
        span = size - 1
        steps = torch.arange(wanted, dtype=torch.float32, device=first.device)
        if wanted > 1:
            scale = (last - first) * span / (wanted - 1)
            self.source = (first * span)[:, None] + steps * scale[:, None]
        else:
            self.source = (0.5 * (first + last) * span)[:, None]
        self.steps, self.span = steps, span
        self.inside = (self.source >= 0) & (self.source <= span)
        kept = self.source.clamp(0, span)
        self.low, self.high = kept.floor(), kept.ceil()
        self.nearer = kept - self.low
        # Halves away from zero.
        self.nearest = (kept + 0.5).floor().long()

    @functools.cached_property
    def indices(self):
        return self.low.long(), self.high.long()


def _lines(boxes, height, width, crop_height, crop_width):
    top, left, bottom, right = boxes.unbind(1)
    return _Lines(top, bottom, height, crop_height), _Lines(left, right, width, crop_width)


def _checked_boxes(boxes, box_ind, batch):
    if boxes.dim() != 2 or boxes.shape[1] != 4:
        raise _invalid(f"boxes must have 4 columns, got shape {list(boxes.shape)}")
    if box_ind.shape != boxes.shape[:1]:
        raise _invalid(
            f"box_index has incompatible shape {list(box_ind.shape)} for {boxes.shape[0]} boxes"
        )
    if box_ind.numel() and (int(box_ind.min()) < 0 or int(box_ind.max()) >= batch):
        raise errors.OutOfRangeError(
            None, None, f"box_index has values outside [0, batch_size): batch_size is {batch}"
        )
    return box_ind.long()


def _at(image, numbers, rows, columns):
    """The pixels of images at rows and columns of each box: [boxes, rows, columns, channels]."""
    _, height, width, depth = image.shape
    pixels = (numbers[:, None, None] * height + rows[:, :, None]) * width + columns[:, None, :]
    flat = as_signed(image).reshape(-1, depth)
    found = flat.index_select(0, pixels.view(-1)).view(image.dtype).view(*pixels.shape, depth)
    return found if found.dtype is torch.float32 else found.float()


@kernel("CropAndResize", fresh=True)
def _(node):
    nearest = node.attrs["method"] in ("nearest", b"nearest")
    outside = node.attrs["extrapolation_value"]

    def run(image, boxes, box_ind, crop_size):
        if image.dim() != 4 or 0 in image.shape[1:3]:
            raise _invalid(f"input image must be 4-D, not empty, got shape {list(image.shape)}")
        if crop_size.shape != (2,):
            raise _invalid(f"crop_size must have two elements, got {list(crop_size.shape)}")
        crop_height, crop_width = crop_size.tolist()
        if crop_height <= 0 or crop_width <= 0:
            raise _invalid(f"crop dimensions must be positive, got {crop_height}x{crop_width}")
        numbers = _checked_boxes(boxes, box_ind, image.shape[0])
        rows, columns = _lines(boxes, *image.shape[1:3], crop_height, crop_width)
        if nearest:
            crops = _at(image, numbers, rows.nearest, columns.nearest)
        else:
            crops = _interpolated(image, numbers, rows, columns)
        inside = rows.inside[:, :, None] & columns.inside[:, None, :]
        return crops.masked_fill_(~inside[..., None], outside)

    return run


def _interpolated(image, numbers, rows, columns):
    (top, bottom), (left, right) = rows.indices, columns.indices
    depth = image.shape[-1]

    def lines(row, column):
        # A few channels are too short to vectorise over, whole lines of pixels are not.
        return _at(image, numbers, row, column).flatten(2)

    across = columns.nearer.repeat_interleave(depth, dim=1)[:, None, :]
    upper = torch.lerp(lines(top, left), lines(top, right), across)
    lower = torch.lerp(lines(bottom, left), lines(bottom, right), across)
    return torch.lerp(upper, lower, rows.nearer[:, :, None]).unflatten(2, (-1, depth))


def _corners(rows, columns):
    """The four pixels that a pixel of a crop is made of, and their shares of it."""
    down, across = rows.nearer[:, :, None], columns.nearer[:, None, :]
    (top, bottom), (left, right) = rows.indices, columns.indices
    yield top, left, (1 - down) * (1 - across)
    yield top, right, (1 - down) * across
    yield bottom, left, down * (1 - across)
    yield bottom, right, down * across


@kernel("CropAndResizeGradImage", fresh=True)
def _(node):
    dtype = torch_type(node.attrs["T"])
    nearest = node.attrs["method"] in ("nearest", b"nearest")

    def run(grads, boxes, box_ind, image_size):
        if image_size.shape != (4,):
            raise _invalid(f"image_size must have four elements, got {list(image_size.shape)}")
        batch, height, width, depth = image_size.tolist()
        if height <= 0 or width <= 0:
            raise _invalid(f"image dimensions must be positive, got {height}x{width}")
        if grads.dim() != 4 or grads.shape[3] != depth:
            raise _invalid(f"image_size and grads are incompatible: {list(grads.shape)}")
        numbers = _checked_boxes(boxes, box_ind, batch)
        if grads.shape[0] != boxes.shape[0]:
            raise _invalid(f"boxes and grads have incompatible shape: {list(grads.shape)}")
        rows, columns = _lines(boxes, height, width, *grads.shape[1:3])
        inside = (rows.inside[:, :, None] & columns.inside[:, None, :]).float()
        wide = torch.float64 if dtype is torch.float64 else torch.float32
        result = torch.zeros(batch * height * width, depth, dtype=wide, device=grads.device)
        places = [(rows.nearest, columns.nearest, 1.0)] if nearest else _corners(rows, columns)
        for down, across, share in places:
            pixel = (numbers[:, None, None] * height + down[:, :, None]) * width + across[
                :, None, :
            ]
            weighted = grads * (inside * share)[..., None]
            result.index_add_(0, pixel.reshape(-1), weighted.reshape(-1, depth).to(wide))
        return result.view(batch, height, width, depth).to(dtype)

    return run


@kernel("CropAndResizeGradBoxes", fresh=True)
def _(node):
    def run(grads, image, boxes, box_ind):
        if grads.dim() != 4 or image.dim() != 4:
            raise _invalid(
                f"grads and image must be 4-D, got {list(grads.shape)} and {list(image.shape)}"
            )
        numbers = _checked_boxes(boxes, box_ind, image.shape[0])
        rows, columns = _lines(boxes, *image.shape[1:3], *grads.shape[1:3])
        (top, bottom), (left, right) = rows.indices, columns.indices
        corners = [
            _at(image, numbers, row, column) for row in (top, bottom) for column in (left, right)
        ]
        inside = (rows.inside[:, :, None] & columns.inside[:, None, :]).float()
        down, across = rows.nearer[:, :, None, None], columns.nearer[:, None, :, None]
        top_left, top_right, bottom_left, bottom_right = corners
        by_row = (1 - across) * (bottom_left - top_left) + across * (bottom_right - top_right)
        by_column = (1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left)
        by_row = ((by_row * grads).sum(3) * inside).sum(2)
        by_column = ((by_column * grads).sum(3) * inside).sum(1)
        first_row, last_row = _by_ends(by_row, rows)
        first_column, last_column = _by_ends(by_column, columns)
        return torch.stack([first_row, first_column, last_row, last_column], 1)

    return run


def _by_ends(by_line, lines):
    """The gradient by the first and the last line of boxes, from that by each line's place."""
    count = by_line.shape[1]
    if count == 1:
        half = by_line.sum(1) * (0.5 * lines.span)
        return half, half
    share = lines.steps / (count - 1)
    return (
        (by_line * (1 - share)).sum(1) * lines.span,
        (by_line * share).sum(1) * lines.span,
    )


# Random boxes ---------------------------------------------------------------------------------

_single = np.float32


class _Words:
    """The 32-bit words of a stream one after the other, and numbers drawn from them."""

    def __init__(self, stream):
        self._stream = stream
        self._words: list[int] = []
        self._block = 0

    def next(self):
        if not self._words:
            self._words = self._stream.skipped(self._block).words(1)[0].tolist()[::-1]
            self._block += 1
        return self._words.pop()

    def fraction(self):
        """A number in [0, 1) of single precision."""
        return np.uint32(0x3F800000 | self.next() & 0x7FFFFF).view(_single) - _single(1)

    def below(self, bound):
        """An integer in [0, bound)."""
        if bound & (bound - 1) == 0:
            return self.next() & (bound - 1)
        biased = 0xFFFFFFFF % bound + 1
        while (word := self.next()) < biased:
            pass
        return word % bound


def _random_crop(words, height, width, area_range, ratio):
    """A random part of an image: first row and column, height and width; None if it can't be."""
    if area_range[0] > area_range[1]:
        return None
    least, most = (_single(share) * _single(width) * _single(height) for share in area_range)
    rows = int(np.rint(np.sqrt(least / ratio)))
    most_rows = int(np.rint(np.sqrt(most / ratio)))
    if np.rint(_single(most_rows) * ratio) > width:
        most_rows = int((width + 0.5 - 1e-7) / float(ratio))
        if np.rint(_single(most_rows) * ratio) > width:
            most_rows -= 1
    most_rows = min(most_rows, height)
    rows = min(rows, most_rows)
    if rows < most_rows:
        rows += words.below(most_rows - rows + 1)
    columns = int(np.rint(_single(rows) * ratio))
    if rows * columns < least:
        rows += 1
        columns = int(np.rint(_single(rows) * ratio))
    if rows * columns > most:
        rows -= 1
        columns = int(np.rint(_single(rows) * ratio))
    if not least <= rows * columns <= most or rows <= 0 or columns <= 0:
        return None
    if rows > height or columns > width:
        return None
    top = words.below(height - rows) if rows < height else 0
    left = words.below(width - columns) if columns < width else 0
    return top, left, rows, columns


def _covers(crop, boxes, least):
    """Whether a crop covers the share `least` of any box; boxes are of whole pixels."""
    top, left, rows, columns = crop
    for first_row, first_column, last_row, last_column in boxes:
        area = (last_row - first_row) * (last_column - first_column)
        if area < 1:
            continue
        down = min(top + rows, last_row) - max(top, first_row)
        across = min(left + columns, last_column) - max(left, first_column)
        if _single(max(down, 0) * max(across, 0)) / _single(area) >= _single(least):
            return True
    return False


@kernel("SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2", devices=HOST, fresh=True)
def _(node, env):
    dtype = torch_type(node.attrs["T"])
    ratios, areas = node.attrs["aspect_ratio_range"], node.attrs["area_range"]
    attempts = node.attrs["max_attempts"]
    _check_ranges(ratios, areas, attempts)
    generator = generator_of(node, env)
    low, high = map(_single, ratios)

    def run(image_size, bounding_boxes, covered=None):
        least = node.attrs["min_object_covered"] if covered is None else covered.item()
        if least < 0:
            raise _invalid(f"Min object covered must be non-negative: {least}")
        height, width = _checked_image_size(image_size)
        boxes = _whole_boxes(bounding_boxes, height, width, node)
        words = _Words(generator.reserve(attempts))
        crop = 0, 0, height, width
        for _ in range(attempts):
            ratio = words.fraction() * (high - low) + low
            found = _random_crop(words, height, width, areas, ratio)
            if found is not None and _covers(found, boxes, least):
                crop = found
                break
        top, left, rows, columns = crop
        ends = [
            _single(top) / _single(height),
            _single(left) / _single(width),
            _single(top + rows) / _single(height),
            _single(left + columns) / _single(width),
        ]
        return (
            torch.tensor([top, left, 0], dtype=dtype),
            torch.tensor([rows, columns, -1]).to(dtype),
            torch.tensor([float(end) for end in ends]).view(1, 1, 4),
        )

    return run


def _check_ranges(ratios, areas, attempts):
    for name, pair in (("Aspect ratio", ratios), ("Area", areas)):
        if len(pair) != 2:
            raise _invalid(f"{name} range field must specify 2 dimensions")
        if not (pair[0] > 0 and pair[1] > 0):
            raise _invalid(f"{name} range must be positive: [{pair[0]}, {pair[1]}]")
    if max(areas) > 1:
        raise _invalid(f"Area range must be in [0, 1]: [{areas[0]}, {areas[1]}]")
    if attempts <= 0:
        raise _invalid(f"Max attempts must be positive: {attempts}")


def _checked_image_size(image_size):
    if image_size.shape != (3,):
        raise _invalid(f"image_size must contain 3 elements, got shape {list(image_size.shape)}")
    height, width, _ = image_size.tolist()
    if height <= 0 or width <= 0:
        raise _invalid(f"Image height and width must be positive, got {height} and {width}")
    return height, width


def _whole_boxes(boxes, height, width, node):
    """The boxes in whole pixels: their first and last row and column."""
    if boxes.dim() != 3 or boxes.shape[2] != 4:
        raise _invalid(f"bounding boxes must have shape [batch, boxes, 4]: {list(boxes.shape)}")
    if boxes.numel() == 0:
        if not node.attrs["use_image_if_no_bounding_boxes"]:
            raise _invalid(
                "No bounding boxes provided as input. One must enable "
                "use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes."
            )
        return [(0, 0, height, width)]
    if bool(((boxes < 0) | (boxes > 1)).any()):
        raise _invalid("All bounding box coordinates must be in [0.0, 1.0]")
    sizes = torch.tensor([height, width, height, width], dtype=torch.float32)
    return (boxes.reshape(-1, 4) * sizes).to(torch.int64).tolist()


@kernel("RandomCrop", devices=HOST, fresh=True)
def _(node, env):
    generator = generator_of(node, env)

    def run(image, size):
        if image.dim() != 3:
            raise _invalid(f"Image must be 3-dimensional, got shape {list(image.shape)}")
        if size.shape != (2,):
            raise _invalid(f"target_size must have two elements, got {list(size.shape)}")
        rows, columns = size.tolist()
        height, width, _ = image.shape
        if not (0 < rows <= height and 0 < columns <= width):
            raise errors.FailedPreconditionError(
                None, None, f"can't crop {rows} x {columns} pixels from {height} x {width}"
            )
        words = _Words(generator.reserve(1))
        top = words.below(height - rows + 1) if rows < height else 0
        left = words.below(width - columns + 1) if columns < width else 0
        return image[top : top + rows, left : left + columns].clone()

    return run
