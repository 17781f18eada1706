"""`tf.contrib.autograph`: the conversion of Python code, by all its names."""

from penstock.autograph import operators as operators
from penstock.autograph.calls import AutoGraphError as AutoGraphError
from penstock.autograph.calls import ConversionError as ConversionError
from penstock.autograph.calls import StagingError as StagingError
from penstock.autograph.calls import convert as convert
from penstock.autograph.calls import converted_call as converted_call
from penstock.autograph.calls import do_not_convert as do_not_convert
from penstock.autograph.calls import do_not_convert_internal as do_not_convert_internal
from penstock.autograph.calls import tf_convert as tf_convert
from penstock.autograph.calls import to_code as to_code
from penstock.autograph.calls import to_graph as to_graph
from penstock.autograph.directives import set_element_type as set_element_type
from penstock.autograph.directives import set_loop_options as set_loop_options
from penstock.autograph.options import ConversionOptions as ConversionOptions
from penstock.autograph.options import Feature as Feature
from penstock.autograph.special_functions import stack as stack
from penstock.autograph.special_functions import tensor_list as tensor_list
