//! Who may import from whom: layers, no circles, and files that stay paper.

use std::collections::{BTreeMap, BTreeSet};

use crate::house::{House, house};
use crate::{File, files, none};

/// The top-level modules from the lowest to the highest: each imports from those before it only.
/// One row is one layer; modules of one row may import each other.
const LAYERS: &[&[&str]] = &[
    &["dtype", "shape", "error"],
    &["count", "layout"],
    &["caps"],
    &["host"],
    &["plan"],
    &["op"],
    &["reference"],
    &["wgsl"],
    &["proof"],
    &["choice", "diagnosis", "clock", "shared", "news"],
    &["timeline"],
    &["gpu"],
    &["store"],
    &["ledger"],
    &["exec"],
    &["adapter"],
    &["engine"],
    &["kernel", "transfer"],
    &["formula"],
    &["shadow"],
    &["fuse", "profile"],
    &["device"],
    &["tensor"],
    &["set"],
    &["custom"],
    &["tune"],
    &["io"],
    &["testing"],
];

/// Files of `kernel/` that are called so, or lie in a folder that is, are paper: they import from
/// each other, and from layers up to this one.
const PAPER: [&str; 4] = ["text", "plan", "choice", "oracle"];
const PAPER_TOP: &str = "proof";

/// The layer of a module.
fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|row| row.contains(&module))
}

fn is_paper(path: &str) -> bool {
    let inside = path.trim_end_matches(".rs").strip_prefix("src/kernel/");
    inside.is_some_and(|inside| inside.split('/').any(|part| PAPER.contains(&part)))
}

/// Imports from layers above.
fn climbs(house: &House<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    // The root shows names of all layers.
    for room in house.rooms.iter().filter(|room| !room.module.is_empty()) {
        let module = room.module[0];
        let Some(own) = layer(module) else {
            let rule = "a module that LAYERS in tests/tidy/imports.rs does not know";
            complaints.push(room.file.complaint(0, rule));
            continue;
        };
        for link in &room.links {
            // Neither from above nor through a door there.
            let from = house.rooms[link.to].module.first().copied().unwrap_or("");
            let above = [from, link.door].into_iter().find(|name| layer(name) > Some(own));
            if let Some(above) = above {
                let rule = format!("`{module}` imports `{}` from `{above}` above", link.name);
                complaints.push(room.file.complaint(link.line, &rule));
            }
        }
    }
    complaints
}

/// Groups of files each of which imports from all others of its group, directly or round.
fn circles(house: &House<'_>) -> BTreeSet<Vec<usize>> {
    let next = |from: usize| {
        house.rooms[from].links.iter().filter(|link| !link.is_passed_on).map(|link| link.to)
    };
    let reached = |from: usize| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            open.extend(next(at).filter(|&to| seen.insert(to)));
        }
        seen
    };
    let reached: Vec<BTreeSet<usize>> = (0..house.rooms.len()).map(reached).collect();
    let circle = |from: usize| -> Vec<usize> {
        reached[from].iter().copied().filter(|&to| reached[to].contains(&from)).collect()
    };
    (0..reached.len()).map(circle).filter(|circle| !circle.is_empty()).collect()
}

/// The files of a circle, and what leads round.
fn describe(house: &House<'_>, circle: &[usize]) -> String {
    let path = |room: usize| house.rooms[room].file.path.as_str();
    let files: Vec<&str> = circle.iter().map(|&room| path(room)).collect();
    let mut text = format!("{}: {} files in a circle", files.join(", "), files.len());
    for &room in circle {
        let mut taken: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        let links = house.rooms[room].links.iter();
        for link in links.filter(|link| !link.is_passed_on && circle.contains(&link.to)) {
            taken.entry(link.to).or_default().insert(link.name);
        }
        for (to, names) in taken {
            let names: Vec<&str> = names.into_iter().collect();
            text += &format!("\n    {} takes {} from {}", path(room), names.join(", "), path(to));
        }
    }
    text
}

/// What paper takes from files that are none.
fn stains(house: &House<'_>) -> Vec<String> {
    let is_low = |module: &&str| layer(module).is_some_and(|own| Some(own) <= layer(PAPER_TOP));
    let mut complaints = Vec::new();
    for room in house.rooms.iter().filter(|room| is_paper(&room.file.path)) {
        for link in &room.links {
            let from = &house.rooms[link.to];
            if !from.module.first().is_some_and(is_low) && !is_paper(&from.file.path) {
                let rule = format!("paper takes `{}` from {}", link.name, from.file.path);
                complaints.push(room.file.complaint(link.line, &rule));
            }
        }
        if let Some(token) = room.tokens.iter().find(|token| token.text == "wgpu") {
            complaints.push(room.file.complaint(token.line, "paper knows no wgpu"));
        }
    }
    complaints
}

