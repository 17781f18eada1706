"""The message schemas: completeness, field numbers, and life beside TensorFlow's own messages."""

from __future__ import annotations

import copy
import importlib.util
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap

import pytest
from google.protobuf import text_format

from penstock import proto

ROOT = pathlib.Path(__file__).resolve().parents[2]

WANTED = """
GraphDef NodeDef AttrValue NameAttrList TensorProto VariantTensorDataProto TensorShapeProto OpDef
OpList FunctionDef FunctionDefLibrary GradientDef VersionDef FullTypeDef ResourceHandleProto
VariableDef SaveSliceInfoDef SaverDef CheckpointState MetaGraphDef CollectionDef SignatureDef
TensorInfo AssetFileDef SavedModel StructuredValue SavedObjectGraph TrackableObjectGraph ConfigProto
GPUOptions GraphOptions OptimizerOptions RunOptions RunMetadata ThreadPoolOptionProto
CallableOptions TensorConnection RPCOptions RewriterConfig VerifierConfig ClusterDef JobDef
ClusterDeviceFilters ServerDef DeviceAttributes DeviceLocality DeviceProperties NamedDevice
StepStats DeviceStepStats NodeExecStats AllocationDescription TensorDescription CostGraphDef
MemoryLogStep MemoryLogTensorOutput Summary SummaryMetadata HistogramProto Event SessionLog
LogMessage TaggedRunMetadata Example SequenceExample Features Feature FeatureLists BytesList
FloatList Int64List ExampleParserConfiguration BundleHeaderProto BundleEntryProto SavedTensorSlices
TensorSliceProto CondContextDef WhileContextDef ControlFlowContextDef ValuesDef QueueRunnerDef
NamedTensorProto DebugOptions DebugTensorWatch CoordinationServiceConfig ReaderBaseState
CreateSessionRequest ExtendSessionRequest RunStepRequest RunStepResponse PartialRunSetupRequest
ListDevicesResponse MakeCallableRequest RunCallableRequest ReleaseCallableRequest
CreateWorkerSessionRequest RegisterGraphRequest RunGraphRequest RunGraphResponse RecvTensorRequest
RecvTensorResponse RecvBufRequest RecvBufRespExtra LoggingResponse CompleteGroupRequest
CompleteInstanceRequest GetStepSequenceResponse GrpcPayloadContainer
""".split()


@pytest.mark.parametrize("name", WANTED)
def test_message_is_here(name: str) -> None:
    cls = getattr(proto, name)
    assert cls.DESCRIPTOR.name == name
    assert cls.DESCRIPTOR.full_name.startswith("tensorflow.")
    assert cls.FromString(cls().SerializeToString()) == cls()


def test_every_name_can_be_had() -> None:
    assert set(WANTED) < set(proto.__all__)
    for name in proto.__all__:
        assert getattr(proto, name) is getattr(proto, name)
        assert name in dir(proto)


def test_other_names_are_errors() -> None:
    with pytest.raises(AttributeError, match="NoSuchMessage"):
        _ = proto.NoSuchMessage


