"""The graph: operations, tensors, the op registry, shape inference, GraphDef in and out."""
