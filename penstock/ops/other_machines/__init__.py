"""Ops that TensorFlow itself has no kernels for on an ordinary machine.

Graphs with them can be built, imported and written; a step that needs one raises an error. They are
for TPUs, for cuDNN's recurrent networks, and fusions that builds of TensorFlow with MKL rewrite
quantized graphs into.
"""

from penstock.ops.other_machines import cudnn_rnn, mkl_quantized, tpu, tpu_embeddings

#: All of them.
OPS = (*tpu.OPS, *tpu_embeddings.OPS, *cudnn_rnn.OPS, *mkl_quantized.OPS)
