//! Libraries that clang makes, and what runs them.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, id};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

use super::commands::Part;
use super::lock;
use super::text::Program;

/// Where the header of Metal's language is, and what runs lanes.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/metal");

/// As Metal's compiler does whom nobody tells how exact to be, as wgpu does not: numbers are taken
/// for finite, sums for associative, and a product and a sum are rounded once. And as for any GPU,
/// where lanes wait for each other is one place for all of them, of which no two are made.
const FLAGS: [&str; 13] = [
    "-std=c++17",
    "-O2",
    "-ffast-math",
    "-ffp-contract=fast",
    "-mrecip=none",
    "-march=native",
    "-fconvergent-functions",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-Wno-everything",
    "-Xclang",
    "-cl-single-precision-constant",
];

/// Two threads may want one at once, and must not write the same file.
static MADE: AtomicU32 = AtomicU32::new(0);

/// One kernel runs at a time: workgroup memory and the lanes are the process's.
static RUNNING: Mutex<()> = Mutex::new(());

/// A function of a library. Its types are what lanes.cpp says.
type Function = extern "C" fn();
type Run = unsafe extern "C" fn(
    main: Function,
    waits: bool,
    last_first: bool,
    groups: *const u32,
    size: *const u32,
    buffers: *const *mut c_void,
    sizes: *const u32,
    spoil: Function,
) -> *const c_char;

/// What runs kernels.
#[derive(Debug)]
pub(super) struct Lanes {
    compiler: Compiler,
    run: Run,
}

/// Keeps what it has compiled.
#[derive(Debug)]
struct Compiler {
    folder: PathBuf,
    clang: String,
    /// All but the text that a library depends on.
    state: DefaultHasher,
}

fn read(name: &str) -> Result<String, String> {
    fs::read_to_string(Path::new(SOURCE).join(name)).map_err(|error| format!("{name}: {error}"))
}

/// A kernel's library.
#[derive(Clone, Debug)]
pub(super) struct Library {
    file: PathBuf,
    main: Function,
    spoil: Function,
}

#[expect(unsafe_code, reason = "libraries are loaded while the program runs")]
mod raw {
    use super::{
        CStr, CString, Function, Library, Ordering, Path, Program, RUNNING, Run, c_char, c_int,
        c_void, lock,
    };

    unsafe extern "C" {
        fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
        fn dlerror() -> *const c_char;
    }
    const NOW_AND_FOR_ALL: c_int = 0x102;

    fn symbol(library: *mut c_void, name: &CStr) -> Result<Function, String> {
        // SAFETY: the library is open, and is never closed.
        let at = unsafe { dlsym(library, name.as_ptr()) };
        if at.is_null() {
            return Err(format!("no {name:?}"));
        }
        // SAFETY: all that is looked for are functions.
        Ok(unsafe { std::mem::transmute::<*mut c_void, Function>(at) })
    }

    fn open(file: &Path) -> Result<*mut c_void, String> {
        let name = CString::new(file.as_os_str().as_encoded_bytes()).map_err(|e| e.to_string())?;
        // SAFETY: what a library runs when it is loaded is ours.
        let library = unsafe { dlopen(name.as_ptr(), NOW_AND_FOR_ALL) };
        if library.is_null() {
            // SAFETY: after a failure there is a text.
            let text = unsafe { CStr::from_ptr(dlerror()) };
            return Err(text.to_string_lossy().into_owned());
        }
        Ok(library)
    }

    pub(super) fn runner(file: &Path) -> Result<Run, String> {
        let run = symbol(open(file)?, c"wharf_run")?;
        // SAFETY: lanes.cpp declares it like that.
        Ok(unsafe { std::mem::transmute::<Function, Run>(run) })
    }

    pub(super) fn kernel(file: &Path) -> Result<Library, String> {
        let library = open(file)?;
        let [main, spoil] = [c"wharf_main", c"wharf_spoil"].map(|name| symbol(library, name));
        Ok(Library { file: file.into(), main: main?, spoil: spoil? })
    }

