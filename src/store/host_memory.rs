//! How much memory the host has to spare, for adapters that live in it.
//!
//! A software adapter overcommits: it grants any allocation until the process is killed. So it is
//! capped, by what the machine has free and what the container of the process may take.

use std::fs::read_to_string;
use std::path::Path;

/// The cap, in percent of free memory.
const CAP_PERCENT: u64 = 80;

/// The default cap of a software adapter; `None` where the system does not tell.
pub(super) fn cap_default() -> Option<u64> {
    available().map(|bytes| bytes / 100 * CAP_PERCENT)
}

/// Bytes that can be had without swapping, as Linux estimates them.
fn available() -> Option<u64> {
    let machine = read_to_string("/proc/meminfo").ok().and_then(|text| {
        let kib = number(&text, "MemAvailable:")?;
        Some(kib * 1024)
    });
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let granted = groups.lines().filter_map(|line| Bounds::of(line)?.room());
    granted.chain(machine).min()
}

/// Where a version of Linux's control groups keeps what it says of a group.
struct Files {
    folder: &'static str,
    limit: &'static str,
    used: &'static str,
    /// The part of what is used that files in memory have, which makes room for others.
    spare: &'static str,
}

const FIRST: Files = Files {
    folder: "/sys/fs/cgroup/memory",
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    spare: "total_inactive_file",
};

const SECOND: Files = Files {
    folder: "/sys/fs/cgroup",
    limit: "memory.max",
    used: "memory.current",
    spare: "inactive_file",
};

/// A group of processes that share a limit.
struct Bounds<'a> {
    files: Files,
    path: &'a str,
}

impl<'a> Bounds<'a> {
    /// By a line of `/proc/self/cgroup`: a number, what is controlled, the group's path.
    fn of(line: &'a str) -> Option<Self> {
        let (_, line) = line.split_once(':')?;
        match line.split_once(':')? {
            ("", path) => Some(Self { files: SECOND, path }),
            (what, path) if what.split(',').any(|what| what == "memory") => {
                Some(Self { files: FIRST, path })
            }
            _ => None,
        }
    }

    /// What it may still take; a group is within the limits of those that it is in.
    fn room(&self) -> Option<u64> {
        let Files { folder, limit, used, spare } = self.files;
        let each = Path::new(self.path).ancestors().filter_map(|group| {
            let read = |name: &str| {
                let group = group.display();
                read_to_string(format!("{folder}{group}/{name}")).ok()
            };
            left([&read(limit)?, &read(used)?, &read("memory.stat")?], spare)
        });
        each.min()
    }
}

/// What is left of a limit, if it is one.
fn left([limit, used, stat]: [&str; 3], spare: &str) -> Option<u64> {
    let [limit, used] = [limit, used].map(|text| text.trim().parse::<u64>().ok());
    let used = used?.saturating_sub(number(stat, spare).unwrap_or(0));
    Some(limit?.saturating_sub(used))
}

/// The number behind a word at the beginning of a line.
fn number(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_ascii_whitespace);
    let mut words = lines.find_map(|mut words| (words.next()? == name).then_some(words))?;
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_within_its_limit_and_files_make_room() {
        let stat = "anon 100\nfile 900\ninactive_file 600\ntotal_inactive_file 700\n";
        let second = |limit, used| left([limit, used, stat], SECOND.spare);
        assert_eq!(second("5000\n", "1000\n"), Some(5000 - (1000 - 600)));
        assert_eq!(second("max\n", "1000\n"), None, "no limit");
        assert_eq!(second("300\n", "1000\n"), Some(0), "above its limit");
        assert_eq!(left(["5000", "1000", stat], FIRST.spare), Some(5000 - (1000 - 700)));
        assert_eq!(left(["5000", "1000", ""], FIRST.spare), Some(4000), "nothing is said of files");
        // Without a limit the first version says a number that no machine has.
        assert_eq!(
            left(["9223372036854771712", "0", ""], FIRST.spare),
            Some(i64::MAX as u64 - 4095)
        );
    }

    #[test]
    fn groups_are_read_by_either_version() {
        let of = |line| Bounds::of(line).map(|group| (group.files.folder, group.path));
        assert_eq!(of("0::/user.slice/x"), Some((SECOND.folder, "/user.slice/x")));
        assert_eq!(of("9:cpu,memory:/docker/1:2"), Some((FIRST.folder, "/docker/1:2")));
        assert_eq!([of("8:cpu,cpuacct:/"), of("name"), of("")], [None; 3]);
    }

    #[test]
    fn numbers_stand_behind_their_words() {
        let text = "MemTotal: 16 kB\nMemAvailable:    7 kB\nMemAvailable:x 9\n\n";
        assert_eq!(number(text, "MemAvailable:"), Some(7));
        assert_eq!(number(text, "Mem"), None, "whole words");
    }
}
