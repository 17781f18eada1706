"""What a model is built for."""


class ModeKeys:
    """The modes of a model function: training, evaluation and prediction."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
