"""Blocks of 256 weights by those who made the formats.

    pip install numpy gguf && python tests/goldens/files/large_blocks.py

CI never runs it; the files are committed. large_blocks.gguf has a tensor of random bits for each form; the npy beside it
have what gguf makes of them.
"""

import pathlib

import gguf
import numpy as np

HERE = pathlib.Path(__file__).parent

# Bytes of a block, and where in it factors of f16 lie.
FORMS = {
    "Q2_K": (84, (80, 82)),
    "Q3_K": (110, (108,)),
    "Q5_K": (176, (0, 2)),
    "Q6_K": (210, (208,)),
}


def main():
    random = np.random.default_rng(256)
    writer = gguf.GGUFWriter(HERE / "large_blocks.gguf", "wharf-test")
    for name, (size, factors) in FORMS.items():
        kind = gguf.GGMLQuantizationType[name]
        blocks = random.integers(0, 256, (6, size), dtype=np.uint8)
        for at in factors:
            numbers = random.uniform(-2, 2, (6, 1)) * 2.0 ** random.integers(-18, 4, (6, 1))
            blocks[:, at : at + 2] = numbers.astype("<f2").view(np.uint8)
        blocks = blocks.reshape(3, 2 * size)
        writer.add_tensor(name.lower(), blocks, raw_dtype=kind)
        np.save(HERE / f"large_blocks_{name.lower()}.npy", gguf.quants.dequantize(blocks, kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
