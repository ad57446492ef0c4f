"""Small files by those who made the formats: numpy, and ggml's own writer of GGUF.

    pip install numpy gguf && python tests/goldens/files/generate.py

CI never runs it; the files are committed, and tests/noop/formats.rs reads them. Element i of every array is
i * 0.25 - 3, or what its dtype makes of that; blocks.gguf has the same numbers as several types, and
values.npy and scales.npy have the two parts of its Q8_0 blocks. The three npz have the same arrays: stored, deflated, and
deflated to where nothing can be sought, so that sizes come behind the data.
"""

import io

import pathlib

import gguf
import numpy as np

HERE = pathlib.Path(__file__).parent


def numbers(*shape):
    return (np.arange(np.prod(shape, dtype=int)) * 0.25 - 3).reshape(shape)


def main():
    for dtype in ["<f4", "<f2", "<f8", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "|b1", ">f4", "<c8"]:
        # Unsigned ones begin at 0.
        array = numbers(3, 5) + (3 if dtype[1] in "ub" else 0)
        name = dtype.replace("<", "").replace("|", "").replace(">", "big-")
        np.save(HERE / f"{name}.npy", array.astype(dtype))
    np.save(HERE / "fortran.npy", np.asfortranarray(numbers(3, 5).astype("<f4")))
    np.save(HERE / "scalar.npy", np.float32(-3))

    writer = gguf.GGUFWriter(HERE / "blocks.gguf", "wharf-test")
    writer.add_string("general.name", "a file of several types")
    writer.add_array("tokenizer.list", ["a", "list", "of texts"])
    writer.add_array("some.numbers", [1, 2, 3])
    array = numbers(4, 64).astype(np.float32)
    writer.add_tensor("plain", array)
    writer.add_tensor("half", array.astype(np.float16))
    writer.add_tensor("one", np.arange(7, dtype=np.int32))
    kinds = gguf.GGMLQuantizationType
    blocks = gguf.quants.quantize(array, kinds.Q8_0)
    writer.add_tensor("blocks", blocks, raw_dtype=kinds.Q8_0)
    writer.add_tensor("brain", gguf.quants.quantize(array, kinds.BF16), raw_dtype=kinds.BF16)
    writer.add_tensor("small", gguf.quants.quantize(array, kinds.Q4_0), raw_dtype=kinds.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    blocks = np.asarray(blocks).reshape(4, 2, 34)
    np.save(HERE / "scales.npy", blocks[:, :, :2].copy().view("<f2").reshape(4, 2))
    np.save(HERE / "values.npy", blocks[:, :, 2:].copy().view("|i1").reshape(4, 64))
    bundles()


class Pipe(io.RawIOBase):
    """What is written goes by."""

    def __init__(self, file):
        self.file = file

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)


def bundles():
    array = numbers(3, 5)
    arrays = {"weight": array.astype("<f4"), "layer/ü": array.astype("<i2"), "one": np.float64(-3)}
    np.savez(HERE / "stored.npz", **arrays)
    np.savez_compressed(HERE / "deflated.npz", **arrays)
    with open(HERE / "streamed.npz", "wb") as file:
        np.savez_compressed(Pipe(file), **arrays)
    np.savez(HERE / "columns.npz", columns=np.asfortranarray(arrays["weight"]))


if __name__ == "__main__":
    main()
