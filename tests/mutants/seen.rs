//! The mistakes that the tests once did not notice, each with the test that is meant for it:
//! `seen.txt`.

/// A row: `path | was -> now | tier test | what it is`. The path is the repository's, `was` a whole
/// line of the file that stands there once, without the blanks around it, and the test is a part of
/// its name; of a shader, the beginning. Lines of another form are for those who read the file.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) path: &'a str,
    pub(crate) was: &'a str,
    pub(crate) now: &'a str,
    pub(crate) test: (&'a str, &'a str),
    pub(crate) what: &'a str,
}

pub(crate) fn rows(list: &str) -> impl Iterator<Item = Row<'_>> {
    list.lines().filter_map(|line| {
        let (path, rest) = line.split_once(" | ")?;
        let (rest, what) = rest.rsplit_once(" | ")?;
        let (change, test) = rest.rsplit_once(" | ")?;
        let gone = || Some((change.strip_suffix(" ->")?, ""));
        let (was, now) = change.split_once(" -> ").or_else(gone)?;
        Some(Row { path, was, now, test: test.split_once(' ')?, what })
    })
}

impl Row<'_> {
    /// The number of the line in the file's text, from 1, and the line.
    pub(crate) fn place<'t>(&self, text: &'t str) -> Result<(u32, &'t str), String> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| line.trim() == self.was);
        match lines.collect::<Vec<_>>()[..] {
            [place] => Ok(place),
            ref places => Err(format!(
                "{}: {} lines are `{}`: {}",
                self.path,
                places.len(),
                self.was,
                self.what
            )),
        }
    }
}
