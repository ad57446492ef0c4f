"""The model by PyTorch on the CPU, for `peer-cpu --torch`.

On its input come the names and shapes of all tensors, a line each, an empty line, and their numbers (f32); then a
line for each run, which is answered with its seconds (f64) and the embeddings (f32).
"""

import struct
import sys
import time

import torch
import torch.nn.functional as F

LAYERS, HEADS, EPSILON = 6, 12, 1e-12
TOLD, SAID = sys.stdin.buffer, sys.stdout.buffer


def tensors():
    shapes = []
    for line in iter(TOLD.readline, b"\n"):
        name, *dims = line.decode().split()
        shapes.append((name, [int(dim) for dim in dims]))
    for name, dims in shapes:
        numbers = bytearray(TOLD.read(4 * torch.Size(dims).numel()))
        yield name, torch.frombuffer(numbers, dtype=torch.float32).reshape(dims)


def forward(ids, there, of):
    def linear(name, x):
        return F.linear(x, of[f"{name}.weight"], of[f"{name}.bias"])

    def norm(name, x):
        return F.layer_norm(x, x.shape[-1:], of[f"{name}.LayerNorm.weight"], of[f"{name}.LayerNorm.bias"], EPSILON)

    batch, tokens = ids.shape
    table = {part: of[f"embeddings.{part}_embeddings.weight"] for part in ("word", "position", "token_type")}
    x = F.embedding(ids, table["word"]) + table["position"][:tokens] + table["token_type"][0]
    x = norm("embeddings", x)
    for n in range(LAYERS):
        layer = f"encoder.layer.{n}"
        parts = [linear(f"{layer}.attention.self.{part}", x) for part in ("query", "key", "value")]
        q, k, v = (part.reshape(batch, tokens, HEADS, -1).transpose(1, 2) for part in parts)
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=there[:, None, None, :])
        seen = seen.transpose(1, 2).reshape(batch, tokens, -1)
        x = norm(f"{layer}.attention.output", linear(f"{layer}.attention.output.dense", seen) + x)
        wide = F.gelu(linear(f"{layer}.intermediate.dense", x))
        x = norm(f"{layer}.output", linear(f"{layer}.output.dense", wide) + x)
    weight = there[:, :, None].to(x.dtype)
    return F.normalize((x * weight).sum(1) / weight.sum(1), dim=1)


def main():
    of = dict(tensors())
    ids = of.pop("ids").long()
    there = torch.ones(ids.shape, dtype=torch.bool)
    with torch.inference_mode():
        for _ in iter(TOLD.readline, b""):
            begin = time.perf_counter()
            result = forward(ids, there, of)
            elapsed = time.perf_counter() - begin
            SAID.write(struct.pack("<d", elapsed) + result.contiguous().numpy().tobytes())
            SAID.flush()


main()
