"""Fits on more than one process or machine: shards of a training set with workers, sums of gradients back.

    from dask.distributed import Client

    with kernelfields.distributed.use(Client("scheduler:8786")):
        model = CRF(0.1).fit(X, y)

Every fit that is a search for the minimum of an objective is shared out: `CRF`, `MEMM`, `KernelCRF`,
`GPSequenceClassifier`, with all their solvers, `StructuredSVM` with its cutting planes; and so is
expectation-maximisation of `HMM`. A shard is a pure function of its instances, an evaluation one
of a shard and an element, and sums are taken in one order: a worker may die at any moment, and the result is
the same to the last bit.
"""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from .clients import threads_of
    from .context import SHARING, Sharing, shared_out, use
    from .dask_pool import DaskPool
    from .expectations import shared_expectations
    from .file_pool import FilePool, ShardFile, write_shard
    from .process_pool import ProcessPool
    from .splitting import split
    from .thread_pool import ThreadPool
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "clients": "threads_of",
            "context": "SHARING Sharing shared_out use",
            "dask_pool": "DaskPool",
            "expectations": "shared_expectations",
            "file_pool": "FilePool ShardFile write_shard",
            "process_pool": "ProcessPool",
            "splitting": "split",
            "thread_pool": "ThreadPool",
        },
    )

__all__ = [
    "SHARING",
    "DaskPool",
    "FilePool",
    "ProcessPool",
    "ShardFile",
    "Sharing",
    "ThreadPool",
    "shared_expectations",
    "shared_out",
    "split",
    "threads_of",
    "use",
    "write_shard",
]
