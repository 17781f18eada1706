"""Convolutions, pooling, normalisation, losses, recurrent cells, sampled classes."""

from typing import Any

import numpy as np

from benchmarks.ops.trial import Family, alike, side, takes
from tests.ops.case import array, f32, i32, i64

_CHANNELS = 16
_ONE = {"strides": [1, 1, 1, 1], "padding": "SAME"}
_ONE_3D = {"strides": [1, 1, 1, 1, 1], "padding": "SAME"}
_POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
_POOL_3D = {"ksize": [1, 2, 2, 2, 1], "strides": [1, 2, 2, 2, 1], "padding": "VALID"}
_HALVES = array([1, 2, 2, 1], "int32")
_PADDINGS = array([[0, 0], [1, 1], [1, 1], [0, 0]], "int32")
_PADDED = {"mode": "REFLECT", "strides": [1, 1, 1, 1], "padding": "VALID"}


def _image(n: int) -> tuple[int, int, int, int]:
    """Images of 32 × 32 pixels; one of 8 × 8 for few elements."""
    return (1, 8, 8, _CHANNELS) if n < 10**4 else (n // (32 * 32 * _CHANNELS), 32, 32, _CHANNELS)


def _half(n: int) -> tuple[int, int, int, int]:
    batch, height, width, channels = _image(n)
    return batch, height // 2, width // 2, channels


def _one_image(n: int) -> tuple[np.ndarray]:
    edge = side(n // _CHANNELS)
    return (f32(1, edge, edge, _CHANNELS),)


def _cuts(n: int) -> list[np.ndarray]:
    """Where the rows and columns of images are cut to pool each two of them."""
    return [np.arange(0, size + 1, 2) for size in _image(n)[1:3]]


def _volume(n: int) -> tuple[int, int, int, int, int]:
    return (1, 4, 4, 4, _CHANNELS) if n < 10**4 else (n // (16**3 * _CHANNELS), 16, 16, 16, 16)


def _half_volume(n: int) -> tuple[int, int, int, int, int]:
    batch, depth, height, width, channels = _volume(n)
    return batch, depth // 2, height // 2, width // 2, channels


def _filter(*leading: int) -> np.ndarray:
    return f32(*leading, _CHANNELS, _CHANNELS)


def _ix(shape: tuple[int, ...]) -> np.ndarray:
    return array(list(shape), "int32")


def _maxima(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Images and the greatest of each two by two pixels."""
    images = f32(*_image(n))
    b, h, w, c = _half(n)
    return images, images.reshape(b, h, 2, w, 2, c).max((2, 4))


def _maxima_3d(n: int) -> tuple[np.ndarray, np.ndarray]:
    volumes = f32(*_volume(n))
    b, d, h, w, c = _half_volume(n)
    return volumes, volumes.reshape(b, d, 2, h, 2, w, 2, c).max((2, 4, 6))


def _argmax(n: int) -> np.ndarray:
    """Where the maxima are, if each is the first of its four pixels."""
    b, h, w, c = _half(n)
    y, x, z = np.meshgrid(2 * np.arange(h), 2 * np.arange(w), np.arange(c), indexing="ij")
    return np.broadcast_to((y * 2 * w + x) * c + z, (b, h, w, c)).astype("int64")


def _per_channel(count: int) -> list[np.ndarray]:
    return [f32(_CHANNELS, lo=0.5, hi=1.5) for _ in range(count)]


def _normalised(n: int) -> tuple[Any, ...]:
    return f32(*_image(n)), *_per_channel(2), f32(0), f32(0)


def _normalised_gradient(n: int, reserved: int) -> tuple[Any, ...]:
    return f32(*_image(n)), f32(*_image(n)), *_per_channel(1 + reserved)


def _logits(n: int) -> np.ndarray:
    return f32(n // 100, 100)


def _cell(n: int) -> tuple[np.ndarray, ...]:
    """An LSTM cell of 128 units (4 for few elements): input, state, weights."""
    units, batch = (4, 32) if n < 10**4 else (128, n // 1024)
    peepholes = [f32(units) for _ in range(3)]
    state = [f32(batch, units) for _ in range(3)]
    return (*state, f32(2 * units, 4 * units) * np.float32(0.1), *peepholes, f32(4 * units))


def _sequence(n: int) -> tuple[np.ndarray, ...]:
    """Ten time steps of an LSTM."""
    x, *others = _cell(n // 10)
    return (array(10, "int64"), f32(10, *x.shape), *others)


def _like(model: np.ndarray, count: int) -> list[np.ndarray]:
    return [f32(*model.shape, lo=0.1, hi=0.9) for _ in range(count)]


def _cell_gradient(n: int) -> tuple[np.ndarray, ...]:
    cell = _cell(n)
    return (*cell, *_like(cell[1], 8))


def _sequence_gradient(n: int) -> tuple[np.ndarray, ...]:
    sequence = _sequence(n)
    return (*sequence, *_like(sequence[1], 9))


def _gru(n: int) -> tuple[np.ndarray, ...]:
    x, h, _, *_rest = _cell(n)
    units = h.shape[1]
    weights = f32(2 * units, 2 * units), f32(2 * units, units)
    return (x, h, *(w * np.float32(0.1) for w in weights), f32(2 * units), f32(units))


def _ctc(n: int) -> tuple[np.ndarray, ...]:
    """Sequences of 50 steps and 20 classes with labels of 10."""
    batch = max(1, n // 1000)
    where = np.array([[b, t] for b in range(batch) for t in range(10)], "int64")
    return f32(50, batch, 20), where, i32(0, 19, 10 * batch), np.full(batch, 50, "int32")


def _sampled(n: int) -> dict[str, Any]:
    return {"num_true": 1, "num_sampled": n // 20, "unique": True, "range_max": n}


def _true_classes(n: int) -> np.ndarray:
    return i64(0, n, n // 20, 1)


FAMILY: Family = {
    "Conv2D": lambda n: takes(f32(*_image(n)), _filter(3, 3), **_ONE),
    "Conv2DBackpropInput": lambda n: takes(_ix(_image(n)), _filter(3, 3), f32(*_image(n)), **_ONE),
    "Conv2DBackpropFilter": lambda n: takes(
        f32(*_image(n)), _ix((3, 3, _CHANNELS, _CHANNELS)), f32(*_image(n)), **_ONE
    ),
    "Conv3D": lambda n: takes(f32(*_volume(n)), _filter(3, 3, 3), **_ONE_3D),
    "Conv3DBackpropInputV2": lambda n: takes(
        _ix(_volume(n)), _filter(3, 3, 3), f32(*_volume(n)), **_ONE_3D
    ),
    "Conv3DBackpropFilterV2": lambda n: takes(
        f32(*_volume(n)), _ix((3, 3, 3, _CHANNELS, _CHANNELS)), f32(*_volume(n)), **_ONE_3D
    ),
    "DepthwiseConv2dNative": lambda n: takes(f32(*_image(n)), f32(3, 3, _CHANNELS, 1), **_ONE),
    "DepthwiseConv2dNativeBackpropInput": lambda n: takes(
        _ix(_image(n)), f32(3, 3, _CHANNELS, 1), f32(*_image(n)), **_ONE
    ),
    "DepthwiseConv2dNativeBackpropFilter": lambda n: takes(
        f32(*_image(n)), _ix((3, 3, _CHANNELS, 1)), f32(*_image(n)), **_ONE
    ),
    "Dilation2D": lambda n: takes(
        f32(*_image(n)), f32(3, 3, _CHANNELS), rates=[1, 1, 1, 1], **_ONE
    ),
    **alike(
        "Dilation2DBackpropFilter Dilation2DBackpropInput",
        lambda n: takes(
            f32(*_image(n)),
            f32(3, 3, _CHANNELS),
            f32(*_image(n)),
            rates=[1, 1, 1, 1],
            **_ONE,
        ),
    ),
    **alike("AvgPool MaxPool MaxPoolWithArgmax", lambda n: takes(f32(*_image(n)), **_POOL)),
    "MaxPoolV2": lambda n: takes(f32(*_image(n)), _HALVES, _HALVES, padding="VALID"),
    "AvgPoolGrad": lambda n: takes(_ix(_image(n)), f32(*_half(n)), **_POOL),
    "MaxPoolGrad": lambda n: takes(*_maxima(n), f32(*_half(n)), **_POOL),
    "MaxPoolGradV2": lambda n: takes(
        *_maxima(n), f32(*_half(n)), _HALVES, _HALVES, padding="VALID"
    ),
    "MaxPoolGradGrad": lambda n: takes(*_maxima(n), f32(*_image(n)), **_POOL),
    "MaxPoolGradGradV2": lambda n: takes(
        *_maxima(n), f32(*_image(n)), _HALVES, _HALVES, padding="VALID"
    ),
    "MaxPoolGradWithArgmax": lambda n: takes(f32(*_image(n)), f32(*_half(n)), _argmax(n), **_POOL),
    **alike("AvgPool3D MaxPool3D", lambda n: takes(f32(*_volume(n)), **_POOL_3D)),
    "AvgPool3DGrad": lambda n: takes(_ix(_volume(n)), f32(*_half_volume(n)), **_POOL_3D),
    "MaxPool3DGrad": lambda n: takes(*_maxima_3d(n), f32(*_half_volume(n)), **_POOL_3D),
    "MaxPool3DGradGrad": lambda n: takes(*_maxima_3d(n), f32(*_volume(n)), **_POOL_3D),
    "ExtractVolumePatches": lambda n: takes(
        f32(*_volume(n // 8)), ksizes=[1, 2, 2, 2, 1], strides=[1, 1, 1, 1, 1], padding="SAME"
    ),
    "FusedPadConv2D": lambda n: takes(*_one_image(n), _PADDINGS, _filter(3, 3), **_PADDED),
    "FusedResizeAndPadConv2D": lambda n: takes(
        *_one_image(n), _ix(_one_image(n)[0].shape[1:3]), _PADDINGS, _filter(3, 3), **_PADDED
    ),
    **alike(
        "FractionalAvgPool FractionalMaxPool",
        lambda n: takes(f32(*_image(n)), pooling_ratio=[1.0, 1.5, 1.5, 1.0]),
    ),
    "FractionalAvgPoolGrad": lambda n: takes(
        array(list(_image(n)), "int64"), f32(*_half(n)), *_cuts(n)
    ),
    "FractionalMaxPoolGrad": lambda n: takes(*_maxima(n), f32(*_half(n)), *_cuts(n)),
    **alike("FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3", lambda n: takes(*_normalised(n))),
    **alike(
        "FusedBatchNormGrad FusedBatchNormGradV2",
        lambda n: takes(*_normalised_gradient(n, 2)),
    ),
    "FusedBatchNormGradV3": lambda n: takes(*_normalised_gradient(n, 3)),
    "LRN": lambda n: takes(f32(*_image(n))),
    "LRNGrad": lambda n: takes(*(f32(*_image(n)) for _ in range(3))),
    **alike("Softmax LogSoftmax", lambda n: takes(_logits(n))),
    "SoftmaxCrossEntropyWithLogits": lambda n: takes(_logits(n), f32(n // 100, 100, lo=0, hi=0.02)),
    "SparseSoftmaxCrossEntropyWithLogits": lambda n: takes(_logits(n), i32(0, 100, n // 100)),
    "LSTMBlockCell": lambda n: takes(*_cell(n)),
    "LSTMBlockCellGrad": lambda n: takes(*_cell_gradient(n), use_peephole=False),
    "BlockLSTM": lambda n: takes(*_sequence(n)),
    "BlockLSTMGrad": lambda n: takes(*_sequence_gradient(n), use_peephole=False),
    "GRUBlockCell": lambda n: takes(*_gru(n)),
    "GRUBlockCellGrad": lambda n: takes(*_gru(n), *_like(_gru(n)[1], 4)),
    "CTCLoss": lambda n: takes(*_ctc(n)),
    "CTCGreedyDecoder": lambda n: takes(_ctc(n)[0], _ctc(n)[3]),
    "CTCBeamSearchDecoder": lambda n: takes(
        _ctc(n // 10)[0], _ctc(n // 10)[3], beam_width=10, top_paths=1
    ),
    "FixedUnigramCandidateSampler": lambda n: takes(
        _true_classes(n), **_sampled(n), unigrams=[1.0 + i % 7 for i in range(n)]
    ),
    **alike(
        "LogUniformCandidateSampler UniformCandidateSampler LearnedUnigramCandidateSampler "
        "ThreadUnsafeUnigramCandidateSampler",
        lambda n: takes(_true_classes(n), **_sampled(n)),
    ),
    "AllCandidateSampler": lambda n: takes(
        i64(0, n, n // 20, 1), num_true=1, num_sampled=n, unique=True
    ),
    "ComputeAccidentalHits": lambda n: takes(
        _true_classes(n), np.arange(n // 20, dtype="int64"), num_true=1
    ),
}