# Bytes of TensorFlow 2.21; RunStepRequest's by the numbers its client puts on the wire.
RECORDED = {
    "TensorShapeProto": (
        "dim { size: 2 name: 'n' } dim { size: -1 }",
        "120508021201 6e 120b08ffffffffffffffffff01",
    ),
    "NodeDef": (
        "name: 'a' op: 'B' input: 'c' device: '/cpu:0' attr { key: 'T' value { type: DT_FLOAT } }",
        "0a0161 120142 1a0163 22062f6370753a30 2a070a0154 12023001",
    ),
    "RunStepRequest": (
        "session_handle: 's' fetch: 'f:0' target: 't' store_errors_in_response_body: true "
        "request_id: 3",
        "0a0173 1a03663a30 220174 3801 4003",
    ),
    "DeviceAttributes": (
        "name: 'd' device_type: 'CPU' memory_limit: 268435456 incarnation: 1",
        "0a0164 1203435055 208080808001 310100000000000000",
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_bytes_are_tensorflows(name: str) -> None:
    text, hexadecimal = RECORDED[name]
    message = text_format.Parse(text, getattr(proto, name)(), descriptor_pool=proto.POOL)
    assert message.SerializeToString(deterministic=True) == bytes.fromhex(hexadecimal)


def test_enums() -> None:
    assert proto.DataType.Value("DT_FLOAT") == proto.DataType.DT_FLOAT == 1
    assert proto.DataType.Value("DT_BOOL_REF") == 110
    assert proto.Code.Name(5) == "NOT_FOUND"
    assert proto.RunOptions.FULL_TRACE == 3
    assert proto.RunOptions.TraceLevel.Value("NO_TRACE") == 0


def test_copies() -> None:
    graph = proto.GraphDef()
    graph.node.add(name="a", op="Const").attr["value"].i = 3
    assert copy.deepcopy(graph) == graph
    assert pickle.loads(pickle.dumps(graph)) == graph  # noqa: S301 - our own bytes


def test_any_holds_our_messages() -> None:
    response = proto.RecvTensorResponse()
    extra = proto.RecvBufRespExtra(tensor_content=[b"x"])
    response.transport_options.Pack(extra)
    unpacked = proto.RecvBufRespExtra()
    assert response.transport_options.Unpack(unpacked)
    assert unpacked == extra


def run(program: str) -> str:
    program = textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("ours_first", [True, False])
def test_other_messages_of_the_same_name_may_be_in_the_process(ours_first: bool) -> None:
    ours = "from penstock.proto import GraphDef\n"
    theirs = textwrap.dedent("""
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
        file = descriptor_pb2.FileDescriptorProto(name="graph.proto", package="tensorflow")
        file.message_type.add(name="GraphDef").field.add(name="other", number=1, type=5, label=1)
        pool = descriptor_pool.Default()
        pool.AddSerializedFile(file.SerializeToString())
        Theirs = message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.GraphDef"))
    """)
    use = textwrap.dedent("""
        graph = GraphDef()
        graph.node.add(name="n")
        assert Theirs(other=3).SerializeToString() == b"\\x08\\x03"
        assert GraphDef.DESCRIPTOR.full_name == Theirs.DESCRIPTOR.full_name
        assert GraphDef.FromString(graph.SerializeToString()).node[0].name == "n"
    """)
    run(ours + theirs + use if ours_first else theirs + ours + use)


def test_the_default_pool_stays_clean() -> None:
    run("""
        import penstock.proto
        for name in penstock.proto.__all__:
            getattr(penstock.proto, name)
        from google.protobuf import descriptor_pool
        try:
            descriptor_pool.Default().FindMessageTypeByName("tensorflow.GraphDef")
        except KeyError:
            pass
        else:
            raise SystemExit("tensorflow.GraphDef is in the default pool")
    """)


def test_compiled_schemas_are_current(tmp_path: pathlib.Path) -> None:
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("grpcio-tools, which carries the protobuf compiler, is not installed")
    output = tmp_path / "schemas.binpb"
    tool = ROOT / "tools" / "compile_schemas.py"
    subprocess.run([sys.executable, str(tool), "--output", str(output)], check=True)
    assert output.read_bytes() == (ROOT / "penstock" / "proto" / "schemas.binpb").read_bytes()


def test_inner_messages_with_protobuf_in_pure_python() -> None:
    program = """
        from google.protobuf.internal import api_implementation
        assert api_implementation.Type() == "python"
        from penstock.proto import Summary
        value = Summary.Value(tag="loss", simple_value=1.0)
        assert Summary.FromString(Summary(value=[value]).SerializeToString()).value[0] == value
        assert Summary.Value.DESCRIPTOR.full_name == "tensorflow.Summary.Value"
    """
    environment = {**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"}
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], check=True, env=environment, cwd=ROOT
    )
