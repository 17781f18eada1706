"""How long the threads below a kernel wait busily for the next one, in a task of a cluster.

GNU's OpenMP, on which torch's kernels are spread over processors, has them look out for work for
some milliseconds: it takes a process for the only one of the machine. Tasks mostly are several on
one. Two of them that look hold the processors that the third needs to compute what they wait for,
and each kernel that is spread takes as long as the system lets them look.
"""

from __future__ import annotations

import os

_VARIABLE = "GOMP_SPINCOUNT"
#: A number of looks, some 50 µs: OpenMP's own where it knows that threads outnumber processors.
_FEW_LOOKS = "1000"
_CHOICES = (_VARIABLE, "OMP_WAIT_POLICY")  # by which a user says what he wants


def shorten_kernel_waits() -> None:
    """Has kernels' threads sleep soon, if torch is not loaded yet: OpenMP asks when it is.

    Processes that this one starts are on the same processors, and find the same in the environment.
    """
    if not any(name in os.environ for name in _CHOICES):
        os.environ[_VARIABLE] = _FEW_LOOKS
