"""Op types that files describe."""

from penstock import proto
from penstock.ir.function import spec_of


def test_a_function_may_have_a_name_that_python_has_not():
    results = [proto.OpDef.ArgDef(name=name, type=1) for name in ("a", "b")]
    spec = spec_of(proto.OpDef(name="1__inference_<lambda>_6", output_arg=results))
    assert spec.name == "1__inference_<lambda>_6"
    assert spec.result_type._fields == ("a", "b")
