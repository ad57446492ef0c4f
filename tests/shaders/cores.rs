//! The kernels of reductions, rows, scans, attention, products and the like are valid in every way
//! in which they are written. What is fused with them is tried elsewhere: here each input is
//! loaded, and the result stored, as it is.

use wharf::DType;
use wharf::kernel;
use wharf::kernel::attention::text::staged::Staged;
use wharf::kernel::attention::text::{Block, Mask, Unit};
use wharf::kernel::matmul::text::product::{Means, ProductText};
use wharf::op::Kind;
use wharf::wgsl::{Edge, Expr, Form, Frame, Needs, Target, Way, Worded, Wording};

use super::{TARGETS, check};

/// A kernel of the catalog with these edges: one for each input, then one for the result.
fn frame<'a>(
    kernel: &str,
    wording: &'a dyn Wording,
    edges: &'a [Edge<'a>],
    target: Target,
) -> Frame<'a> {
    let entry = kernel::find(kernel).expect("a name in the catalog");
    let (by_element, f16_native) = (false, false);
    Frame { entry, wording, edges, by_element, workgroup: None, f16_native, rank: 0, target }
}

fn check_frame(frame: Frame<'_>) {
    check(&frame.assemble().expect("every expression here has a dtype"));
}

/// Attention, a lane to a query: with each kind of mask, with loads that lanes share and with their
/// own, of four elements and of eight.
#[test]
fn attention_is_valid() {
    let [single, double, packed] = [DType::F32, DType::U64, DType::U32].map(Expr::itself);
    let tile = Block {
        keys: 2,
        values: 4,
        queries: 1,
        block: 4,
        unroll: [4, 4],
        shared: false,
        fused: false,
        listed: false,
        unit: Unit::Quad,
        mask: Mask::None,
    };
    let tiles = [
        Block { keys: 1, values: 1, ..tile },
        Block { mask: Mask::Each, keys: 32, values: 32, ..tile },
        Block { mask: Mask::Quads, queries: 3, unroll: [1, 2], ..tile },
        Block { mask: Mask::Each, shared: true, ..tile },
        Block { shared: true, fused: true, block: 8, unroll: [1, 8], queries: 2, ..tile },
        Block { shared: true, listed: true, block: 8, unroll: [1, 8], queries: 6, ..tile },
        Block { shared: true, unit: Unit::Packed(Form::F16w), mask: Mask::Each, ..tile },
        Block { shared: true, unit: Unit::Packed(Form::F16p), block: 8, unroll: [1, 2], ..tile },
        Block { unit: Unit::Packed(Form::Bf16), mask: Mask::Quads, ..tile },
    ];
    for tile in tiles {
        let input = match tile.unit {
            Unit::Quad => &single,
            Unit::Wide => &double,
            Unit::Packed(_) => &packed,
        };
        let edge = |expr, ways| Edge { expr, ways };
        let mask: &[Way] = if tile.mask == Mask::Quads { &[Way::Dense] } else { &[Way::Each] };
        let mut edges = vec![edge(input, &[Way::Dense]); 3];
        edges.extend((tile.mask != Mask::None).then_some(edge(&single, mask)));
        edges.push(edge(&single, &[]));
        for target in TARGETS {
            check_frame(Frame { workgroup: Some(64), ..frame("attention", &tile, &edges, target) });
        }
    }
}

/// Attention, a workgroup to a tile: of many queries and of few, with and without a mask, packed in
/// every way, and storing results or states; and the kernel that joins states.
#[test]
fn attention_by_workgroups_is_valid() {
    let (single, packed) = (Expr::itself(DType::F32), Expr::itself(DType::U32));
    let tile = Staged {
        length: 16,
        width: 16,
        groups: 16,
        parts: 1,
        columns: 8,
        each: 4,
        quads: 2,
        depth: 4,
        run: 8,
        packed: None,
        masked: false,
        states: false,
    };
    let lone = Staged { groups: 1, parts: 4, columns: 16, each: 1, quads: 1, run: 4, ..tile };
    let lone = Staged { states: true, ..lone };
    let tiles = [
        tile,
        Staged { masked: true, ..tile },
        Staged { length: 3, width: 13, depth: 1, ..tile },
        Staged { packed: Some(Form::F16w), ..tile },
        Staged { packed: Some(Form::F16p), masked: true, ..tile },
        lone,
        Staged { masked: true, packed: Some(Form::Bf16), ..lone },
    ];
    let edge = |expr, ways| Edge { expr, ways };
    for tile in tiles {
        let input = if tile.packed.is_some() { &packed } else { &single };
        let mut edges = vec![edge(input, &[Way::Dense][..]); 3];
        edges.extend(tile.masked.then_some(edge(&single, &[Way::Each])));
        edges.push(edge(&single, &[]));
        for target in TARGETS {
            check_frame(frame("attention_staged", &tile, &edges, target));
        }
    }
    let edges = [edge(&single, &[Way::Dense][..]), edge(&single, &[])];
    for target in TARGETS {
        check_frame(frame("attention_join", &(), &edges, target));
    }
}