#[test]
fn imports_go_down() {
    none(&climbs(house()));
}

/// The map of `docs/architecture.md` has every module.
#[test]
fn the_map_is_the_layers() {
    let files = files(&["docs"], "md");
    let page = files.iter().find(|file| file.path == "docs/architecture.md");
    let map = page.and_then(|page| page.text.split("```").nth(1)).unwrap_or_default();
    // Every other cell of a line has names, those between say what they are.
    let mut words: Vec<&str> = Vec::new();
    for line in map.lines() {
        let cells = line.split("  ").filter(|cell| !cell.is_empty()).step_by(2);
        words.extend(cells.flat_map(|cell| cell.split(',')).map(str::trim));
    }
    let known: Vec<&str> = LAYERS.concat();
    let absent = |name: &&&str| !words.contains(*name);
    let absent: Vec<String> = known.iter().filter(absent).map(|name| (*name).to_owned()).collect();
    none(&absent);
}

#[test]
fn files_import_in_no_circles() {
    let describe = |circle: &Vec<usize>| describe(house(), circle);
    none(&circles(house()).iter().map(describe).collect::<Vec<_>>());
}

#[test]
fn texts_plans_choices_and_oracles_are_paper() {
    none(&stains(house()));
}

/// Files by their paths in `src`, under a root that shows one name.
fn drawn(files: &[(&str, &str)]) -> Vec<File> {
    let file = |&(path, text): &(&str, &str)| File {
        path: format!("src/{path}.rs"),
        text: text.to_owned(),
    };
    [("lib", "pub use gpu::Gpu;")].iter().chain(files).map(file).collect()
}

