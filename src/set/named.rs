//! Values by name, in the order in which they came; a name is taken once.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::cause::SetCause;
use crate::error::Result;

#[derive(Clone)]
pub(super) struct Named<T> {
    entries: Vec<(Arc<str>, T)>,
    places: BTreeMap<Arc<str>, usize>,
}

impl<T> Named<T> {
    /// Whether a name may still be given.
    pub(super) fn check(&self, name: &str) -> Result<()> {
        if self.places.contains_key(name) {
            return Err(SetCause::Duplicate { name: name.into() }.into());
        }
        Ok(())
    }

    pub(super) fn insert(&mut self, name: Arc<str>, value: T) -> Result<()> {
        self.check(&name)?;
        self.places.insert(Arc::clone(&name), self.entries.len());
        self.entries.push((name, value));
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&T> {
        self.places.get(name).and_then(|&place| self.entries.get(place)).map(|(_, value)| value)
    }

    /// Takes one out; those behind it move up.
    pub(super) fn remove(&mut self, name: &str) -> Option<T> {
        let place = self.places.remove(name)?;
        for behind in self.places.values_mut().filter(|behind| **behind > place) {
            *behind -= 1;
        }
        Some(self.entries.remove(place).1)
    }

    /// The names that are most like this one: the most bytes alike from both ends, three at most.
    pub(super) fn near(&self, name: &str) -> Vec<Arc<str>> {
        let alike = |other: &str| {
            let (one, other) = (name.as_bytes(), other.as_bytes());
            let front = one.iter().zip(other).take_while(|(a, b)| a == b).count();
            let back = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
            front + back
        };
        let mut names: Vec<&Arc<str>> = self.entries.iter().map(|(name, _)| name).collect();
        names.sort_by_key(|name| core::cmp::Reverse(alike(name)));
        names.into_iter().take(3).map(Arc::clone).collect()
    }

    pub(super) fn entries(&self) -> &[(Arc<str>, T)] {
        &self.entries
    }

    pub(super) fn into_entries(self) -> Vec<(Arc<str>, T)> {
        self.entries
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.entries.iter().map(|(name, value)| (&**name, value))
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), places: BTreeMap::new() }
    }
}

impl<T: fmt::Debug> fmt::Debug for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
