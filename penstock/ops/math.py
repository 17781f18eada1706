"""All functions of the math family under one name, for code that needs several kinds of them.

Each kind has a module of its own, with its op types, shape rules and gradients.
"""

# ruff: noqa: F403 - what these modules offer is what this one offers
from penstock.ops.aggregates import *
from penstock.ops.binary import *
from penstock.ops.casts import *
from penstock.ops.clip import *
from penstock.ops.comparison import *
from penstock.ops.counting import *
from penstock.ops.einsum import *
from penstock.ops.elementwise import *
from penstock.ops.matmul import *
from penstock.ops.reductions import *
from penstock.ops.scans import *
from penstock.ops.segments import *
from penstock.ops.select import *
from penstock.ops.sparse_segments import *
from penstock.ops.special import *
from penstock.ops.tensordot import *
from penstock.ops.trigonometry import *
