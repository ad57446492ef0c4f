//! The files of `src` as modules, and what each takes from which.
//!
//! What counts is where a name is defined. A door that declares its rooms and passes their names on
//! takes nothing; who takes a name through a door takes it from the file behind. Methods are not
//! seen: calling one needs no import.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use crate::code::{Mention, Token, mentions, tokens};
use crate::{File, files};

/// A name that a file takes from another.
#[derive(Debug)]
pub(crate) struct Link<'a> {
    /// The number of the file that defines it.
    pub(crate) to: usize,
    /// What it is called there; `*` for everything.
    pub(crate) name: &'a str,
    /// The top-level module in which it was looked for.
    pub(crate) door: &'a str,
    pub(crate) line: usize,
    /// Passed on by a `pub use`.
    pub(crate) is_passed_on: bool,
}

/// A file of `src`.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    pub(crate) file: &'a File,
    pub(crate) module: Vec<&'a str>,
    pub(crate) tokens: Vec<Token<'a>>,
    /// Each name once, at its first line.
    pub(crate) links: Vec<Link<'a>>,
    mentions: Vec<Mention<'a>>,
    /// The files of its own modules.
    children: HashMap<&'a str, usize>,
    /// What its `use` bring in, by the names it calls them: paths from the root.
    names: HashMap<&'a str, Vec<&'a str>>,
}

/// All files of `src` but those of tests, `lib.rs` first.
#[derive(Debug)]
pub(crate) struct House<'a> {
    pub(crate) rooms: Vec<Room<'a>>,
}

/// Read once for all rules.
pub(crate) fn house() -> &'static House<'static> {
    static FILES: LazyLock<Vec<File>> = LazyLock::new(|| files(&["src"], "rs"));
    static HOUSE: LazyLock<House<'_>> = LazyLock::new(|| House::of(&FILES));
    &HOUSE
}

impl<'a> House<'a> {
    pub(crate) fn of(files: &'a [File]) -> Self {
        let mut house = Self { rooms: rooms(files) };
        for room in 0..house.rooms.len() {
            for i in 0..house.rooms[room].mentions.len() {
                let mention = &house.rooms[room].mentions[i];
                if let (Some(name), Some(path)) = (mention.name, house.path(room, mention)) {
                    // Not what an inner module calls so.
                    house.rooms[room].names.entry(name).or_insert(path);
                }
            }
        }
        for room in 0..house.rooms.len() {
            house.rooms[room].links = house.links(room);
        }
        house
    }

    fn links(&self, room: usize) -> Vec<Link<'a>> {
        let mut found: BTreeMap<_, Link<'a>> = BTreeMap::new();
        for mention in &self.rooms[room].mentions {
            let Some(path) = self.path(room, mention) else { continue };
            let (to, name) = self.definition(&path);
            let name = name.or(mention.name.filter(|&name| name == "*"));
            let Some(name) = name.filter(|_| to != room) else { continue };
            // What a glob passes on is not known, so the door answers for it.
            let is_passed_on = mention.is_passed_on && name != "*";
            let door = path.first().copied().unwrap_or("");
            let link = Link { to, name, door, line: mention.line, is_passed_on };
            found.entry((to, name, door, is_passed_on)).or_insert(link);
        }
        found.into_values().collect()
    }

    /// From the root, if it is of this house.
    fn path(&self, room: usize, mention: &Mention<'a>) -> Option<Vec<&'a str>> {
        let Room { module, names, children, .. } = &self.rooms[room];
        let words = &mention.words[..];
        match words {
            ["crate", rest @ ..] => Some(rest.to_vec()),
            ["self", rest @ ..] => Some([&mention.module, rest].concat()),
            ["super", ..] => {
                let ups = words.iter().take_while(|word| **word == "super").count();
                let above = mention.module.len().checked_sub(ups)?;
                Some([&mention.module[..above], &words[ups..]].concat())
            }
            [first, ..] if children.contains_key(first) => Some([module, words].concat()),
            [first, rest @ ..] => Some([names.get(first)?, rest].concat()),
            [] => None,
        }
    }

    /// The file that defines a name, and what it is called there: nothing if it is all of a file.
    fn definition(&self, path: &[&'a str]) -> (usize, Option<&'a str>) {
        let mut here = 0;
        for (n, name) in path.iter().enumerate() {
            let (Room { children, names, .. }, rest) = (&self.rooms[here], &path[n + 1..]);
            match (names.get(name), children.get(name)) {
                // A function may be called like the module that it lies in.
                (Some(target), child)
                    if (rest.is_empty() || child.is_none()) && target[..] != path[..=n] =>
                {
                    return self.definition(&[target, rest].concat());
                }
                (_, Some(&child)) => here = child,
                _ => return (here, Some(name)),
            }
        }
        (here, None)
    }
}

/// All files that are no tests, with what each has but links and names.
fn rooms<'a>(files: &'a [File]) -> Vec<Room<'a>> {
    let room = |file: &'a File| {
        let File { path, text } = file;
        let inside = path.trim_start_matches("src/").trim_end_matches(".rs");
        let module: Vec<&str> = inside.split('/').filter(|&part| part != "lib").collect();
        let tokens = tokens(text);
        let mentions = mentions(&tokens, &module);
        let (links, children, names) = (Vec::new(), HashMap::new(), HashMap::new());
        Room { file, module, tokens, links, mentions, children, names }
    };
    let code = files.iter().filter(|file| !file.path.contains("/tests"));
    let mut rooms: Vec<Room<'_>> = code.map(room).collect();
    rooms.sort_by_key(|room| room.module.len());
    let modules: HashMap<Vec<&str>, usize> =
        (0..).zip(&rooms).map(|(n, room)| (room.module.clone(), n)).collect();
    for (module, &n) in &modules {
        let Some((name, above)) = module.split_last() else { continue };
        if let Some(&above) = modules.get(above) {
            rooms[above].children.insert(name, n);
        }
    }
    rooms
}