/// Softmax and norms, a lane or a workgroup to a row, by quads and by elements.
#[test]
fn softmax_and_norms_are_valid() {
    use wharf::kernel::rows::text::{RowGroup, RowsKind, RowsText};
    let number = Expr::itself(DType::F32);
    for (kernel, kind) in [
        ("softmax_rows", RowsKind::Softmax),
        ("softmax_rows", RowsKind::LogSoftmax),
        ("softmax_group", RowsKind::Softmax),
        ("softmax_group", RowsKind::LogSoftmax),
        ("norm_rows", RowsKind::Norm),
        ("norm_group", RowsKind::Norm),
    ] {
        for (target, by_element) in
            [(Target::Cpu, true), (Target::Cpu64, false), (Target::Gpu, false)]
        {
            let ways: &[Way] = if by_element { &[Way::Each] } else { &[Way::Dense] };
            let edges = [Edge { expr: &number, ways }, Edge { expr: &number, ways: &[] }];
            let group = |held| Some(RowGroup { lanes: 64, held, subgroups: false });
            let groups = kernel.ends_with("_group");
            let ways = if groups { vec![group(0), group(1), group(8)] } else { vec![None] };
            for group in ways {
                let wording = RowsText { kind, group };
                check_frame(Frame { by_element, ..frame(kernel, &wording, &edges, target) });
            }
        }
    }
}

#[test]
fn every_scan_is_valid() {
    use wharf::kernel::reduce::text::{Fold, Reduce};
    use wharf::kernel::scan::text::ScanPass;
    for kind in Kind::ALL.iter().copied().filter(|&kind| kind != Kind::Bool) {
        for fold in [Fold::Sum, Fold::Prod, Fold::Max, Fold::Min] {
            for bits in 0..8 {
                let [totals, carried, parts] = [1, 2, 4].map(|b| bits & b > 0);
                let how = Reduce { fold, kind, index: false };
                let (given, held) = (Expr::itself(kind.dtype()), Expr::itself(how.held().dtype()));
                let head = if parts { &held } else { &given };
                let tail = if totals || parts { &held } else { &given };
                let edge = |expr| Edge { expr, ways: &[Way::Each] };
                let tail = Edge { expr: tail, ways: &[] };
                let (carrying, fresh) = ([edge(head), edge(&held), tail], [edge(head), tail]);
                let edges = if carried { &carrying[..] } else { &fresh };
                for (kernel, lanes, target) in [
                    ("scan_rows", None, Target::Cpu),
                    ("scan_group", Some(32), Target::Gpu),
                    ("scan_group", Some(256), Target::Gpu),
                ] {
                    let wording = ScanPass { how, lanes, totals, carried, parts };
                    let scan = frame(kernel, &wording, edges, target);
                    check_frame(Frame { by_element: true, ..scan });
                }
            }
        }
    }
}

