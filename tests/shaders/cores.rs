//! The kernels of cores - reductions, rows, scans, attention, products - on heads and tails that
//! are just a view.

use wharf::DType;
use wharf::kernel::attention::text::{Mask, Tile};
use wharf::kernel::catalog;
use wharf::wgsl::{Expr, Node, Target, Way, core};

use super::{TARGETS, check};

/// Tiles of every kind: masks, lanes that share loads or do not, loads of four and of eight.
#[test]
fn attention_is_valid() {
    let itself = |dtype| Expr {
        inputs: vec![dtype],
        nodes: vec![Node::Input(0)],
        outputs: vec![0],
        ..Expr::default()
    };
    let (single, double) = (itself(DType::F32), itself(DType::U64));
    let tile = Tile {
        keys: 2,
        values: 4,
        queries: 1,
        block: 4,
        unroll: [4, 4],
        shared: false,
        wide: false,
        mask: Mask::None,
    };
    let tiles = [
        Tile { keys: 1, values: 1, ..tile },
        Tile { mask: Mask::Each, keys: 32, values: 32, ..tile },
        Tile { mask: Mask::Quads, queries: 3, unroll: [1, 2], ..tile },
        Tile { mask: Mask::Each, shared: true, ..tile },
        Tile { shared: true, wide: true, block: 8, unroll: [1, 8], queries: 2, ..tile },
    ];
    for tile in tiles {
        let part = |expr| move |way| core::Part { expr, ways: way };
        let input = if tile.wide { &double } else { &single };
        let dense: &[Way] = &[Way::Dense];
        let mask = if tile.mask == Mask::Quads { dense } else { &[Way::Each] };
        let heads = [dense; 3].map(part(input));
        let heads = [&heads[..], &[part(&single)(mask)]].concat();
        let regions = tile.regions();
        let regions: Vec<(&str, &str)> = regions.iter().map(|(n, text)| (*n, &**text)).collect();
        for target in TARGETS {
            let core = core::Core {
                entry: catalog::find("attention").expect("in the catalog"),
                heads: if tile.mask == Mask::None { &heads[..3] } else { &heads },
                tail: core::Part { expr: &single, ways: &[] },
                by_element: false,
                regions: &regions,
                workgroup: Some(64),
                f16_native: false,
                rank: 0,
                target,
            };
            check(&core.assemble().expect("a view has a dtype"));
        }
    }
}

/// Kernels that make rows of rows, by quads and by elements.
#[test]
fn every_kernel_of_rows_is_valid() {
    let itself = Expr {
        inputs: vec![DType::F32],
        nodes: vec![Node::Input(0)],
        outputs: vec![0],
        ..Expr::default()
    };
    for kernel in ["softmax_rows", "softmax_group", "norm_rows", "norm_group"] {
        for (target, by_element) in
            [(Target::Cpu, true), (Target::Cpu64, false), (Target::Gpu, false)]
        {
            let way = if by_element { Way::Each } else { Way::Dense };
            let core = core::Core {
                entry: catalog::find(kernel).expect("in the catalog"),
                heads: &[core::Part { expr: &itself, ways: &[way] }],
                tail: core::Part { expr: &itself, ways: &[] },
                by_element,
                regions: &[],
                workgroup: None,
                f16_native: false,
                rank: 0,
                target,
            };
            check(&core.assemble().expect("a view has a dtype"));
        }
    }
}

#[test]
fn every_scan_is_valid() {
    use wharf::kernel::reduce::text::{Fold, Reduce};
    use wharf::op::Kind;
    let itself = |kind: Kind| Expr {
        inputs: DType::ALL.into_iter().filter(|d| d.name() == kind.name()).collect(),
        nodes: vec![Node::Input(0)],
        outputs: vec![0],
        ..Expr::default()
    };
    for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Bool) {
        for fold in [Fold::Sum, Fold::Prod, Fold::Max, Fold::Min] {
            for bits in 0..8 {
                let [totals, carried, parts] = [1, 2, 4].map(|b| bits & b > 0);
                let how = Reduce { fold, kind, index: false };
                let (head, held) =
                    (itself(if parts { how.held() } else { kind }), itself(how.held()));
                let tail = if totals || parts { &held } else { &itself(kind) };
                let part = |expr| core::Part { expr, ways: &[Way::Each] };
                let heads = [part(&head), part(&held)];
                let core = core::Core {
                    entry: catalog::find("scan_rows").expect("in the catalog"),
                    heads: if carried { &heads } else { &heads[..1] },
                    tail: core::Part { expr: tail, ways: &[] },
                    by_element: true,
                    regions: &[("state", &how.scan(totals, carried, parts))],
                    workgroup: None,
                    f16_native: false,
                    rank: 0,
                    target: Target::Cpu,
                };
                check(&core.assemble().expect("a view has a dtype"));
            }
        }
    }
}

