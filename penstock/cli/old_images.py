"""What Pillow and SciPy have dropped of what programs read and write images with.

`scipy.misc.imread`, `imresize`, `imsave` and their neighbours were a few lines on Pillow, and are
again; Pillow's `ANTIALIAS` is the filter that it now calls LANCZOS.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

_FILTERS = {
    "nearest": "NEAREST",
    "lanczos": "LANCZOS",
    "bilinear": "BILINEAR",
    "bicubic": "BICUBIC",
    "cubic": "BICUBIC",
}


def restore() -> None:
    """Gives Pillow the names back that it lacks."""
    from PIL import Image, ImageDraw, ImageFont

    for old, new in {"ANTIALIAS": "LANCZOS", "LINEAR": "BILINEAR", "CUBIC": "BICUBIC"}.items():
        if not hasattr(Image, old):
            setattr(Image, old, getattr(Image, new))
    for kind in (ImageFont.ImageFont, ImageFont.FreeTypeFont):
        if not hasattr(kind, "getsize"):
            kind.getsize = lambda self, text: self.getbbox(text)[2:]  # type: ignore[union-attr]
    if not hasattr(ImageDraw.ImageDraw, "textsize"):
        ImageDraw.ImageDraw.textsize = _textsize  # type: ignore[attr-defined]
    if not hasattr(Image.fromarray, "__wrapped__"):
        Image.fromarray = _by_the_given_mode(Image.fromarray)


def _textsize(draw: Any, text: str, font: Any = None) -> tuple[int, int]:
    left_top_right_bottom = draw.textbbox((0, 0), text, font)
    return left_top_right_bottom[2], left_top_right_bottom[3]


def _by_the_given_mode(fromarray: Callable[..., Any]) -> Callable[..., Any]:
    """`Image.fromarray(array, "RGB")` took the bytes of arrays of any type for such pixels."""
    from PIL import Image

    @functools.wraps(fromarray)
    def image_of(obj: Any, mode: str | None = None) -> Any:
        try:
            return fromarray(obj, mode)
        except (TypeError, ValueError):
            if mode is None:
                raise
            height, width = (*np.shape(obj), 1)[:2]
            return Image.frombuffer(mode, (width, height), obj.tobytes(), "raw", mode, 0, 1)

    return image_of


def bytescale(
    data: Any, cmin: Any = None, cmax: Any = None, high: int = 255, low: int = 0
) -> np.ndarray:
    """An array scaled to bytes, its least value to `low` and its greatest to `high`."""
    array = np.asarray(data)
    if array.dtype == np.uint8:
        return array
    least = array.min() if cmin is None else cmin
    greatest = array.max() if cmax is None else cmax
    span = (greatest - least) or 1
    scaled = (array - least) * ((high - low) / span) + low
    return (scaled.clip(low, high) + 0.5).astype(np.uint8)


def toimage(arr: Any, high: int = 255, low: int = 0, cmin: Any = None, cmax: Any = None) -> Any:
    """An array of rank 2 or 3 as an image."""
    from PIL import Image

    array = bytescale(np.asarray(arr), cmin, cmax, high, low)
    if array.ndim == 3 and array.shape[-1] not in (1, 3, 4) and array.shape[0] in (1, 3, 4):
        array = np.moveaxis(array, 0, -1)
    return Image.fromarray(array[..., 0] if array.ndim == 3 and array.shape[-1] == 1 else array)


def fromimage(im: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """An image as an array; `flatten` gives one layer of float32 gray."""
    if mode is not None:
        im = im.convert(mode)
    elif im.mode == "P":
        im = im.convert("RGBA" if "transparency" in im.info else "RGB")
    if flatten:
        im = im.convert("F")
    elif im.mode == "1":
        im = im.convert("L")
    return np.array(im)


def imread(name: Any, flatten: bool = False, mode: str | None = None) -> np.ndarray:
    """An image file as an array."""
    from PIL import Image

    with Image.open(name) as image:
        return fromimage(image, flatten, mode)


def imsave(name: Any, arr: Any, format: str | None = None) -> None:
    """Writes an array as an image file."""
    image = toimage(arr)
    if format is None:
        image.save(name)
    else:
        image.save(name, format)


def imresize(arr: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> np.ndarray:
    """An array resized as an image: by percent, by a fraction, or to (height, width)."""
    from PIL import Image

    image = toimage(arr)
    if mode is not None:
        image = image.convert(mode)
    if isinstance(size, (int, np.integer)):
        wanted = tuple((np.array(image.size) * size / 100.0).astype(int))
    elif isinstance(size, (float, np.floating)):
        wanted = tuple((np.array(image.size) * size).astype(int))
    else:
        wanted = (size[1], size[0])
    return fromimage(image.resize(wanted, resample=getattr(Image, _FILTERS[interp])))


def imrotate(arr: Any, angle: float, interp: str = "bilinear") -> np.ndarray:
    """An array turned as an image, counter-clockwise, by degrees."""
    from PIL import Image

    filter = _FILTERS[interp]
    return fromimage(toimage(arr).rotate(angle, resample=getattr(Image, filter)))
