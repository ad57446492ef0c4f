//! The scene that judges look at.

use super::machine::Machine;

/// What a judge knows besides the machine.
pub(super) struct Scene<'a> {
    pub(super) machine: &'a Machine,
    pub(super) compiled: &'a [&'static str],
    pub(super) listed: usize,
    pub(super) hardware: usize,
}

impl Scene<'_> {
    /// Whether a backend is compiled in and not excluded by `WGPU_BACKEND`.
    pub(super) fn active(&self, backend: &str) -> bool {
        self.compiled.contains(&backend)
            && backends_asked(self.machine).is_none_or(|asked| asked.contains(&backend))
    }

    pub(super) fn without_hardware(&self) -> bool {
        self.hardware == 0
    }

    /// Whether Vulkan is how this platform would reach its GPU.
    pub(super) fn needs_vulkan(&self) -> bool {
        self.machine.os.is_linux() && self.active("vulkan")
    }
}

/// The backends `WGPU_BACKEND` asks for; `None` if it is not set, which asks for all.
pub(crate) fn backends_asked(machine: &Machine) -> Option<Vec<&'static str>> {
    let mut asked = Vec::new();
    for backend in backend_words(machine)?.into_iter().filter_map(|(_, backend)| backend) {
        if !asked.contains(&backend) {
            asked.push(backend);
        }
    }
    Some(asked)
}

/// Words of `WGPU_BACKEND` x the backend each one means; as in wgpu 30.
const BACKEND_WORDS: [(&str, &str); 11] = [
    ("vulkan", "vulkan"),
    ("vk", "vulkan"),
    ("dx12", "dx12"),
    ("d3d12", "dx12"),
    ("metal", "metal"),
    ("mtl", "metal"),
    ("opengl", "gl"),
    ("gles", "gl"),
    ("gl", "gl"),
    ("webgpu", "webgpu"),
    ("noop", "noop"),
];

/// The words of `WGPU_BACKEND`, each with the backend it means, if any; `None` if the variable is
/// not set.
pub(super) fn backend_words(machine: &Machine) -> Option<Vec<(String, Option<&'static str>)>> {
    let value = machine.variable("WGPU_BACKEND")?;
    let meaning = |word: &str| BACKEND_WORDS.iter().find(|(known, _)| *known == word);
    let words = value.split(',').map(|word| word.trim().to_lowercase());
    Some(
        words
            .map(|word| (meaning(&word).map(|(_, backend)| *backend), word))
            .map(|(b, w)| (w, b))
            .collect(),
    )
}
