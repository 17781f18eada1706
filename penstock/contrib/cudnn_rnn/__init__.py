"""`tf.contrib.cudnn_rnn`: recurrent layers as cuDNN has them, on any device."""

from penstock.contrib import lazy_paths
from penstock.contrib.cudnn_rnn.cells import CudnnCompatibleGRUCell, CudnnCompatibleLSTMCell
from penstock.contrib.cudnn_rnn.layers import CudnnGRU, CudnnLSTM, CudnnRNNRelu, CudnnRNNTanh

__all__ = [
    "CudnnCompatibleGRUCell",
    "CudnnCompatibleLSTMCell",
    "CudnnGRU",
    "CudnnLSTM",
    "CudnnRNNRelu",
    "CudnnRNNTanh",
]

__getattr__ = lazy_paths.resolver(__name__)
