"""Golden cases by PyTorch (CPU) of operations that take whole tensors.

    pip install torch numpy && python tests/goldens/torch/operations.py

writes operations.txt beside this file. CI never runs it; the data is committed.
tests/paper/operations.rs judges the oracle by it, tests/gpu/cases/torch/operations.rs the kernels,
as near as near.rs there says; the table in tests/goldens/torch.rs has where wharf means to differ.

    op name=setting .. | dtypes | operand | .. -> result | ..

A tensor is dtype[dims]=elements, or dtype[dims]~seed,low,count,parts: elements that are drawn by
lines.py. T is each of the dtypes in turn, whose answers are the same text: where torch has the
dtype it was asked in it, and of what is computed in 64 bits, from operands that each of them has.
Elements are decimal, of nine digits; `min` and `max` are the ends of their dtype. `scale` is the
least magnitude whose units the contract counts, where terms can cancel.
"""

import pathlib

import backward
import computed
import fourier
import lines
import matrices
import others
import placed

FAMILIES = [
    placed.order, placed.ranks, placed.found, placed.scattered, computed.products, computed.norms,
    computed.reductions, computed.running, computed.convolutions, computed.pools, computed.sizes,
    computed.attentions, computed.others, backward.convolutions, backward.pools, matrices.factors,
    fourier.transforms, others.extremes, others.vectors, others.complex_numbers,
    others.transforms, others.convolutions,
]

if __name__ == "__main__":
    for family in FAMILIES:
        family()
    text = "\n".join(lines.LINES) + "\n"
    (pathlib.Path(__file__).parent / "operations.txt").write_text(text)
