"""All functions on arrays under one name, for code that needs several kinds of them.

Each kind has a module of its own, with its op types, shape rules and gradients.
"""

# ruff: noqa: F403 - what these modules offer is what this one offers
from penstock.ops.blocks import *
from penstock.ops.broadcasting import *
from penstock.ops.diagonals import *
from penstock.ops.filling import *
from penstock.ops.gather import *
from penstock.ops.identity import *
from penstock.ops.joining import *
from penstock.ops.masking import *
from penstock.ops.padding import *
from penstock.ops.partitioning import *
from penstock.ops.permuting import *
from penstock.ops.scatter import *
from penstock.ops.shaping import *
from penstock.ops.slicing import *
from penstock.ops.unique import *
