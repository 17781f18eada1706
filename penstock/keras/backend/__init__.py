"""`tf.keras.backend`: the functions that Keras is written on."""

from penstock.keras.backend.arithmetic import *
from penstock.keras.backend.config import *
from penstock.keras.backend.ctc import *
from penstock.keras.backend.local_convolution import *
from penstock.keras.backend.neural import *
from penstock.keras.backend.phases import *
from penstock.keras.backend.recurrence import *
from penstock.keras.backend.session import *
from penstock.keras.backend.tensors import *
