"""Memory for received tensors: used again when nobody has it any more, within a limit."""

import gc

import numpy as np
import torch

from penstock.distributed.kept_buffers import KeptBuffers


def test_a_buffer_comes_back_when_its_last_view_is_gone():
    buffers = KeptBuffers()
    buffer = buffers.take(1000)
    address = buffer.ctypes.data
    tensor = torch.from_numpy(buffer[8:16].view(np.float32))
    tensor.fill_(3.0)
    del buffer
    gc.collect()
    assert buffers.kept == 0
    other = buffers.take(1000)
    other[:] = 1
    assert tensor.tolist() == [3.0, 3.0]
    del tensor
    gc.collect()
    assert buffers.kept == 1000
    again = buffers.take(800)
    assert len(again) == 800
    assert again.ctypes.data == address


def test_one_that_is_much_too_large_is_not_given_out():
    buffers = KeptBuffers()
    large = buffers.take(1000)
    del large
    gc.collect()
    small = buffers.take(100)
    assert len(small) == 100
    assert buffers.kept == 1000


def test_no_more_than_the_limit_is_kept():
    buffers = KeptBuffers(most_kept=2500)
    taken = [buffers.take(1000) for _ in range(5)]
    del taken
    gc.collect()
    assert buffers.kept == 2000
    buffers.clear()
    assert buffers.kept == 0
