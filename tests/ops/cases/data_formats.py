"""Dimensions and vectors of images in another order of the dimensions."""

from tests.ops.case import Case, array, i32, i64

BACK = {"src_format": "NCHW", "dst_format": "NHWC"}
CASES = [
    Case("DataFormatDimMap", (array([0, 1, 2, 3, -1, -4], "int32"),)),
    Case("DataFormatDimMap", (array([[0, 1], [2, 3]], "int64"),), BACK),
    Case("DataFormatDimMap", (array(2, "int32"),), label="scalar"),
    Case(
        "DataFormatDimMap",
        (array([0, 1, 2, 3, 4], "int32"),),
        {"src_format": "NDHWC", "dst_format": "NCDHW"},
        label="volumes",
    ),
    Case("DataFormatVecPermute", (i32(0, 9, 4),)),
    Case("DataFormatVecPermute", (i64(0, 9, 4, 2),), BACK),
    Case("DataFormatVecPermute", (i32(0, 9, 2),), {"src_format": "NHWC", "dst_format": "NCHW"}),
    Case("DataFormatVecPermute", (i32(0, 9, 2),), {"src_format": "HWNC", "dst_format": "WHCN"}),
    Case("DataFormatVecPermute", (i32(0, 9, 3),), label="size", fails=True),
    Case("DataFormatVecPermute", (i32(0, 9, 4, 3),), label="columns", fails=True),
]
