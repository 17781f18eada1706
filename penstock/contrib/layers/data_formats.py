"""Names of the orders of axes, as layers take them."""

DATA_FORMAT_NCHW = "NCHW"
DATA_FORMAT_NHWC = "NHWC"
DATA_FORMAT_NCDHW = "NCDHW"
DATA_FORMAT_NDHWC = "NDHWC"
