"""What PyTorch makes of images, and what it returns beside a result.

    pip install torch numpy && python tests/goldens/torch/images.py

writes images.txt, in the form of shapes.txt. Where a result can be exact, the operands are chosen so: whole numbers for
elements, sixteenths for places.
"""

import torch
import torch.nn.functional as F

from generate import HERE, INF, tensor


def whole(*dims):
    return torch.randint(-9, 10, dims).float()


def grid_samples(case):
    """Ties, both ends and far beyond them; an axis of one element."""
    for x, dims in [(whole(2, 3, 4, 5), (2, 3, 4)), (whole(1, 2, 7, 2), (1, 5, 3)), (whole(1, 1, 1, 3), (1, 2, 6))]:
        grid = torch.randint(-48, 49, (*dims, 2)) / 16
        for nearest, mode in enumerate(["bilinear", "nearest"]):
            for corners in [False, True]:
                for around, padding in enumerate(["zeros", "border", "reflection"]):
                    y = F.grid_sample(x, grid, mode, padding, align_corners=corners)
                    case("grid_sample", [nearest, int(corners), around], x, grid, y)


def pools(case):
    """Places of the first of equals, and of nothing but the least there is."""
    line, plane, volume = whole(3, 10), whole(2, 2, 7, 9), whole(1, 2, 4, 5, 6)
    low = plane.clone()
    low[:, :, :4, :] = -INF
    for x, pool, size, stride, padding, dilation in [
        (line, F.max_pool1d, [3], [2], [1], [2]),
        (plane, F.max_pool2d, [2, 3], [2, 3], [0, 0], [1, 1]),
        (plane, F.max_pool2d, [3, 3], [1, 2], [1, 1], [2, 1]),
        (low, F.max_pool2d, [3, 2], [2, 1], [1, 1], [1, 2]),
        (volume, F.max_pool3d, [2, 3, 2], [1, 2, 3], [1, 0, 1], [1, 1, 2]),
    ]:
        most, places = pool(x, size, stride, padding, dilation, return_indices=True)
        for which, result in enumerate([most, places.to(torch.int32)]):
            case("max_pool_with_indices", size, stride, padding, dilation, which, x, result)


def antialiased(case):
    """In f64, rounded at the end."""
    x = torch.randn(1, 2, 11, 8)
    for cubic, mode in enumerate(["bilinear", "bicubic"]):
        for size in [(4, 3), (2, 8), (5, 13), (1, 1), (17, 2)]:
            y = F.interpolate(x.double(), size, mode=mode, antialias=True).float()
            case("interpolate_antialiased", [cubic], list(size), x, y)


def statistics(case):
    """In f64: what a norm returns beside its result; of the last axes, as PyTorch has them."""
    x = torch.randn(4, 3, 7) * 3 + 2
    for axes in [[2], [1, 2]]:
        y, mean, scale = torch.native_layer_norm(x.double(), [x.shape[i] for i in axes], None, None, 1e-3)
        for which, result in enumerate([y, mean, scale]):
            case("layer_norm_with_stats", axes, which, x, result.float())
        scale = torch.rsqrt(x.double().square().mean(axes, keepdim=True) + 1e-3)
        for which, result in enumerate([x * scale, scale]):
            case("rms_norm_with_stats", axes, which, x, result.float())


def attention(case):
    """`is_causal`: the first query is at the first key's place."""
    for heads, shared, queries, keys in [(2, 2, 3, 7), (4, 2, 7, 3), (1, 1, 1, 4), (2, 1, 5, 5)]:
        q, k, v = (torch.randn(2, n, rows, 4) for n, rows in [(heads, queries), (shared, keys), (shared, keys)])
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=heads != shared)
        case("attention_first_aligned", q, k, v, y)


def main():
    torch.manual_seed(2)
    lines = []

    def case(op, *arguments):
        def field(a):
            if isinstance(a, torch.Tensor):
                return tensor(a)
            return ",".join(map(str, a)) if isinstance(a, (list, tuple)) else str(a)
        lines.append(" | ".join([op] + [field(a) for a in arguments]))

    grid_samples(case)
    pools(case)
    antialiased(case)
    statistics(case)
    attention(case)
    (HERE / "images.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
