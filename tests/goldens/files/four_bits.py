"""Weights of four bits by those who made the formats: ggml's own quantising, and its own numbers again.

    pip install numpy gguf && python tests/goldens/files/four_bits.py

CI never runs it; the files are committed. four_bits.gguf has weights `plain`, the same as `small` quantised to Q4_0,
blocks of Q4_0 and Q4_K of random bits, `odd` and `super`; the three npy have what gguf makes of the latter three.
"""

import pathlib

import gguf
import numpy as np

HERE = pathlib.Path(__file__).parent


def bits(random, rows, row, scales):
    """Random blocks of so many bytes, whose first halves are finite f16."""
    blocks = random.integers(0, 256, (rows, row), dtype=np.uint8)
    numbers = random.uniform(-2, 2, (rows, scales)) * 2.0 ** random.integers(-18, 4, (rows, scales))
    blocks[:, : 2 * scales] = numbers.astype("<f2").view(np.uint8)
    return blocks


def main():
    kinds = gguf.GGMLQuantizationType
    random = np.random.default_rng(26)
    magnitudes = 2.0 ** random.integers(-26, 12, (12, 4, 1))
    plain = (random.uniform(-1, 1, (12, 4, 32)) * magnitudes).astype(np.float32)
    plain[3, 1] = 0
    plain[4, 2, :3] = [0.75, -1.5, 1.5]
    plain[5] = random.integers(-8, 9, (4, 32)) / 4
    plain = plain.reshape(12, 128)
    tensors = {
        "small": (gguf.quants.quantize(plain, kinds.Q4_0), kinds.Q4_0),
        "odd": (bits(random, 12, 18, 1).reshape(4, 54), kinds.Q4_0),
        "super": (bits(random, 15, 144, 2).reshape(5, 432), kinds.Q4_K),
    }
    writer = gguf.GGUFWriter(HERE / "four_bits.gguf", "wharf-test")
    writer.add_tensor("plain", plain)
    for name, (blocks, kind) in tensors.items():
        writer.add_tensor(name, blocks, raw_dtype=kind)
        np.save(HERE / f"four_bits_{name}.npy", gguf.quants.dequantize(blocks, kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
