"""Weights in blocks by those who made the formats: ggml's own quantizing, and its own numbers again.

    pip install numpy gguf && python tests/goldens/files/of_ggml.py

CI never runs it; the files are committed. four_bits.gguf has weights `plain`, the same as `small` quantized to Q4_0, and
blocks of Q4_0 and Q4_K of random bits, `odd` and `super`; small_blocks.gguf and large_blocks.gguf have a tensor for each
other form of 32 and of 256 weights, of random bits, and small_blocks.gguf a row more of weights that were quantized. The
npy beside them have what gguf makes of each.
"""

import pathlib

import gguf
import numpy as np

HERE = pathlib.Path(__file__).parent
KINDS = gguf.GGMLQuantizationType

# Bytes of a block, and where in it factors of f16 lie.
SMALL = {"Q4_1": (20, (0, 2)), "Q5_0": (22, (0,)), "Q5_1": (24, (0, 2))}
LARGE = {"Q2_K": (84, (80, 82)), "Q3_K": (110, (108,)), "Q5_K": (176, (0, 2)), "Q6_K": (210, (208,))}


def write(file, tensors, plain=()):
    """Tensors in blocks by their names, each with its type, behind plain ones."""
    writer = gguf.GGUFWriter(HERE / f"{file}.gguf", "wharf-test")
    for name, array in plain:
        writer.add_tensor(name, array)
    for name, (blocks, kind) in tensors.items():
        writer.add_tensor(name, blocks, raw_dtype=kind)
        np.save(HERE / f"{file}_{name}.npy", gguf.quants.dequantize(blocks, kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def factors(random, shape):
    """Finite f16 of many magnitudes, as bytes."""
    numbers = random.uniform(-2, 2, shape) * 2.0 ** random.integers(-18, 4, shape)
    return numbers.astype("<f2").view(np.uint8)


def blocks(random, count, size, places):
    """So many blocks of random bits, but for their factors."""
    blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
    for at in places:
        blocks[:, at : at + 2] = factors(random, (count, 1))
    return blocks


def weights(random, rows, width):
    """Rows of weights, 32 of which have a magnitude of their own."""
    magnitudes = 2.0 ** random.integers(-26, 12, (rows, width // 32, 1))
    plain = (random.uniform(-1, 1, (rows, width // 32, 32)) * magnitudes).astype(np.float32)
    return plain.reshape(rows, width)


def four_bits():
    random = np.random.default_rng(26)
    plain = weights(random, 12, 128).reshape(12, 4, 32)
    plain[3, 1] = 0
    plain[4, 2, :3] = [0.75, -1.5, 1.5]
    plain[5] = random.integers(-8, 9, (4, 32)) / 4
    plain = plain.reshape(12, 128)
    odd = blocks(random, 12, 18, (0,))
    large = random.integers(0, 256, (15, 144), dtype=np.uint8)
    large[:, :4] = factors(random, (15, 2))
    tensors = {
        "small": (gguf.quants.quantize(plain, KINDS.Q4_0), KINDS.Q4_0),
        "odd": (odd.reshape(4, 54), KINDS.Q4_0),
        "super": (large.reshape(5, 432), KINDS.Q4_K),
    }
    write("four_bits", tensors, [("plain", plain)])


def small_blocks():
    random = np.random.default_rng(32)
    tensors = {}
    for name, (size, places) in SMALL.items():
        quantized = gguf.quants.quantize(weights(random, 1, 96), KINDS[name])
        bits = blocks(random, 12, size, places).reshape(4, 3 * size)
        tensors[name.lower()] = (np.concatenate([bits, quantized]), KINDS[name])
    write("small_blocks", tensors)


def large_blocks():
    random = np.random.default_rng(256)
    tensors = {}
    for name, (size, places) in LARGE.items():
        tensors[name.lower()] = (blocks(random, 6, size, places).reshape(3, 2 * size), KINDS[name])
    write("large_blocks", tensors)


if __name__ == "__main__":
    four_bits()
    small_blocks()
    large_blocks()
