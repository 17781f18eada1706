"""The order in which a filter's elements lie in memory: that of its gradient.

ATen's convolutions want filters with the input channels innermost, and give gradients that way;
TensorFlow's have the output channels innermost. A variable that is updated by such a gradient takes
over its order once, behind the same shape. From then on the convolution copies nothing, and the
update runs along memory.
"""

import torch

_LEAST_RANK = 4  # of a filter of images


def as_it_lies(states, buffers, grad):
    """The buffers of variables and their gradient, axes in the order of memory where all agree.

    A variable in the default order takes the gradient's; one that has another order keeps it.
    """
    if grad.dim() < _LEAST_RANK or grad.is_contiguous():
        return buffers, grad
    order = sorted(range(grad.dim()), key=grad.stride, reverse=True)
    lying = grad.permute(order)
    if not lying.is_contiguous():  # repeated elements, or a part of something larger
        return buffers, grad
    found = []
    for state, buffer in zip(states, buffers, strict=True):
        if buffer.is_contiguous():
            buffer = torch.empty_like(lying, dtype=buffer.dtype).copy_(buffer.permute(order))
            state.value = _back(buffer, order)
        else:
            buffer = buffer.permute(order)
            if not buffer.is_contiguous():
                return [state.value for state in states], grad
        found.append(buffer)
    return found, lying


def _back(tensor, order):
    """The tensor whose axes were put into an order."""
    places = [0] * len(order)
    for place, axis in enumerate(order):
        places[axis] = place
    return tensor.permute(places)
