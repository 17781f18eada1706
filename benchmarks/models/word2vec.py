"""Skip-gram word2vec with NCE loss: 50,000 × 128 embeddings, of which a step touches a few rows.

A step draws 64 negative samples from the log-uniform distribution. Penstock and TensorFlow draw
without replacement, as `tf.nn.nce_loss` does; PyTorch and JAX, which have no such sampler, draw
with replacement, which is cheaper. To compare losses, all of them take the same given samples.
"""

from typing import Any

import numpy as np

from benchmarks.model import Compile, Model, Program, pytorch, sessions
from benchmarks.training import Arrays, session_program

WORDS, WIDTH, BATCH, SAMPLED = 50_000, 128, 128, 64
RATE = 1.0
LOG_RANGE = float(np.log(WORDS + 1))


def initial_values() -> Arrays:
    rng = np.random.default_rng(1)
    embeddings = rng.random((WORDS, WIDTH), np.float32) * 2 - 1
    weights = rng.standard_normal((WORDS, WIDTH), np.float32) * np.float32(WIDTH**-0.5)
    return {"embeddings": embeddings, "weights": weights, "biases": np.zeros(WORDS, np.float32)}


def log_uniform(rng: np.random.Generator, count: int) -> np.ndarray:
    return np.minimum(np.exp(rng.random(count) * LOG_RANGE).astype(np.int64) - 1, WORDS - 1)


def batch() -> tuple[np.ndarray, np.ndarray]:
    """Words and the words seen near them, both by rank."""
    rng = np.random.default_rng(2)
    return log_uniform(rng, BATCH), log_uniform(rng, BATCH)


def given_samples() -> np.ndarray:
    drawn = log_uniform(np.random.default_rng(3), 10 * SAMPLED)
    return np.unique(drawn)[:SAMPLED]


def expected_count(words: Any, log: Any) -> Any:
    """How often a word is expected among the samples; `log` is the framework's logarithm."""
    return log((words + 2.0) / (words + 1.0)) * (SAMPLED / LOG_RANGE)


def build_session(tf: Any) -> Program:
    inputs = tf.placeholder(tf.int32, [BATCH])
    labels = tf.placeholder(tf.int32, [BATCH, 1])
    embeddings = tf.Variable(tf.zeros([WORDS, WIDTH]), name="embeddings")
    weights = tf.Variable(tf.zeros([WORDS, WIDTH]), name="weights")
    biases = tf.Variable(tf.zeros([WORDS]), name="biases")
    embedded = tf.nn.embedding_lookup(embeddings, inputs)

    def mean_loss(sampled_values: Any) -> Any:
        return tf.reduce_mean(
            tf.nn.nce_loss(
                weights=weights,
                biases=biases,
                labels=labels,
                inputs=embedded,
                num_sampled=SAMPLED,
                num_classes=WORDS,
                sampled_values=sampled_values,
            )
        )

    words, near = batch()
    samples = given_samples()
    counts = (expected_count(ids, np.log).astype(np.float32) for ids in (near[:, None], samples))
    given = (tf.constant(samples), *(tf.constant(count) for count in counts))
    given_loss = mean_loss(given)
    optimizer = tf.train.GradientDescentOptimizer(RATE)
    return session_program(
        tf,
        given_loss,
        optimizer.minimize(mean_loss(None)),
        {inputs: words.astype(np.int32), labels: near[:, None].astype(np.int32)},
        initial_values(),
        replay_op=optimizer.minimize(given_loss),
    )


