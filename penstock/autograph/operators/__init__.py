"""What converted code calls: each operator does Python's work, or builds nodes for tensors."""

from penstock.autograph.operators.conditionals import if_exp, if_stmt, run_if
from penstock.autograph.operators.data_structures import (
    ListPopOpts,
    ListStackOpts,
    list_append,
    list_pop,
    list_stack,
    new_list,
)
from penstock.autograph.operators.exceptions import assert_stmt
from penstock.autograph.operators.logical import and_, eq, not_, not_eq, or_
from penstock.autograph.operators.loops import for_stmt, run_for, run_while, while_stmt
from penstock.autograph.operators.py_builtins import float_, int_, len_, print_, range_
from penstock.autograph.operators.slices import GetItemOpts, get_item, set_item
from penstock.autograph.operators.special_values import (
    Undefined,
    UndefinedReturnValue,
    is_undefined,
    is_undefined_return,
    retval,
)
from penstock.autograph.operators.state import Attribute, Item

__all__ = [
    "Attribute",
    "GetItemOpts",
    "Item",
    "ListPopOpts",
    "ListStackOpts",
    "Undefined",
    "UndefinedReturnValue",
    "and_",
    "assert_stmt",
    "eq",
    "float_",
    "for_stmt",
    "get_item",
    "if_exp",
    "if_stmt",
    "int_",
    "is_undefined",
    "is_undefined_return",
    "len_",
    "list_append",
    "list_pop",
    "list_stack",
    "new_list",
    "not_",
    "not_eq",
    "or_",
    "print_",
    "range_",
    "retval",
    "run_for",
    "run_if",
    "run_while",
    "set_item",
    "while_stmt",
]