/// Kernels of groups by subgroups: of rows, and of every reduction whose type subgroups know.
#[test]
fn every_kernel_of_groups_is_valid_by_subgroups() {
    use wharf::kernel::reduce::text::{Fold, Pass, Reduce};
    use wharf::op::Kind;
    use wharf::wgsl::subgroups;
    let itself = |dtype| Expr {
        inputs: vec![dtype],
        nodes: vec![Node::Input(0)],
        outputs: vec![0],
        ..Expr::default()
    };
    let mut all = vec![
        ("softmax_group", DType::F32, DType::F32, vec![], subgroups::SOFTMAX),
        ("norm_group", DType::F32, DType::F32, vec![], subgroups::SUM),
    ];
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
            let out = if index { DType::U32 } else { dtype };
            let joined = how.joined().expect("subgroups know types of 32 bits");
            all.push(("reduce_group", dtype, out, vec![("state", how.state(pass))], joined));
        }
    }
    for (kernel, input, output, mut regions, joined) in all {
        regions.extend(subgroups::regions(joined));
        let regions: Vec<(&str, &str)> = regions.iter().map(|(n, text)| (*n, &**text)).collect();
        let core = core::Core {
            entry: catalog::find(kernel).expect("in the catalog"),
            heads: &[core::Part { expr: &itself(input), ways: &[Way::Dense] }],
            tail: core::Part { expr: &itself(output), ways: &[] },
            by_element: kernel == "reduce_group",
            regions: &regions,
            workgroup: None,
            f16_native: false,
            rank: 0,
            target: Target::Gpu,
        };
        check(&core.assemble().expect("a view has a dtype"));
    }
}

/// Every pass of every reduction, on heads and tails that are just a view.
#[test]
fn every_reduction_is_valid() {
    use wharf::kernel::reduce::text::{Fold, Pass, Reduce};
    use wharf::op::Kind;
    let dtype = |kind: Kind| DType::ALL.into_iter().find(|d| d.name() == kind.name());
    let itself = |kind| Expr {
        inputs: vec![dtype(kind).expect("a kind is a dtype")],
        nodes: vec![Node::Input(0)],
        outputs: vec![0],
        ..Expr::default()
    };
    for kernel in ["reduce_rows", "reduce_group", "reduce_columns"] {
        for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Bool) {
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
                    let head = itself(if from_parts { how.held() } else { kind });
                    let tail = itself(if to_parts { how.held() } else { how.result() });
                    let way = if reads_elements { Way::Each } else { Way::Dense };
                    let core = core::Core {
                        entry: catalog::find(kernel).expect("in the catalog"),
                        heads: &[core::Part { expr: &head, ways: &[way] }],
                        tail: core::Part { expr: &tail, ways: &[] },
                        by_element: stores_elements,
                        regions: &[("state", &how.state(pass))],
                        workgroup: None,
                        f16_native: false,
                        rank: 0,
                        target: Target::Cpu,
                    };
                    check(&core.assemble().expect("a view has a dtype"));
                }
            }
        }
    }
}

/// What is loaded and stored as it is.
fn itself(dtype: DType) -> Expr {
    Expr { inputs: vec![dtype], nodes: vec![Node::Input(0)], outputs: vec![0], ..Expr::default() }
}

