"""The sets of types that many ops allow, under the names that op registrations use.

`T=FLOATING` restricts a type attr to a set, `T=types(REAL, COMPLEX)` to several of them.
"""

from __future__ import annotations

from penstock import dtypes
from penstock.dtypes import DType

INDEX: tuple[DType, ...] = (dtypes.int32, dtypes.int64)

FLOATING: tuple[DType, ...] = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)
NARROW_FLOATING: tuple[DType, ...] = (dtypes.bfloat16, dtypes.float16, dtypes.float32)
SINGLE_DOUBLE: tuple[DType, ...] = (dtypes.float32, dtypes.float64)
COMPLEX: tuple[DType, ...] = (dtypes.complex64, dtypes.complex128)
FLOATING_COMPLEX: tuple[DType, ...] = FLOATING + COMPLEX

SIGNED: tuple[DType, ...] = (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
UNSIGNED: tuple[DType, ...] = (dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64)
INTEGER: tuple[DType, ...] = SIGNED + UNSIGNED

REAL: tuple[DType, ...] = FLOATING + INTEGER
QUANTIZED: tuple[DType, ...] = (
    dtypes.qint8,
    dtypes.quint8,
    dtypes.qint32,
    dtypes.qint16,
    dtypes.quint16,
)
NUMERIC: tuple[DType, ...] = REAL + COMPLEX + QUANTIZED

# What a feature of a tf.train.Example holds.
FEATURE: tuple[DType, ...] = (dtypes.float32, dtypes.int64, dtypes.string)