/// Softmax, norms and reductions that add lanes up by subgroups: of every type that subgroups know.
#[test]
fn what_uses_subgroups_is_valid() {
    use wharf::kernel::reduce::text::{Fold, Pass, Reduce, ReducePass};
    use wharf::kernel::rows::text::{RowGroup, RowsKind, RowsText};
    let group = |kernel, wording: &dyn Wording, input, output| {
        let (head, tail) = (Expr::itself(input), Expr::itself(output));
        let edges = [Edge { expr: &head, ways: &[Way::Dense] }, Edge { expr: &tail, ways: &[] }];
        let by_element = kernel == "reduce_group";
        let group = Frame { by_element, ..frame(kernel, wording, &edges, Target::Gpu) };
        let text = group.assemble().expect("every expression here has a dtype");
        let uses = text.needs.contains(Needs::SUBGROUPS);
        assert!(uses, "{kernel} does not use subgroups as {wording:?}");
        check(&text);
    };
    for kind in [RowsKind::Softmax, RowsKind::LogSoftmax, RowsKind::Norm] {
        let kernel = if kind == RowsKind::Norm { "norm_group" } else { "softmax_group" };
        for held in [0, 3] {
            let lanes = Some(RowGroup { lanes: 128, held, subgroups: true });
            group(kernel, &RowsText { kind, group: lanes }, DType::F32, DType::F32);
        }
    }
    let kinds = [(Kind::F32, DType::F32), (Kind::I32, DType::I32), (Kind::U32, DType::U32)];
    for (kind, dtype) in kinds {
        for (fold, index) in [
            (Fold::Sum, false),
            (Fold::Prod, false),
            (Fold::Max, false),
            (Fold::Min, false),
            (Fold::Max, true),
            (Fold::Min, true),
        ] {
            let how = Reduce { fold, kind, index };
            let pass = Pass {
                from_parts: false,
                to_parts: false,
                reads_elements: false,
                stores_elements: true,
            };
            let wording = ReducePass { how, pass, subgroups: true };
            group("reduce_group", &wording, dtype, if index { DType::U32 } else { dtype });
        }
    }
}

/// Every pass of every reduction, of every kind of number.
#[test]
fn every_reduction_is_valid() {
    use wharf::kernel::reduce::text::{Fold, Pass, Reduce, ReducePass};
    for kernel in ["reduce_rows", "reduce_group", "reduce_columns"] {
        for kind in Kind::ALL.iter().copied().filter(|&kind| kind != Kind::Bool) {
            for fold in [Fold::Sum, Fold::Prod, Fold::Max, Fold::Min] {
                for bits in 0..16 {
                    let [index, from_parts, to_parts, elements] =
                        [1, 2, 4, 8].map(|b| bits & b > 0);
                    if index && matches!(fold, Fold::Sum | Fold::Prod) {
                        continue;
                    }
                    let how = Reduce { fold, kind, index };
                    let columns = kernel == "reduce_columns";
                    let reads_elements = columns && elements;
                    let stores_elements = !columns || elements;
                    let pass = Pass { from_parts, to_parts, reads_elements, stores_elements };
                    let head = Expr::itself((if from_parts { how.held() } else { kind }).dtype());
                    let tail =
                        Expr::itself((if to_parts { how.held() } else { how.result() }).dtype());
                    let ways: &[Way] = if reads_elements { &[Way::Each] } else { &[Way::Dense] };
                    let edges = [Edge { expr: &head, ways }, Edge { expr: &tail, ways: &[] }];
                    let wording = ReducePass { how, pass, subgroups: false };
                    let pass = frame(kernel, &wording, &edges, Target::Cpu);
                    check_frame(Frame { by_element: stores_elements, ..pass });
                }
            }
        }
    }
}

/// The text of a product of operands of this dtype.
fn product(dtype: DType, by: Means) -> ProductText {
    ProductText { by, dtype }
}

