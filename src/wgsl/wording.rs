//! Wordings: a kernel's file is written in one of several ways.

use core::any::Any;
use core::fmt::Debug;
use core::hash::{Hash, Hasher};

use super::region::Region;

/// All that decides what is written into a kernel's file.
pub trait Writes: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// What is written. Asked once in the life of a process.
    fn regions(&self) -> Vec<Region>;
}

/// The file as it is.
impl Writes for () {
    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}

/// Anything that [`Writes`], whatever its type.
pub trait Wording: Any + Debug + Send + Sync {
    /// What is written.
    fn regions(&self) -> Vec<Region>;
    /// Its hash.
    fn hash_into(&self, hasher: &mut dyn Hasher);
    /// Whether it is the same.
    fn is(&self, other: &dyn Wording) -> bool;
    /// A copy to keep.
    fn boxed(&self) -> Box<dyn Wording>;
}

impl<T: Writes> Wording for T {
    fn regions(&self) -> Vec<Region> {
        Writes::regions(self)
    }

    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }

    fn is(&self, other: &dyn Wording) -> bool {
        (other as &dyn Any).downcast_ref() == Some(self)
    }

    fn boxed(&self) -> Box<dyn Wording> {
        Box::new(self.clone())
    }
}

impl Hash for dyn Wording {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash_into(state);
    }
}
