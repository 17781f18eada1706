"""`tf.keras.utils`."""

from penstock.keras.utils.arrays import *
from penstock.keras.utils.data_files import *
from penstock.keras.utils.data_sequence import *
from penstock.keras.utils.enqueuers import *
from penstock.keras.utils.hdf5_matrix import *
from penstock.keras.utils.model_plots import *
from penstock.keras.utils.progress_bar import *
from penstock.keras.utils.replicated_models import *
from penstock.keras.utils.serialization import *
from penstock.keras.utils.source_inputs import *
from penstock.keras.utils.weight_layouts import *
