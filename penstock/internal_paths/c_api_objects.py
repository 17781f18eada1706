"""`tensorflow.python.framework.c_api_util`: what tells of op types, and of how a call went."""

from __future__ import annotations

import json
import re
from typing import Any

from google.protobuf import text_format

from penstock import errors
from penstock.internal_paths.op_defs import get_registered_ops
from penstock.proto import ApiDef, ApiDefs

__all__ = ["ApiDefMap", "ScopedTFStatus"]

_LONG_TEXT = re.compile(r"<<(?P<end>\w+)\n(?P<text>.*?)\n(?P=end)", re.DOTALL)


class ScopedTFStatus:
    """How a call went: a canonical code, and what went wrong where that is not `OK`."""

    def __init__(self) -> None:
        self.code = errors.OK
        self.message = ""


class ApiDefMap:
    """What the API says about each op type: its endpoints, its arguments' names, its texts."""

    def __init__(self) -> None:
        self._op_defs = get_registered_ops()
        self._api_defs = {name: _plain_api_def(each) for name, each in self._op_defs.items()}

    def op_names(self) -> list[str]:
        return list(self._op_defs)

    def get_op_def(self, op_name: str) -> Any:
        """The signature of an op type, as an OpDef message."""
        if op_name not in self._op_defs:
            raise ValueError(f"No entry found for {op_name}.")
        return self._op_defs[op_name]

    def get_api_def(self, op_name: str) -> Any:
        """What the API says about an op type, as an ApiDef message."""
        if op_name not in self._api_defs:
            raise ValueError(f"No entry found for {op_name}.")
        return self._api_defs[op_name]

    def put_api_def(self, text: str | bytes) -> None:
        """Adds an ApiDefs message in text form, where `<<END` … `END` encloses long texts."""
        given = text.decode() if isinstance(text, bytes) else text
        quoted = _LONG_TEXT.sub(lambda match: json.dumps(match["text"]), given)
        for each in text_format.Parse(quoted, ApiDefs()).op:
            known = self._api_defs.setdefault(each.graph_op_name, ApiDef())
            for field, _ in each.ListFields():
                known.ClearField(field.name)
            known.MergeFrom(each)


def _plain_api_def(op_def: Any) -> Any:
    """What follows from a signature alone."""
    made = ApiDef(graph_op_name=op_def.name, visibility=ApiDef.VISIBLE)
    made.endpoint.add(name=op_def.name)
    for arg in op_def.input_arg:
        made.in_arg.add(name=arg.name, rename_to=arg.name, description=arg.description)
        made.arg_order.append(arg.name)
    for arg in op_def.output_arg:
        made.out_arg.add(name=arg.name, rename_to=arg.name, description=arg.description)
    for attr in op_def.attr:
        made.attr.add(name=attr.name, rename_to=attr.name, description=attr.description)
        if attr.HasField("default_value"):
            made.attr[-1].default_value.CopyFrom(attr.default_value)
    return made
