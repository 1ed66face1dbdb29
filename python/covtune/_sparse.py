"""J'J in compressed columns, from blocks of Jacobians."""
from __future__ import annotations

from typing import TYPE_CHECKING, Sequence

import numpy as np

from . import _tables as t
from ._arrays import address
from ._library import lib

if TYPE_CHECKING:
    from .graph import Block, Graph


def hessian_csc(graph: "Graph", blocks: Sequence["Block"]) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    n = graph.variables
    kinds, fixed = np.empty(n, dtype=np.uint8), np.empty(n, dtype=np.uint8)
    lib.ct_graph_describe_variables(graph._pointer, address(kinds), address(fixed), None)
    table = np.array([lib.ct_kind_dim(kind) for kind in range(t.CT_KIND_COUNT)], dtype=np.int64)
    dims = np.where(fixed != 0, 0, table[kinds])
    first = np.concatenate([[0], np.cumsum(dims)])
    n = int(first[-1])
    rows, columns, data = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for block in blocks:
        for i, A in enumerate(block.jacobians):
            for j, B in enumerate(block.jacobians):
                a, b = block.variables[:, i], block.variables[:, j]
                keep = (dims[a] > 0) & (dims[b] > 0)
                H = np.einsum("kra,krb->kab", A[keep], B[keep])
                r = first[a[keep]][:, None, None] + np.arange(A.shape[2])[None, :, None]
                c = first[b[keep]][:, None, None] + np.arange(B.shape[2])[None, None, :]
                rows.append(np.broadcast_to(r, H.shape).ravel())
                columns.append(np.broadcast_to(c, H.shape).ravel())
                data.append(H.ravel())
    row, column, value = np.concatenate(rows), np.concatenate(columns), np.concatenate(data)
    key = column * n + row
    order = np.argsort(key, kind="stable")
    unique, start = np.unique(key[order], return_index=True)
    summed = np.add.reduceat(value[order], start) if len(start) else np.zeros(0)
    indptr = np.searchsorted(unique, np.arange(n + 1) * n)
    return summed, (unique % n if n else unique).astype(np.int32), indptr.astype(np.int64), n
