//! Who may import from whom: layers, no circles, and files that stay paper.

use std::collections::{BTreeMap, BTreeSet};

use crate::house::House;
use crate::{files, none};

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
    &["choice", "diagnosis", "clock"],
    &["gpu"],
    &["store"],
    &["ledger"],
    &["exec"],
    &["adapter"],
    &["engine"],
    &["kernel", "transfer"],
    &["fuse"],
    &["device"],
    &["tensor"],
    &["tune"],
    &["set"],
];

/// Files of `kernel/` that are called so, or lie in a folder that is, are paper: they import from
/// each other, and from layers up to this one.
const PAPER: [&str; 3] = ["text", "plan", "choice"];
const PAPER_TOP: &str = "wgsl";

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
    let mut complaints = Vec::new();
    for room in house.rooms.iter().filter(|room| is_paper(&room.file.path)) {
        for link in &room.links {
            let from = &house.rooms[link.to];
            let is_low = from
                .module
                .first()
                .and_then(|module| layer(module))
                .is_some_and(|layer| Some(layer) <= self::layer(PAPER_TOP));
            if !is_low && !is_paper(&from.file.path) {
                let rule = format!("paper takes `{}` from {}", link.name, from.file.path);
                complaints.push(room.file.complaint(link.line, &rule));
            }
        }
    }
    complaints
}

#[test]
fn imports_go_down() {
    none(&climbs(&House::of(&files(&["src"], "rs"))));
}

#[test]
fn files_import_in_no_circles() {
    let files = files(&["src"], "rs");
    let house = House::of(&files);
    none(&circles(&house).iter().map(|circle| describe(&house, circle)).collect::<Vec<_>>());
}

#[test]
fn texts_plans_and_choices_are_paper() {
    none(&stains(&House::of(&files(&["src"], "rs"))));
}