/// A product by a kernel of these regions is valid.
fn check_product(
    kernel: &str,
    heads: &[core::Part<'_>],
    out: &Expr,
    text: &[(&'static str, String)],
    workgroup: Option<u32>,
    target: Target,
) {
    let regions: Vec<_> = text.iter().map(|(name, text)| (*name, &**text)).collect();
    let core = core::Core {
        entry: catalog::find(kernel).expect("in the catalog"),
        heads,
        tail: core::Part { expr: out, ways: &[] },
        by_element: false,
        regions: &regions,
        workgroup,
        f16_native: true,
        rank: 0,
        target,
    };
    check(&core.assemble().expect("one dtype"));
}

#[test]
fn every_tile_of_a_product_is_valid() {
    use wharf::kernel::matmul::text::tile::{Along, Tile};
    let ways = [Along::K, Along::Outer, Along::Neither];
    for dtype in [DType::F32, DType::F16, DType::I8, DType::U32, DType::F64, DType::I64] {
        let (side, out) = (itself(dtype), itself(wharf::reference::matmul_dtype(dtype)));
        for (i, target) in TARGETS.into_iter().enumerate() {
            for along in ways.iter().flat_map(|a| ways.map(|b| [*a, b])) {
                let (rows, quads) = [(4, 1), (4, 2), (8, 1)][i];
                let tile = Tile {
                    rows,
                    quads,
                    along,
                    ragged: i == 1,
                    shared: i == 0,
                    even: i == 0,
                    packed: None,
                };
                let text = tile.regions(dtype, i == 2);
                let way = along.map(|a| [if a == Along::Neither { Way::Each } else { Way::Dense }]);
                let heads = way.each_ref().map(|ways| core::Part { expr: &side, ways });
                check_product("matmul", &heads, &out, &text, Some(8), target);
            }
        }
    }
}

/// Tiles in workgroup memory, and few rows, in every way that their operands lie.
#[test]
fn every_product_by_groups_is_valid() {
    use wharf::kernel::matmul::text::group::Group;
    use wharf::kernel::matmul::text::tile::{Along, Tile};
    use wharf::kernel::matmul::text::vector::Vector;
    let ways = [Along::K, Along::Outer, Along::Neither];
    for (i, dtype) in
        [DType::F32, DType::F16, DType::I8, DType::F64, DType::I64].into_iter().enumerate()
    {
        let (side, out) = (itself(dtype), itself(wharf::reference::matmul_dtype(dtype)));
        for along in ways.iter().flat_map(|a| ways.map(|b| [*a, b])) {
            let odd = along[0] == Along::Outer;
            let [rows, quads] = if odd { [8, 2] } else { [4, 1] };
            let tile = Tile {
                rows,
                quads,
                along,
                ragged: along[1] != Along::K,
                shared: false,
                even: odd,
                packed: None,
            };
            let (lanes, near_k) = (64, along.map(|a| a == Along::K));
            let group = Group { tile, lanes, across: 8, depth: 8 << (i % 3), near_k, deep: odd };
            let subgroups = along[1] == Along::K && dtype.width() <= 4;
            let across = if subgroups { 1 } else { 16 };
            let vector = Vector { tile, lanes, across, near_k: near_k[1], subgroups, alone: false };
            for (kernel, text) in
                [("matmul_group", group.regions(dtype)), ("matmul_vector", vector.regions(dtype))]
            {
                let way = along.map(|a| [if a == Along::Neither { Way::Each } else { Way::Dense }]);
                let heads = way.each_ref().map(|ways| core::Part { expr: &side, ways });
                check_product(kernel, &heads, &out, &text, None, TARGETS[i % 3]);
            }
        }
    }
}

/// A few rows by weights of which several quads are read at a time.
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
        let (side, packed) = (itself(packed.dtype()), Some(packed));
        let out = itself(wharf::reference::matmul_dtype(dtype));
        for alone in [true, false] {
            let along = [Along::K; 2];
            let tile =
                Tile { rows: 2, quads: 2, along, ragged: false, shared: false, even: true, packed };
            let near_k = true;
            let vector = Vector { tile, lanes: 8, across: 1, near_k, subgroups: true, alone };
            let text = vector.regions(dtype);
            let ways = [Way::Dense];
            let head = core::Part { expr: &side, ways: &ways };
            check_product("matmul_vector", &[head, head], &out, &text, None, target);
        }
    }
}

/// Cooperative matrices of every size and kind, in every way that the operands lie.
#[test]
fn every_product_by_cooperative_matrices_is_valid() {
    use wharf::kernel::matmul::text::squares::Squares;
    use wharf::kernel::matmul::text::tile::{Along, Tile};
    let ways = [Along::K, Along::Outer, Along::Neither];
    for (dtype, side, teams) in
        [(DType::F16, 16, [2, 2]), (DType::F16, 8, [1, 1]), (DType::F32, 8, [2, 4])]
    {
        let part = itself(dtype);
        for along in ways.iter().flat_map(|a| ways.map(|b| [*a, b])) {
            let ragged = along[1] != Along::K;
            let tile = Tile {
                rows: 2 * side,
                quads: side / 4,
                along,
                ragged,
                shared: false,
                even: ragged,
                packed: None,
            };
            let (lanes, near_k) = (32 * teams[0] * teams[1], along.map(|a| a == Along::K));
            let text = Squares { tile, side, teams, lanes, depth: 16, near_k }.regions(dtype);
            let way = along.map(|a| [if a == Along::Neither { Way::Each } else { Way::Dense }]);
            let heads = way.each_ref().map(|ways| core::Part { expr: &part, ways });
            check_product("matmul_cooperative", &heads, &part, &text, None, Target::Gpu);
        }
    }
}

#[test]
fn every_tile_of_quantised_weights_is_valid() {
    for dtype in [DType::F32, DType::F16, DType::Bf16] {
        for (target, rows) in TARGETS.into_iter().zip([1, 2, 8]) {
            let sides = [itself(dtype), itself(DType::U32), itself(DType::F16)];
            let ways = [&[Way::Dense], &[Way::Dense], &[Way::Each]];
            let part = |(expr, way): (_, &'static [Way; 1])| core::Part { expr, ways: way };
            let heads: Vec<_> = sides.iter().zip(ways).map(part).collect();
            let text = wharf::kernel::quantised::text::regions(rows, target == Target::Cpu64);
            check_product("quantised", &heads, &sides[0], &text, Some(8), target);
        }
    }
}
