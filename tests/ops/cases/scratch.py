from tests.ops.case import *

_q = Made("FIFOQueueV2", attrs={"component_types": ["float32"], "capacity": 3})
_enq = Made("QueueEnqueueV2", (_q, [f32(2)]))
_ta = Made("TensorArrayV3", (array(2, "int32"),), {"dtype": "float32", "clear_after_read": False})
_flow = Made("TensorArrayV3", _ta.inputs, _ta.attrs, output=1)
CASES = [
    Case("MatMul", (f32(2, 3), f32(3, 4))),
    Case("MatMul", (f64(3, 2), f64(3, 4)), {"transpose_a": True}, label="transposed"),
    Case("MatMul", (bf16(3, 2), bf16(2, 4))),
    Case("MatMul", (f32(2, 3), f32(2, 3)), label="sizes differ", fails=True),
    Case("AssignAdd", (Ref(f32(3)), f32(3))),
    Case("AssignAddVariableOp", (Resource(f32(3)), f32(3))),
    Case("ApplyAdam", (Ref(f32(3)), Ref(f32(3)), Ref(f32(3, lo=0, hi=1)), f32(), f32(), f32(), f32(), f32(), f32(), f32(3))),
    Case("ConcatV2", ([f64(2, 3), f64(2, 2)], array(1, "int32"))),
    Case("Unpack", (f64(2, 3),), {"num": 2}),
    Case("GatherV2", (f32(4, 2), i32(0, 4, 5), array(0, "int32"))),
    Case("ResourceGather", (Resource(f32(4, 2)), i32(0, 4, 5)), {"dtype": "float32"}, grad=(0,)),
    Case("QueueDequeueV2", (_q,), {"component_types": ["float32"]}, after=(_enq,)),
    Case("RandomUniform", (array([2, 3], "int32"),), {"dtype": "float32"}, shape_only=True),
    Case("IsVariableInitialized", (Ref(f32(2), initialized=False),)),
    Case("StringJoin", ([strings("a", "b"), strings("c", "d")],)),
    Case("Dequantize", (np.array([1, 2], dtype=[("quint8", "u1")]), f32(), array(3.0, "float32"))),
    Case("QuantizeV2", (f32(4), array(-2.0, "float32"), array(3.0, "float32")), {"T": "quint8"}),
    Case("VarHandleOp", (), {"dtype": "float32", "shape": [2]}),
    Case("AssignSub", (Ref(f32(3), initialized=False), f32(3)), fails=True),
    Case("TensorArrayReadV3", (_ta, array(0, "int32"), Made("TensorArrayWriteV3", (_ta, array(0, "int32"), f32(2), _ta))), {"dtype": "float32"}, label='bad', fails=True),
    Case("LeakyRelu", (f64(5),)),
    Case("NoOp"),
    Case("Softmax", (f64(2,3),)),
    Case("Conv2D", (f64(1,5,5,2), f64(3,3,2,3)), {"strides": [1,1,1,1], "padding": "SAME"}),
    Case("Conv2D", (f32(1,2,5,5), f32(3,3,2,3)), {"strides": [1,1,1,1], "padding": "SAME", "data_format": "NCHW"}, label="nchw", expected=(np.zeros((1,3,5,5),'f'),)),
]
