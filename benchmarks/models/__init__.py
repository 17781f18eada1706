"""The models, in the order of the table's rows."""

from benchmarks.model import Model
from benchmarks.models import (
    alexnet,
    assign_add,
    cifar,
    counting_loop,
    data_images,
    data_records,
    graph_building,
    import_time,
    mlp,
    null_step,
    ptb_lstm,
    queue_input,
    queue_pair,
    scalar_chain,
    word2vec,
)

MODELS: dict[str, Model] = {
    "null_step": null_step.MODEL,
    "assign_add": assign_add.MODEL,
    "scalar_chain": scalar_chain.MODEL,
    "mlp": mlp.MODEL,
    "cifar": cifar.MODEL,
    "alexnet": alexnet.MODEL,
    "word2vec": word2vec.MODEL,
    "counting_loop": counting_loop.MODEL,
    "ptb_dynamic_rnn": ptb_lstm.DYNAMIC_RNN,
    "ptb_while_loop": ptb_lstm.WHILE_LOOP,
    "queue_pair": queue_pair.MODEL,
    "queue_input": queue_input.ONE_BY_ONE,
    "queue_input_several": queue_input.SEVERAL,
    "data_records": data_records.ONE_BY_ONE,
    "data_record_batches": data_records.BATCH_BY_BATCH,
    "data_images": data_images.MODEL,
    "graph_building": graph_building.MODEL,
    "import_time": import_time.MODEL,
}