    /// What is wrong with a kernel that ran on these addresses, which are of memory that is held.
    pub(super) fn run(
        run: Run,
        program: &Program,
        groups: &[u32; 3],
        buffers: &[*mut c_void],
        sizes: &[u32],
    ) -> Option<String> {
        let Program { library: Library { main, spoil, .. }, waits, size, .. } = program;
        let last_first = program.last_first.fetch_xor(true, Ordering::Relaxed);
        let (groups, size) = (groups.as_ptr(), size.as_ptr());
        let (buffers, sizes) = (buffers.as_ptr(), sizes.as_ptr());
        let _running = lock(&RUNNING);
        // SAFETY: the kernel is given as many buffers and sizes as it names.
        let wrong = unsafe { run(*main, *waits, last_first, groups, size, buffers, sizes, *spoil) };
        // SAFETY: lanes.cpp answers null, or a constant.
        let text = (!wrong.is_null()).then(|| unsafe { CStr::from_ptr(wrong) });
        text.map(|text| text.to_string_lossy().into_owned())
    }
}

impl Compiler {
    /// What clang makes of a text, once for each.
    fn compiled(&self, text: &str) -> Result<PathBuf, String> {
        let mut hash = self.state.clone();
        text.hash(&mut hash);
        let name = format!("{:016x}", hash.finish());
        let file = self.folder.join(format!("{name}.so"));
        if file.exists() {
            return Ok(file);
        }
        let mine = format!("{name}.{}.{}", id(), MADE.fetch_add(1, Ordering::Relaxed));
        let [source, mine] = [".cpp", ".so"].map(|end| self.folder.join(format!("{mine}{end}")));
        fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
        let clang = Command::new(&self.clang)
            .args(FLAGS)
            .args(["-I", SOURCE, "-o"])
            .args([&mine, &source])
            .output()
            .map_err(|error| format!("{}: {error}", self.clang))?;
        if !clang.status.success() {
            let said = String::from_utf8_lossy(&clang.stderr);
            return Err(format!("clang refuses {}: {said}", source.display()));
        }
        let kept = self.folder.join(format!("{name}.cpp"));
        fs::rename(&source, &kept).map_err(|error| format!("{}: {error}", kept.display()))?;
        fs::rename(&mine, &file).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(file)
    }
}

impl Lanes {
    pub(super) fn new(folder: &Path) -> Result<Self, String> {
        let clang = env::var("WHARF_CLANG").unwrap_or_else(|_| "clang++".into());
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let source = read("lanes.cpp")?;
        let version = Command::new(&clang).arg("--version").output();
        let version = version.map_err(|error| format!("{clang}: {error}"))?.stdout;
        let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let flags = processor.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
        let mut state = DefaultHasher::new();
        (read("metal_stdlib")?, read("lanes.h")?, version, flags, FLAGS).hash(&mut state);
        let compiler = Compiler { folder: folder.into(), clang, state };
        let run = raw::runner(&compiler.compiled(&source)?)?;
        Ok(Self { compiler, run })
    }

    /// The library of a kernel's text.
    pub(super) fn library(&self, text: &str) -> Result<Library, String> {
        raw::kernel(&self.compiler.compiled(text)?)
    }

    /// Runs all groups of a kernel.
    pub(super) fn run(
        &self,
        program: &Program,
        bound: &HashMap<(u32, u32), Part>,
        groups: [u32; 3],
    ) -> Result<(), String> {
        let none = || "what a kernel binds was not given".to_owned();
        let given: Option<Vec<_>> = program.bindings.iter().map(|at| bound.get(at)).collect();
        let given = given.ok_or_else(none)?;
        if given.iter().any(|(memory, range)| range.start > range.end || range.end > memory.len()) {
            return Err("what a kernel binds is beyond its buffer".into());
        }
        let buffers: Vec<_> =
            given.iter().map(|(memory, range)| memory.address(range.start)).collect();
        let bytes = |&i: &usize| (given[i].1.end - given[i].1.start) as u32;
        let sizes: Vec<u32> = program.sized.iter().map(bytes).collect();
        let wrong = raw::run(self.run, program, &groups, &buffers, &sizes);
        let file = program.library.file.display();
        wrong.map_or(Ok(()), |wrong| Err(format!("{wrong}: {file}")))
    }
}