/// Checks a kernel of these inputs that stores its result as it is.
fn check_product(
    kernel: &str,
    heads: &[Edge<'_>],
    out: &Expr,
    wording: &dyn Wording,
    workgroup: Option<u32>,
    target: Target,
) {
    let edges = [heads, &[Edge { expr: out, ways: &[] }]].concat();
    let product = frame(kernel, wording, &edges, target);
    check_frame(Frame { workgroup, f16_native: true, ..product });
}

#[test]
fn every_tile_of_a_product_is_valid() {
    use wharf::kernel::matmul::text::tile::{Along, Tile};
    let ways = [Along::K, Along::Outer, Along::Neither];
    for dtype in [DType::F32, DType::F16, DType::I8, DType::U32, DType::F64, DType::I64] {
        let (side, out) =
            (Expr::itself(dtype), Expr::itself(wharf::reference::matmul_dtype(dtype)));
        // Products never load by lane.
        for (i, target) in TARGETS.into_iter().take(3).enumerate() {
            for along in ways.iter().flat_map(|a| ways.map(|b| [*a, b])) {
                let (rows, quads) = [(4, 1), (4, 2), (8, 1)][i];
                let strips = i == 1 && along == [Along::Outer; 2];
                let tile = Tile {
                    rows,
                    quads,
                    along,
                    ragged: i == 1 && !strips,
                    shared: i == 0,
                    strips,
                    sheets: i == 0 && along[1] == Along::Outer,
                    fused: i == 0 && dtype == DType::F32,
                    even: i == 0,
                    packed: None,
                };
                let text = product(dtype, Means::Registers(tile, i == 2));
                let way = along.map(|a| [if a == Along::Neither { Way::Each } else { Way::Dense }]);
                let heads = way.each_ref().map(|ways| Edge { expr: &side, ways });
                check_product("matmul", &heads, &out, &text, Some(8), target);
            }
        }
    }
}

/// Products by tiles in workgroup memory, and products of a few rows, whose operands are dense
/// along either axis or neither.
#[test]
fn every_product_by_groups_is_valid() {
    use wharf::kernel::matmul::text::group::Group;
    use wharf::kernel::matmul::text::tile::{Along, Tile};
    use wharf::kernel::matmul::text::vector::Vector;
    let ways = [Along::K, Along::Outer, Along::Neither];
    for (i, dtype) in
        [DType::F32, DType::F16, DType::I8, DType::F64, DType::I64].into_iter().enumerate()
    {
        let (side, out) =
            (Expr::itself(dtype), Expr::itself(wharf::reference::matmul_dtype(dtype)));
        for (j, along) in ways.iter().flat_map(|a| ways.map(|b| [*a, b])).enumerate() {
            let large = along[0] == Along::Outer;
            let [rows, quads] = if large { [8, 2] } else { [4, 1] };
            let tile = Tile {
                rows,
                quads,
                along,
                ragged: along[1] != Along::K,
                shared: false,
                strips: false,
                sheets: false,
                fused: false,
                even: large,
                packed: None,
            };
            let (lanes, near_k) = (64, along.map(|a| a == Along::K));
            let (across, depth, deep, lean) = (8, 8 << (i % 3), large, (i + j) % 2 == 0);
            let group = Group { tile, lanes, across, depth, near_k, deep, lean };
            let subgroups = along[1] == Along::K && dtype.width() <= 4;
            let across = if subgroups { 1 } else { 16 };
            let (near, alone) = (near_k[1], false);
            let vector = Vector { tile, lanes, across, near_k: near, subgroups, alone, deep };
            for (kernel, by) in
                [("matmul_group", Means::Group(group)), ("matmul_vector", Means::Vector(vector))]
            {
                let way = along.map(|a| [if a == Along::Neither { Way::Each } else { Way::Dense }]);
                let heads = way.each_ref().map(|ways| Edge { expr: &side, ways });
                check_product(kernel, &heads, &out, &product(dtype, by), None, TARGETS[i % 3]);
            }
        }
    }
}

/// Products of a few rows by weights of which several quads are read at a time.
#[test]
fn every_packed_product_is_valid() {
    use wharf::kernel::matmul::text::tile::{Along, Packed, Tile};
    use wharf::kernel::matmul::text::vector::Vector;
    use wharf::wgsl::Form;
    let wide = [DType::F32, DType::F16, DType::Bf16, DType::I8, DType::U16, DType::I32]
        .map(|d| (d, Packed::Wide(Form::read(d, Target::Cpu64, true)), Target::Cpu64));
    let bytes =
        [DType::I8, DType::U8].map(|d| (d, Packed::Bytes { signed: d == DType::I8 }, Target::Gpu));
    for (dtype, packed, target) in wide.into_iter().chain(bytes) {
        let (side, packed) = (Expr::itself(packed.dtype()), Some(packed));
        let out = Expr::itself(wharf::reference::matmul_dtype(dtype));
        for alone in [true, false] {
            let along = [Along::K; 2];
            let tile = Tile {
                rows: 2,
                quads: 2,
                along,
                ragged: false,
                shared: false,
                strips: false,
                sheets: false,
                fused: false,
                even: true,
                packed,
            };
            let near_k = true;
            let (lanes, across, subgroups, deep) = (8, 1, true, near_k);
            let vector = Vector { tile, lanes, across, near_k, subgroups, alone, deep };
            let text = product(dtype, Means::Vector(vector));
            let ways = [Way::Dense];
            let head = Edge { expr: &side, ways: &ways };
            check_product("matmul_vector", &[head, head], &out, &text, None, target);
        }
    }
}

/// Products by cooperative matrices of every size, whose operands are dense along either axis or
/// neither.
#[test]
fn every_product_by_cooperative_matrices_is_valid() {
    use wharf::kernel::matmul::text::squares::Squares;
    use wharf::kernel::matmul::text::tile::{Along, Tile};
    let ways = [Along::K, Along::Outer, Along::Neither];
    for (dtype, side, teams) in
        [(DType::F16, 16, [2, 2]), (DType::F16, 8, [1, 1]), (DType::F32, 8, [2, 4])]
    {
        let part = Expr::itself(dtype);
        for along in ways.iter().flat_map(|a| ways.map(|b| [*a, b])) {
            let ragged = along[1] != Along::K;
            let tile = Tile {
                rows: 2 * side,
                quads: side / 4,
                along,
                ragged,
                shared: false,
                strips: false,
                sheets: false,
                fused: false,
                even: ragged,
                packed: None,
            };
            let (lanes, near_k) = (32 * teams[0] * teams[1], along.map(|a| a == Along::K));
            let squares = Squares { tile, side, teams, lanes, depth: 16, near_k };
            let text = product(dtype, Means::Squares(squares));
            let way = along.map(|a| [if a == Along::Neither { Way::Each } else { Way::Dense }]);
            let heads = way.each_ref().map(|ways| Edge { expr: &part, ways });
            check_product("matmul_cooperative", &heads, &part, &text, None, Target::Gpu);
        }
    }
}

/// Every kernel whose entry lists the ways in which it is written.
#[test]
fn every_wording_is_valid() {
    let mut tried = 0;
    for entry in kernel::CATALOG {
        for Worded { wording, inputs, result, by_element, target } in (entry.wordings)() {
            let inputs: Vec<_> =
                inputs.iter().map(|&(dtype, way)| (Expr::itself(dtype), [way])).collect();
            let heads = inputs.iter().map(|(expr, ways)| Edge { expr, ways });
            let result = Expr::itself(result);
            let edges: Vec<_> = heads.chain([Edge { expr: &result, ways: &[] }]).collect();
            check_frame(Frame { by_element, ..frame(entry.name, &*wording, &edges, target) });
            tried += 1;
        }
    }
    assert!(tried > 0, "no entry of the catalog lists a way");
}

/// Windows of which the highest is taken, or a sum, or one by weights: by quads and by elements.
#[test]
fn every_kind_of_windows_is_valid() {
    use wharf::kernel::windows::text::{Gather, TapsDown, WindowsText};
    for dtype in DType::ALL.iter().copied().filter(|&d| d.computes() && d != DType::Bool) {
        let (given, summed) = (Expr::itself(dtype), Expr::itself(Kind::of(dtype).dtype()));
        for bits in 0..16 {
            let [quads, whole, lone, flat] = [1, 2, 4, 8].map(|b| bits & b > 0);
            let target = TARGETS[bits % TARGETS.len()];
            for gather in [Gather::Highest, Gather::Sum, Gather::Weighted] {
                let (step, reach, phase) = (2, 1, quads.then_some(3));
                // One line by one tap of each trip, or several by all taps.
                let (lines, all) = if flat { (4, 3) } else { (1, 1) };
                let down = TapsDown { taps: all, step, reach };
                let taps = 3;
                #[rustfmt::skip]
                let text = WindowsText {
                    gather, dtype, taps, step, reach, down, lines, phase, whole, lone, flat,
                };
                let way: &[Way] = if quads { &[Way::Dense] } else { &[Way::Each] };
                let mut edges = vec![Edge { expr: &given, ways: way }];
                let weight = Edge { expr: &given, ways: &[Way::Each] };
                edges.extend((gather == Gather::Weighted).then_some(weight));
                edges.push(Edge { expr: &summed, ways: &[] });
                let windows = frame("windows", &text, &edges, target);
                check_frame(Frame { by_element: !whole, ..windows });
            }
        }
    }
}

/// Resized axes, linear and cubic, of every float: quads of the result lie across the axis, along
/// it, or along one of two.
#[test]
fn every_resized_axis_is_valid() {
    use wharf::kernel::resize::text::{Lies, ResizeText};
    for dtype in [DType::F32, DType::F16, DType::Bf16, DType::F64] {
        let (kind, given) = (Kind::of(dtype), Expr::itself(dtype));
        let summed = Expr::itself(kind.dtype());
        for lies in [Lies::Across, Lies::AcrossEach, Lies::Along(3), Lies::Along(7), Lies::Apart] {
            for (i, target) in TARGETS.into_iter().enumerate() {
                let (cubic, whole) = (i == 1 || matches!(lies, Lies::Along(7)), i == 2);
                let text = ResizeText { lies, cubic, kind, whole };
                let way: &[Way] = if lies == Lies::Across { &[Way::Dense] } else { &[Way::Each] };
                let edges = [Edge { expr: &given, ways: way }, Edge { expr: &summed, ways: &[] }];
                let resize = frame("resize", &text, &edges, target);
                check_frame(Frame { by_element: !whole, ..resize });
            }
        }
        for (i, target) in TARGETS.into_iter().enumerate() {
            let (cubic, whole) = (i == 1, i != 2);
            let lies = Lies::Walked(if cubic { 7 } else { 4 });
            let text = ResizeText { lies, cubic, kind, whole };
            let edges =
                [Edge { expr: &given, ways: &[Way::Each] }, Edge { expr: &summed, ways: &[] }];
            let enlarge = frame("enlarge", &text, &edges, target);
            check_frame(Frame { by_element: !whole, ..enlarge });
        }
    }
}

/// Means of what is covered, by every filter, of every float.
#[test]
fn every_covered_axis_is_valid() {
    use wharf::kernel::resize::text::{CoverText, Lies};
    use wharf::reference::Filter;
    for dtype in [DType::F32, DType::F16, DType::Bf16, DType::F64] {
        let (kind, given) = (Kind::of(dtype), Expr::itself(dtype));
        let summed = Expr::itself(kind.dtype());
        for lies in [Lies::Across, Lies::AcrossEach, Lies::Apart] {
            let filters = [Filter::Even, Filter::Linear, Filter::Cubic];
            for (i, (target, filter)) in TARGETS.into_iter().zip(filters).enumerate() {
                let whole = i == 2;
                let text = CoverText { lies, filter, kind, whole };
                let way: &[Way] = if lies == Lies::Across { &[Way::Dense] } else { &[Way::Each] };
                let edges = [Edge { expr: &given, ways: way }, Edge { expr: &summed, ways: &[] }];
                let cover = frame("cover", &text, &edges, target);
                check_frame(Frame { by_element: !whole, ..cover });
            }
        }
    }
}

#[test]
fn every_tile_of_quantized_weights_is_valid() {
    use wharf::kernel::quantized::text::{QuantizedText, QuantizedTile};
    use wharf::tensor::Blocks;
    let dtypes = [DType::F32, DType::F16, DType::Bf16];
    for (dtype, form) in
        dtypes.into_iter().flat_map(|dtype| Blocks::ALL.iter().map(move |&form| (dtype, form)))
    {
        for (target, rows) in TARGETS.into_iter().zip([1, 2, 8]) {
            let (scales, way): (_, &[Way]) = match form {
                Blocks::Q8 | Blocks::Q4 | Blocks::Q4_1 => (DType::F16, &[Way::Each]),
                Blocks::Q4K | Blocks::Q5K | Blocks::Q5_1 => (DType::U32, &[Way::Dense]),
                _ => (DType::U16, &[Way::Each]),
            };
            let sides = [Expr::itself(dtype), Expr::itself(DType::U32), Expr::itself(scales)];
            let ways: [&[Way]; 3] = [&[Way::Dense], &[Way::Dense], way];
            let part = |(expr, ways)| Edge { expr, ways };
            let heads: Vec<_> = sides.iter().zip(ways).map(part).collect();
            let check = |kernel, tile, workgroup| {
                let text = QuantizedText { form, tile };
                check_product(kernel, &heads, &sides[0], &text, workgroup, target);
            };
            let shared = target == Target::Cpu64;
            check("quantized", QuantizedTile::Registers { rows, shared }, Some(8));
            let few = QuantizedTile::Few { rows: rows.min(4), lanes: [64 * rows, 32] };
            check("quantized_few", few, None);
            check("quantized_staged", QuantizedTile::Staged { rows: rows.min(4) }, None);
        }
    }
}
