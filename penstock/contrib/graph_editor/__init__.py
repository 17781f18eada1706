"""`tf.contrib.graph_editor`: graphs looked at, copied in part, and rewired."""

from penstock.contrib import lazy_paths
from penstock.contrib.graph_editor.edit import *
from penstock.contrib.graph_editor.elements import *
from penstock.contrib.graph_editor.elements import make_placeholder_from_dtype_and_shape as ph
from penstock.contrib.graph_editor.reroute import *
from penstock.contrib.graph_editor.select import *
from penstock.contrib.graph_editor.subgraph import *
from penstock.contrib.graph_editor.subgraph import make_view as sgv
from penstock.contrib.graph_editor.subgraph import make_view_from_scope as sgv_scope
from penstock.contrib.graph_editor.transform import *

__getattr__ = lazy_paths.resolver(__name__, {"util": "contrib.graph_editor.elements"})
