"""Kernels of convolutions that first resize or pad: those of the single ops, one after another."""

from penstock.ir import registry
from penstock.ir.step_graph import Node
from penstock.kernels.image_resize import HEIGHT, WIDTH, checked_size
from penstock.kernels.image_taps import bilinear_taps
from penstock.kernels.registry import HOST, find, kernel


def _single(node, op_type, attrs):
    """The kernel of one of the fused ops."""
    single = Node(registry.find(op_type), node.name, attrs, node.dtypes, node.shapes)
    single.inputs = node.inputs
    return find(op_type, "CPU").specialise(single, None)


def _padded_convolution(node):
    pad = _single(node, "MirrorPad", {"mode": node.attrs["mode"]})
    options = {key: node.attrs[key] for key in ("strides", "padding")}
    convolve = _single(node, "Conv2D", {**options, "dilations": [1, 1, 1, 1]})
    return lambda images, paddings, filter: convolve(pad(images, paddings), filter)


@kernel("FusedPadConv2D", devices=HOST, fresh=True)
def _(node):
    return _padded_convolution(node)


@kernel("FusedResizeAndPadConv2D", devices=HOST, fresh=True)
def _(node):
    padded_convolution = _padded_convolution(node)
    align_corners = node.attrs["resize_align_corners"]

    def run(images, size, paddings, filter):
        resized = images
        for axis, wanted in zip((HEIGHT, WIDTH), checked_size(images, size), strict=True):
            resized = _resized(resized, axis, wanted, align_corners)
        return padded_convolution(resized, paddings, filter)

    return run


def _resized(images, axis, wanted, align_corners):
    """Bilinear interpolation in the type of the images, where ResizeBilinear gives floats."""
    taps = bilinear_taps(images.shape[axis], wanted, align_corners, False, images.device)
    result = None
    for indices, weights in zip(taps.indices, taps.weights, strict=True):
        shape = [1] * 4
        shape[axis] = -1
        part = images.index_select(axis, indices) * weights.to(images.dtype).view(shape)
        result = part if result is None else result + part
    return result