/// The circles among these files, by their paths in `src`.
fn rings(files: &[(&str, &str)]) -> Vec<String> {
    let files = drawn(files);
    let house = House::of(&files);
    let name = |&room: &usize| house.rooms[room].module.join("/");
    circles(&house).iter().map(|ring| ring.iter().map(name).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn a_circle_is_found_however_it_is_written() {
    let use_b = "use crate::b::B;\npub struct A(B);";
    for back in [
        "use crate::a::A;",
        "use super::a::A;",
        "pub fn b() { super::a::a() }",
        "pub fn b(_: Vec<crate::a::A>) {}",
        "use crate::a;\nfn b() { a::a() }",
        "use crate::a as other;\nfn b() { other::a() }",
        "use crate::{\n    c::{self, C},\n    a::{\n        inner::{A},\n    },\n};",
        "use crate::a::*;",
        "use crate::a::Trait as _;",
        "fn b() { 0..crate::a::A }",
        "mod inner { use super::super::a::A; }",
        "mod inner { fn f() {} }\nuse super::a::A;",
        "#[cfg(test)]\nmod tests { fn f() {} }\nuse crate::a::A;",
        "use crate::a::{self};\nfn b() { a::a() }",
        "fn b<'a>() -> impl Sized + use<'a> { crate::a::A }",
        "macro_rules! b { () => { use $crate::a::A; } }",
    ] {
        assert_eq!(rings(&[("a", use_b), ("b", back), ("c", "")]), ["a b"], "{back}");
    }
    for none in [
        "// use crate::a::A;",
        "/// [`crate::a::A`]\nfn b() {}",
        "const B: &str = \"crate::a::A\"; const C: &str = r#\" \"crate::a::A \"#;",
        "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}",
        "#[cfg(test)]\nuse crate::a::A;",
        "pub use crate::a::A;",
        "mod inner { use super::a::A; }",
        "use other::a::A;",
        "use crate::a::{self};",
        "use crate::a;\nfn b() { ::a::A }",
        "pub use crate::a::a;\nfn b(x: X) { x.a() }",
        "pub use crate::a::a;\nimpl B { fn a() {} }",
    ] {
        assert_eq!(rings(&[("a", use_b), ("b", none)]), [""; 0], "{none}");
    }
}

#[test]
fn a_name_is_taken_from_the_file_that_defines_it() {
    // A door whose room asks for what the door defines, and the door for the room's.
    let room = ("door/room", "use super::Own;\npub struct Foo;\npub fn foo() {}");
    for (door, found) in [
        ("mod room;\npub use room::Foo;\npub struct Own;", &[][..]),
        ("mod room;\npub use room::Foo;\npub struct Own(Foo);", &["door door/room"]),
        ("mod room;\nuse room::Foo;\npub struct Own(Foo);", &["door door/room"]),
        ("mod room;\npub struct Own(room::Foo);", &["door door/room"]),
        ("mod room;\npub struct Own;\nfn f() { self::room::foo() }", &["door door/room"]),
        ("mod room;\npub use room::*;\npub struct Own;", &["door door/room"]),
        ("mod room;\npub(super) use room::Foo;\npub struct Own;", &[]),
    ] {
        assert_eq!(rings(&[("door", door), room]), found, "{door}");
    }
    // Through the door, from room to room.
    let a = ("door/a", "use super::Bar;\npub struct Foo(Bar);");
    let b = ("door/b", "use super::Foo as F;\npub struct Bar;");
    let door = ("door", "mod a;\nmod b;\npub use a::Foo;\npub use b::Bar;");
    assert_eq!(rings(&[door, a, b]), ["door/a door/b"]);
    // Through a file whose inner module takes it again.
    let a = ("a", "use crate::c::C;\npub struct A;");
    let b = ("b", "pub use crate::a::A;\nmod inner { use super::A; }");
    assert_eq!(rings(&[a, b, ("c", "use crate::b::A;")]), ["a c"]);
    // The function, not the module that is called like it.
    let door = ("door", "mod sum;\npub use sum::sum;\npub struct Own;");
    let sum = ("door/sum", "use super::Own;\npub fn sum() {}");
    let user = ("user", "use crate::door;\npub fn user() { door::sum() }");
    assert_eq!(rings(&[door, sum, user]), [""; 0]);
    let sum = ("door/sum", "use crate::user::user;\npub fn sum() {}");
    assert_eq!(rings(&[door, sum, user]), ["user door/sum"]);
    // What lies in the module, not in the function that is called like it.
    let door = ("door", "mod sum;\npub use crate::other::sum;");
    let other = ("other", "use crate::user::user;\npub fn sum() {}");
    let user = ("user", "use crate::door::sum::Deep;");
    assert_eq!(rings(&[door, ("door/sum", "pub struct Deep;"), other, user]), [""; 0]);
    // Round three corners.
    let ring = [("a", "use crate::b::B;"), ("b", "use crate::c::C;"), ("c", "use crate::a::A;")];
    assert_eq!(rings(&ring), ["a b c"]);
    assert_eq!(rings(&ring[..2]), [""; 0]);
}

/// What a rule says about a file that others lie around.
fn said(rule: fn(&House<'_>) -> Vec<String>, path: &str, text: &str) -> Vec<String> {
    let files = drawn(&[
        ("caps", "pub struct Caps;"),
        ("gpu", "pub use crate::caps::Caps; pub struct Gpu;"),
        ("store", "pub struct Store;"),
        ("kernel", "mod rows; pub use rows::plan::Plan; pub fn small() {}"),
        ("kernel/rows", "mod plan; mod text;"),
        ("kernel/rows/plan", "pub struct Plan;"),
        (path, text),
    ]);
    rule(&House::of(&files))
}

#[test]
fn what_comes_from_above_is_found() {
    for (path, text, found) in [
        ("plan", "use crate::{\n    caps::Caps,\n    gpu::Gpu,\n};", "3: `plan` imports `Gpu`"),
        ("plan", "use crate::gpu::Caps; // crate::store", "1: `plan` imports `Caps`"),
        ("plan", "fn f(_: Arc<crate::gpu::Gpu>) {}", "1: `plan` imports `Gpu`"),
        ("plan", "use crate::Gpu;", "1: `plan` imports `Gpu`"),
        ("plan", "pub use crate::gpu::Gpu;", "1: `plan` imports `Gpu`"),
        ("caps/quirks", "\nfn f() { super::super::gpu::f() }", "2: `caps` imports `f`"),
    ] {
        assert_eq!(said(climbs, path, text), [format!("src/{path}.rs:{found} from `gpu` above")]);
    }
    assert_eq!(said(climbs, "store/pool", "use crate::gpu::Caps; use crate::Error;"), [""; 0]);
    assert_eq!(said(climbs, "cellar", "").len(), 1, "of no layer");
}

#[test]
fn stains_on_paper_are_found() {
    let text = "kernel/rows/text";
    for (path, text, found) in [
        (text, "use crate::gpu::Gpu;", 1),
        (text, "use crate::kernel::small;", 1),
        (text, "fn f() { super::super::small() }", 1),
        (text, "fn f(_: &wgpu::Buffer) {}", 1),
        ("kernel/rows/choice/gpu", "use crate::gpu::Gpu;", 1),
        ("kernel/choice", "use crate::gpu::Gpu;", 1),
        ("kernel/rows/oracle", "use crate::store::Store;", 1),
        (text, "use crate::caps::Caps; use crate::gpu::Caps as Same; use super::plan::Plan;", 0),
        (text, "use crate::kernel::Plan; #[cfg(test)] mod tests { use crate::gpu::Gpu; }", 0),
        ("kernel/rows/record", "use crate::gpu::Gpu;", 0),
        ("choice", "use crate::gpu::Gpu;", 0),
    ] {
        assert_eq!(said(stains, path, text).len(), found, "{path}: {text}");
    }
}
