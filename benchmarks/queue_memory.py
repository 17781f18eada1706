"""Peak memory while a million elements pass through a queue pipeline: it must not grow.

    python -m benchmarks.queue_memory [elements]

Prints the resident memory after each tenth of the elements, and fails if that of the last is more
than a tenth above that of the second (the first holds what is made once).
"""

from __future__ import annotations

import os
import sys

from benchmarks.models.queue_input import BATCH, batches, write_records

PARTS = 10


def resident_mebibytes() -> float:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def main(elements: int) -> int:
    import penstock as tf

    measured = []
    batch = batches(tf, write_records(tf), several=True)
    coordinator = tf.train.Coordinator()
    with tf.Session() as session:
        threads = tf.train.start_queue_runners(session, coordinator)
        for part in range(1, PARTS + 1):
            for _ in range(elements // BATCH // PARTS):
                session.run(batch)
            measured.append(resident_mebibytes())
            print(f"{part * elements // PARTS:>10,} elements: {measured[-1]:.1f} MiB", flush=True)
        coordinator.request_stop()
        coordinator.join(threads)
    return int(measured[-1] > 1.1 * measured[1])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000))
