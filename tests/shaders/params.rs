//! Parameters: what the host declares and writes lies where the kernel reads it.

use naga::{Module, TypeInner};
use wharf::DType;
use wharf::kernel::CATALOG;
use wharf::kernel::elementwise::text::{Elementwise, fused};
use wharf::op::{Kind, Op};
use wharf::wgsl::params::{Member, Operands};
use wharf::wgsl::{Expr, Grid, Space, Target, Term, View, reflect};

use super::quads;

/// The members of a struct as naga sees them.
fn members<'a>(module: &'a Module, name: &str) -> Option<Vec<(&'a str, Kind, u32, u32)>> {
    let kind = |inner: &TypeInner| match *inner {
        TypeInner::Scalar(naga::Scalar::U32)
        | TypeInner::Vector { scalar: naga::Scalar::U32, .. } => Kind::U32,
        TypeInner::Vector { scalar: naga::Scalar::I32, .. } => Kind::I32,
        TypeInner::Scalar(naga::Scalar::F32) => Kind::F32,
        ref other => panic!("no parameter is {other:?}"),
    };
    let (_, ty) = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name))?;
    let TypeInner::Struct { members, .. } = &ty.inner else { return None };
    let member = |m: &'a naga::StructMember| {
        let inner = &module.types[m.ty].inner;
        let base = match *inner {
            TypeInner::Array { base, .. } => &module.types[base].inner,
            _ => inner,
        };
        let name = m.name.as_deref().expect("members have names");
        (name, kind(base), m.offset, inner.size(module.to_ctx()))
    };
    Some(members.iter().map(member).collect())
}

#[test]
fn every_kernel_reads_its_parameters_where_its_room_writes_them() {
    for entry in CATALOG {
        let path = entry.source.path;
        let module = naga::front::wgsl::parse_str(entry.source.text).expect("valid alone");
        let job = members(&module, "Job");
        let own = job.is_some();
        let read = job.or_else(|| members(&module, "Params")).expect("a kernel is told something");
        assert!(!entry.params.is_empty(), "{path}: nobody says what it is told");
        let declared = |m: &Member| (m.name, m.kind, m.offset, m.size);
        let written: Vec<_> = entry.params.iter().map(declared).collect();
        let (first, rest) = read.split_at(written.len().min(read.len()));
        assert_eq!(first, written, "{path}: what it reads, and what is written");
        assert!(!own || rest.is_empty(), "{path}: nobody writes {rest:?}");
        let rest: Vec<&str> = rest.iter().map(|m| m.0).collect();
        let known = Operands::NAMES.into_iter().filter(|name| rest.contains(name));
        assert_eq!(rest, known.collect::<Vec<_>>(), "{path}: nobody writes this so");
        let both = rest.contains(&"space") == rest.contains(&"shape");
        assert!(both, "{path}: a space is written with its shape");
    }
}

/// The parameters after a kernel's own ones, with a different number in every place.
#[test]
fn what_operands_need_lies_where_the_accessors_read_it() {
    let nodes = vec![
        Term::Input(0),
        Term::Input(1),
        Term::Scalar(0),
        Term::Apply(Op::Add, [0, 1, 0]),
        Term::Apply(Op::Mul, [3, 2, 0]),
    ];
    let (inputs, scalars) = (vec![DType::F32; 2], vec![DType::F32]);
    let expr = Expr { inputs, scalars, nodes, outputs: vec![4], fault: None };
    let views =
        [(7, vec![101, 1]), (9, vec![103, 3])].map(|(offset, strides)| View { offset, strides });
    let space = Space::of(&[5, 6], &views).expect("two dimensions");
    let shape = quads(space.rank(), Target::Cpu);
    let kernel = fused(&expr, &space.ways, false, shape).expect("adds");
    let module = reflect::parse(&kernel).expect("valid");
    let grid = Grid::new(8, Target::Cpu);
    let (outputs, scalars) = (&[44][..], &[77][..]);
    let words = Elementwise { grid, space: &space, base: 12, outputs, scalars }.words();
    let read = members(&module, "Params").expect("the kernel's parameters");
    let at = |name: &str| {
        let (.., offset, size) =
            read.iter().find(|m| m.0 == name).unwrap_or_else(|| panic!("no {name} in {read:?}"));
        words[*offset as usize / 4..][..*size as usize / 4].to_vec()
    };
    assert_eq!(at("grid"), grid.words(), "the share of each invocation");
    assert_eq!(at("space"), [12, 29, 0, 0], "the first element and the last");
    assert_eq!(at("shape"), [6, 5, 1, 1, 1, 1, 1, 1], "innermost first");
    assert_eq!(at("offset"), [7, 9, 11, 0], "elements, and quads of the output");
    let strides = [[1, 101], [3, 103]].map(|[a, b]| [a, b, 0, 0, 0, 0, 0, 0]);
    assert_eq!(at("stride"), strides.concat(), "of both views");
    assert_eq!(at("scalar"), [77, 0, 0, 0], "as words");
    let names: Vec<_> = read[1..].iter().map(|m| m.0).collect();
    assert_eq!(names, Operands::NAMES, "in this order");
}
