"""What the programs of main.rs have to come to: the same algorithms in numpy, in f64, which reference/ has by themes.

    pip install numpy && python tests/programs/generate.py

CI never runs it; what it writes, reference.txt, is committed.
"""

import pathlib

import numpy as np

from reference import (  # noqa: F401: each adds its own
    PROGRAMS, algebra, attending, drawn, dynamics, fields, images, learning, models, networks, paths, signals, statistics,
    systems, tables, training, warped,
)

lines = [f"{name} {' '.join(f'{x:.9g}' for x in np.ravel(program()))}" for name, program in PROGRAMS.items()]
pathlib.Path(__file__).with_name("reference.txt").write_text("\n".join(lines) + "\n")
