"""Cross entropies of many logits by C++ of our own: ATen's functions need five passes for them."""

import ctypes

import torch

from penstock.kernels.kernel_threads import kernel_threads
from penstock.kernels.with_compiler import NativeCode

_LEAST = 1 << 17  # logits
_MANY_USES = 20


def has_native_code(logits):
    """Whether there is code for such logits, whose memory is to be used."""
    if logits.dtype is not torch.float32 or logits.numel() < _LEAST:
        return False
    if _native.library is None:
        _native.count_use()
        return False
    return True


def losses_and_gradients(logits, column):
    """The losses, and the gradients in the memory of the logits, which are contiguous."""
    return _computed(_native.library, logits, column)


def _computed(library, logits, column):
    rows, columns = logits.shape
    classes = column.reshape(-1).long()
    if rows and not 0 <= int(classes.min()) <= int(classes.max()) < columns:
        raise IndexError("a label is no class")
    losses = torch.empty(rows)
    library.cross_entropies(
        ctypes.c_void_p(logits.data_ptr()),
        ctypes.c_void_p(classes.data_ptr()),
        ctypes.c_void_p(losses.data_ptr()),
        ctypes.c_int64(rows),
        ctypes.c_int64(columns),
        torch.get_num_threads(),
    )
    return losses, logits


def _is_good(library):
    """Whether it gives ATen's values, nearly."""
    library.cross_entropies.restype = None
    logits = 20 * torch.randn(37, 211)
    column = torch.randint(211, (37, 1))
    expected = torch.log_softmax(logits, 1)
    with kernel_threads(1):  # another one may be at work for a step
        losses, gradients = _computed(library, logits.clone(), column)
    of_class = expected.gather(1, column)
    wanted = expected.exp().scatter_add_(1, column, -torch.ones_like(of_class))
    return torch.allclose(losses, -of_class.squeeze(1), atol=1e-5) and torch.allclose(
        gradients, wanted, atol=1e-6
    )


_native = NativeCode("cross_entropy.cpp", _MANY_USES, _is_good, ("-ffp-contract=fast", "-fopenmp"))