def build_torch(torch: Any, variant: str, compile: Compile) -> Program:
    functional = torch.nn.functional
    tables = {name: torch.from_numpy(value) for name, value in initial_values().items()}
    tables["biases"] = tables["biases"][:, None]

    def log_count(words: Any) -> Any:
        return torch.log(expected_count(words, torch.log))

    @compile
    def loss_of(embedded: Any, weights: Any, biases: Any, near: Any, samples: Any) -> Any:
        """Of the rows that the step needs, the true words' before the samples'."""
        biases = biases.squeeze(1)
        true = (embedded * weights[:BATCH]).sum(1) + biases[:BATCH] - log_count(near)
        false = embedded @ weights[BATCH:].T + biases[BATCH:] - log_count(samples)
        return (functional.softplus(-true).sum() + functional.softplus(false).sum()) / BATCH

    words, near = (torch.from_numpy(ids) for ids in batch())
    given = torch.from_numpy(given_samples())

    def draw() -> Any:
        return torch.rand(SAMPLED).mul_(LOG_RANGE).exp_().long().sub_(1).clamp_(max=WORDS - 1)

    def rows(samples: Any, **lookup: Any) -> list[Any]:
        outputs = torch.cat((near, samples))
        ids = {"embeddings": words, "weights": outputs, "biases": outputs}
        return [functional.embedding(ids[name], tables[name], **lookup) for name in tables]

    def train_sparse(samples: Any) -> None:
        optimizer.zero_grad()
        loss_of(*rows(samples, sparse=True), near, samples).backward()
        optimizer.step()

    def train_rows(samples: Any) -> None:
        leaves = [row.requires_grad_() for row in rows(samples)]
        gradients = torch.autograd.grad(loss_of(*leaves, near, samples), leaves)
        outputs = torch.cat((near, samples))
        for name, gradient in zip(tables, gradients, strict=True):
            ids = words if name == "embeddings" else outputs
            tables[name].index_add_(0, ids, gradient, alpha=-RATE)

    if variant == "sparse gradients":
        for table in tables.values():
            table.requires_grad_()
        optimizer = torch.optim.SGD(tables.values(), lr=RATE)
    train = {"sparse gradients": train_sparse, "index_add": train_rows}[variant]
    return Program(
        step=lambda: train(draw()),
        observe=lambda: float(loss_of(*rows(given), near, given).detach()),
        replay=lambda: train(given),
    )


def build_jax(jax: Any, variant: str) -> Program:
    jnp = jax.numpy
    words, near = batch()
    given = given_samples()

    def loss_of(rows: Any, near: Any, samples: Any) -> Any:
        embedded, weights, biases = rows
        counts = jnp.log(expected_count(jnp.concatenate((near, samples)), jnp.log))
        true = (embedded * weights[:BATCH]).sum(1) + biases[:BATCH] - counts[:BATCH]
        false = embedded @ weights[BATCH:].T + biases[BATCH:] - counts[BATCH:]
        return (jax.nn.softplus(-true).sum() + jax.nn.softplus(false).sum()) / BATCH

    def rows_of(tables: Any, words: Any, outputs: Any) -> Any:
        return tables["embeddings"][words], tables["weights"][outputs], tables["biases"][outputs]

    def train_on(tables: Any, words: Any, near: Any, samples: Any) -> Any:
        # The gradient of the rows, not of the tables: a dense gradient would have all 50,000 rows.
        outputs = jnp.concatenate((near, samples))
        gradients = jax.grad(loss_of)(rows_of(tables, words, outputs), near, samples)
        return {
            "embeddings": tables["embeddings"].at[words].add(-RATE * gradients[0]),
            "weights": tables["weights"].at[outputs].add(-RATE * gradients[1]),
            "biases": tables["biases"].at[outputs].add(-RATE * gradients[2]),
        }

    def train_on_drawn(tables: Any, key: Any, words: Any, near: Any) -> Any:
        key, used = jax.random.split(key)
        drawn = jnp.exp(jax.random.uniform(used, (SAMPLED,)) * LOG_RANGE).astype(near.dtype) - 1
        return train_on(tables, words, near, jnp.minimum(drawn, WORDS - 1)), key

    @jax.jit
    def loss_on_given(tables: Any) -> Any:
        return loss_of(rows_of(tables, words, np.concatenate((near, given))), near, given)

    replay_step = jax.jit(train_on, donate_argnums=0)
    drawing_step = jax.jit(train_on_drawn, donate_argnums=(0, 1))
    tables = {name: jnp.array(value) for name, value in initial_values().items()}
    key = jax.random.key(0)

    def step() -> None:
        nonlocal tables, key
        tables, key = drawing_step(tables, key, words, near)
        jax.block_until_ready(tables)

    def replay() -> None:
        nonlocal tables
        tables = replay_step(tables, words, near, given)

    return Program(step, lambda: float(loss_on_given(tables)), replay)


MODEL = Model(
    title="word2vec, NCE loss, 50,000 × 128",
    steps=100,
    builders={**sessions(build_session), **pytorch(build_torch), "jax": build_jax},
    # torch.compile does not trace sparse gradients.
    variants={"torch": ("sparse gradients", "index_add"), "torch-compiled": ("index_add",)},
)
