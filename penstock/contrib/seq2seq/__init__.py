"""`tf.contrib.seq2seq`: attention, decoders and their loss."""

from penstock.contrib.lazy_paths import resolver
from penstock.contrib.seq2seq.attention_mechanisms import (
    AttentionMechanism,
    BahdanauAttention,
    LuongAttention,
    hardmax,
)
from penstock.contrib.seq2seq.attention_wrapper import AttentionWrapper, AttentionWrapperState
from penstock.contrib.seq2seq.basic_decoder import BasicDecoder, BasicDecoderOutput
from penstock.contrib.seq2seq.beam_search_decoder import (
    BeamSearchDecoder,
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    FinalBeamSearchDecoderOutput,
    tile_batch,
)
from penstock.contrib.seq2seq.decoder import Decoder, dynamic_decode
from penstock.contrib.seq2seq.gather_trees import gather_tree
from penstock.contrib.seq2seq.inference_helpers import (
    CustomHelper,
    GreedyEmbeddingHelper,
    Helper,
    InferenceHelper,
    SampleEmbeddingHelper,
)
from penstock.contrib.seq2seq.loss import sequence_loss
from penstock.contrib.seq2seq.monotonic_attention import (
    BahdanauMonotonicAttention,
    LuongMonotonicAttention,
    monotonic_attention,
    safe_cumprod,
)
from penstock.contrib.seq2seq.training_helpers import (
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
    TrainingHelper,
)

__getattr__ = resolver(__name__)

__all__ = [
    "AttentionMechanism",
    "AttentionWrapper",
    "AttentionWrapperState",
    "BahdanauAttention",
    "BahdanauMonotonicAttention",
    "BasicDecoder",
    "BasicDecoderOutput",
    "BeamSearchDecoder",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "CustomHelper",
    "Decoder",
    "FinalBeamSearchDecoderOutput",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "LuongAttention",
    "LuongMonotonicAttention",
    "SampleEmbeddingHelper",
    "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper",
    "TrainingHelper",
    "dynamic_decode",
    "gather_tree",
    "hardmax",
    "monotonic_attention",
    "safe_cumprod",
    "sequence_loss",
    "tile_batch",
]
