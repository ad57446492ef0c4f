//! A kernel in WGSL that the user wrote, judged before a driver sees it.

use core::fmt;
use std::sync::Arc;

#[cfg(not(target_family = "wasm"))]
use super::cause::RunCause;
use crate::error::Result;
use crate::tensor::Scalar;
use crate::wgsl::own::cause::OwnCause;
use crate::wgsl::own::{OwnText, Reflection};

/// A kernel of your own, in WGSL: parsed, validated and reflected before a driver sees it. Then
/// [`Device::run`](crate::Device::run) runs it on tensors, given by the names of its bindings.
///
/// The text is plain WGSL: one compute entry point of any name, storage arrays of numbers, and
/// perhaps one `var<uniform>`. The numbers in `@group` and `@binding` may be any that are valid;
/// overrides are set by [`Kernel::with`].
#[derive(Clone)]
pub struct Kernel {
    written: Arc<OwnText>,
    /// Overrides that are set: name, and value in WGSL.
    values: Vec<(String, String)>,
    pub(super) own: Arc<Reflection>,
}

impl Kernel {
    /// From a text; the name stands in errors, plans and debuggers, and is kept as long as the
    /// process runs.
    ///
    /// # Errors
    /// What is wrong with it, and where: naga's verdict, a binding that is no array of numbers, no
    /// compute entry point or several, a loop that nothing can end.
    ///
    /// ```
    /// # wharf::testing::example(async |device| {
    /// use wharf::DType;
    /// use wharf::custom::Kernel;
    ///
    /// let saxpy = Kernel::from_wgsl(
    ///     "saxpy",
    ///     "@group(0) @binding(0) var<uniform> a: f32;
    ///      @group(0) @binding(1) var<storage> x: array<f32>;
    ///      @group(0) @binding(2) var<storage> y: array<f32>;
    ///      @group(0) @binding(3) var<storage, read_write> sum: array<f32>;
    ///
    ///      @compute @workgroup_size(64)
    ///      fn saxpy(@builtin(global_invocation_id) at: vec3<u32>) {
    ///          if at.x < arrayLength(&x) {
    ///              sum[at.x] = a * x[at.x] + y[at.x];
    ///          }
    ///      }",
    /// )?;
    /// let (x, _) = device.upload(&[1.0f32, 2.0, 3.0], [3])?;
    /// let run = device.run(&saxpy).read("x", &x).read("y", &(&x + 1.0)?);
    /// let [sum] = run.create("sum", [3], DType::F32).set(&10.0f32).threads([3, 1, 1]).record()?;
    /// assert_eq!((sum * 0.5)?.to_vec::<f32>()?, [6.0, 11.5, 17.0]);
    /// # Ok(()) });
    /// ```
    pub fn from_wgsl(name: &str, text: &str) -> Result<Self> {
        let written = OwnText { name: name.to_owned(), text: text.to_owned() };
        let own = Arc::new(written.reflect(&[])?);
        Ok(Self { written: Arc::new(written), values: Vec::new(), own })
    }

    /// From a file, whose path is its name.
    ///
    /// # Errors
    /// As [`Kernel::from_wgsl`], and where the file cannot be read.
    #[cfg(not(target_family = "wasm"))]
    pub fn from_file(path: impl AsRef<std::path::Path>) -> Result<Self> {
        let name = path.as_ref().display().to_string();
        let unreadable =
            |why: std::io::Error| RunCause::Unreadable { path: name.clone(), why: why.to_string() };
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        Self::from_wgsl(&name, &text)
    }

    /// It with a value for one of its overrides.
    ///
    /// # Errors
    /// An override that it does not have; a number that is not of its type, or makes the text
    /// invalid.
    pub fn with(&self, name: &str, value: impl Into<Scalar>) -> Result<Self> {
        let own = self.name().to_owned();
        let Some(tunable) = self.own.tunables.iter().find(|tunable| tunable.name == name) else {
            let names: Vec<_> = self.own.tunables.iter().map(|t| t.name.as_str()).collect();
            let (given, has) = (name.to_owned(), names.join(", "));
            return Err(OwnCause::Override { name: own, given, has }.into());
        };
        let value = value.into();
        value.encode(tunable.dtype).map_err(|error| error.during(format!("{own}: {name}")))?;
        let mut values = self.values.clone();
        values.retain(|(known, _)| known != name);
        values.push((name.to_owned(), value.to_string()));
        let reflection = Arc::new(self.written.reflect(&values)?);
        Ok(Self { written: Arc::clone(&self.written), values, own: reflection })
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.written.name
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel").field("name", &self.name()).field("set", &self.values).finish()
    }
}
