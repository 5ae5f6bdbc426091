//! From C to functions: the system's compiler, the cache on disk, and loading.
//!
//! The cache holds shared objects by the hash of everything that decides what is in them: the text, the flags, the compiler
//! and the processor. Each ends with its checksum, which the loader does not look at: a truncated object would be a fault when it is run.
//! Files are written beside their place and renamed, so that a reader sees all of one or none. What was used longest ago goes when the
//! cache is full. A second kind of entries says which object has a kernel, so that programs share kernels and not only whole units.

use super::team::Function;
use crate::cache;
use crate::memory::lock;
use aludel_compiler::codegen::c;
use aludel_ir::{Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

/// Arithmetic as the IR defines it (integers wrap, NaN and infinity count), vectorised loops, words of memory that are read under
/// several types.
const FLAGS: [&str; 10] = [
    "-std=gnu11",
    "-O3",
    "-fPIC",
    "-shared",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fopenmp-simd",
    "-w",
];

/// `a * b + c` is one rounding in kernels that multiply matrices. Elsewhere every product is rounded, so that differences of
/// nearly equal products err alike on both sides, as in PyTorch, and a kernel gives the same bits in every program.
fn contraction(source: &str) -> &'static str {
    if source.contains("vector_size") { "-ffp-contract=fast" } else { "-ffp-contract=off" }
}

/// Flags for this very processor.
fn native_flags() -> &'static [&'static str] {
    if cfg!(target_arch = "x86_64") {
        &["-march=native", "-mprefer-vector-width=512"]
    } else if cfg!(target_arch = "aarch64") {
        &["-mcpu=native"]
    } else {
        &[]
    }
}

/// The system's C compiler.
pub(super) struct Compiler {
    /// The program and the arguments that `$CC` gives it.
    program: PathBuf,
    arguments: Vec<String>,
    /// What tells this compiler and processor from others.
    identity: String,
    cache: PathBuf,
    /// The most bytes that the cache may take.
    limit: u64,
    loaded: Mutex<HashMap<String, Arc<Library>>>,
    /// Where each kernel is, by the hash of its text: programs share those that are equal.
    kernels: Mutex<HashMap<String, Built>>,
}

/// A kernel: the library that has it, and its place there.
pub(super) type Built = (Arc<Library>, usize);

/// A loaded shared object.
pub(super) struct Library {
    pub functions: Vec<Function>,
    // Unloaded after the last use of its functions.
    _library: libloading::Library,
}

impl Compiler {
    /// Finds `$CC`, or `cc`, `gcc` or `clang`; nothing is run. Errors name what to install.
    pub fn find() -> Result<Self> {
        let wanted = std::env::var("CC").ok().filter(|c| !c.trim().is_empty());
        let remedy = "install one (Debian and Ubuntu: apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install), or name it in CC; or train on the interpreter";
        let (program, arguments) = match &wanted {
            Some(cc) => {
                let mut words = cc.split_whitespace();
                let program = words.next().unwrap_or_default();
                let found = which(program)
                    .ok_or_else(|| Error::device(format!("no C compiler: CC is `{cc}`, and there is no `{program}`"), remedy))?;
                (found, words.map(String::from).collect())
            }
            None => {
                let found = ["cc", "gcc", "clang"].into_iter().find_map(which);
                (found.ok_or_else(|| Error::device("no C compiler: there is no `cc` on the PATH", remedy))?, Vec::new())
            }
        };
        let cache = cache_directory()?;
        let identity = identity(&program, &arguments);
        Ok(Compiler { program, arguments, identity, cache, limit: cache::limit()?, loaded: Mutex::default(), kernels: Mutex::default() })
    }

    /// A kernel that this process has.
    pub fn kernel(&self, key: &str) -> Option<Built> {
        lock(&self.kernels).get(key).cloned()
    }

    /// Whether this process has a kernel, or another has built it.
    pub fn finds(&self, key: &str) -> bool {
        if self.kernel(key).is_some() {
            return true;
        }
        let found = self.named(key);
        let there = found.is_some();
        lock(&self.kernels).extend(found.map(|f| (key.to_string(), f)));
        there
    }

    /// Builds kernels, as one unit, and says where they are from now on.
    pub fn build(&self, kernels: &[(String, String)]) -> Result<()> {
        let text = c::unit_of(kernels.iter().map(|(_, source)| source.as_str()).enumerate());
        let library = self.load(&text, kernels.len())?;
        let object = self.key(&text);
        for (place, (key, _)) in kernels.iter().enumerate() {
            self.name(key, &object, place, kernels.len());
            lock(&self.kernels).insert(key.clone(), (library.clone(), place));
        }
        Ok(())
    }

    /// Where the cache says which object has a kernel.
    fn place_of(&self, kernel: &str) -> PathBuf {
        self.cache.join(format!("{kernel}.at"))
    }

    /// Says which object has a kernel. Without it the kernel is built again: errors are nobody's.
    fn name(&self, kernel: &str, object: &str, place: usize, of: usize) {
        let text = format!("{object} {place} {of}");
        drop(cache::write_whole(&self.place_of(kernel), &cache::sealed(text.into_bytes())));
    }

    /// The kernel that the cache has in some object.
    fn named(&self, kernel: &str) -> Option<Built> {
        let path = self.place_of(kernel);
        if !cache::trusted(&path) {
            return None;
        }
        let text = String::from_utf8(cache::unsealed(std::fs::read(&path).ok()?)?).ok()?;
        let mut words = text.split(' ');
        let (object, place, of) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        // A name, which leads nowhere else.
        if place >= of || !object.bytes().all(|b| b.is_ascii_hexdigit()) {
            return None;
        }
        let known = lock(&self.loaded).get(object).cloned();
        let library = match known {
            Some(l) if l.functions.len() == of => l,
            Some(_) => return None,
            None => {
                let file = self.cache.join(format!("{object}.so"));
                let library = Arc::new(open(&file, of).ok()?);
                cache::touch(&file);
                lock(&self.loaded).entry(object.to_string()).or_insert(library).clone()
            }
        };
        cache::touch(&path);
        Some((library, place))
    }

    /// The functions of a translation unit, built unless memory or disk has them.
    pub fn load(&self, source: &str, functions: usize) -> Result<Arc<Library>> {
        let key = self.key(source);
        if let Some(l) = lock(&self.loaded).get(&key) {
            return Ok(l.clone());
        }
        let object = self.cache.join(format!("{key}.so"));
        let library = match open(&object, functions) {
            Ok(l) => {
                cache::touch(&object);
                l
            }
            // Not there, or not to be loaded: build it anew.
            Err(_) => {
                self.compile(source, &key, &object)?;
                let built =
                    open(&object, functions).map_err(|e| Error::device(format!("cannot load {}: {e}", object.display()), "report this"))?;
                cache::prune_sometimes(&self.cache, self.limit);
                built
            }
        };
        Ok(lock(&self.loaded).entry(key).or_insert(Arc::new(library)).clone())
    }

    /// The hash of everything that decides what a text becomes.
    pub fn key(&self, source: &str) -> String {
        let parts: Vec<&[u8]> = FLAGS
            .iter()
            .chain(native_flags())
            .copied()
            .chain([contraction(source), self.identity.as_str(), source])
            .map(str::as_bytes)
            .collect();
        cache::key(&parts)
    }

    fn compile(&self, source: &str, key: &str, object: &Path) -> Result<()> {
        let remedy = "make the directory writable, or name another in ALUDEL_CACHE";
        let failed = |what: &str, path: &Path, e: std::io::Error| Error::device(format!("cannot {what} {}: {e}", path.display()), remedy);
        cache::own(&self.cache).map_err(|e| failed("use", &self.cache, e))?;
        // Not in the cache: whoever is ended meanwhile leaves nothing there.
        let place = Scratch::new().map_err(|e| failed("make a directory in", &std::env::temp_dir(), e))?;
        let (text, built) = (place.0.join(format!("{key}.c")), place.0.join(format!("{key}.so")));
        std::fs::write(&text, source).map_err(|e| failed("write", &text, e))?;
        self.spawn(contraction(source), &text, &built)?;
        let whole = std::fs::read(&built).and_then(|bytes| cache::write_whole(object, &cache::sealed(bytes)));
        whole.map_err(|e| failed("write", object, e))?;
        // The text stays beside the object for people: without it nothing is missing.
        drop(cache::write_whole(&self.cache.join(format!("{key}.c")), source.as_bytes()));
        Ok(())
    }

    fn spawn(&self, contraction: &str, text: &Path, built: &Path) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(FLAGS).args(native_flags()).arg(contraction).arg("-o").arg(built).arg(text).arg("-lm");
        let name = self.program.display();
        let mut run = || command.output().map_err(|e| Error::device(format!("cannot run {name}: {e}"), "name a C compiler in CC"));
        let mut output = run()?;
        // Ctrl-C in a terminal is for the program, which may go on, and needs its kernels then.
        if interrupted(output.status) {
            output = run()?;
        }
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let first: Vec<&str> = message.lines().take(12).collect();
        let problem = format!("{name} failed ({}):\n{}", output.status, first.join("\n"));
        Err(Error::device(problem, "name GCC or Clang in CC; with those, report this"))
    }
}

/// Whether somebody pressed Ctrl-C, which the terminal tells all its processes.
fn interrupted(status: std::process::ExitStatus) -> bool {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status) == Some(2);
    #[cfg(not(unix))]
    return !status.success() && status.code().is_none();
}

/// A directory of this process's own among the system's temporary ones, gone with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Scratch> {
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        loop {
            let path = std::env::temp_dir().join(format!("aludel-cc-{}", unique()));
            match builder.create(&path) {
                Ok(()) => return Ok(Scratch(path)),
                // Another's, or one that an earlier process of this number left.
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is the system's to clean.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn open(object: &Path, functions: usize) -> std::result::Result<Library, String> {
    if !cache::trusted(object) {
        return Err("there is no such file that this user wrote".into());
    }
    if std::fs::read(object).ok().and_then(cache::unsealed).is_none() {
        return Err("it is damaged".into());
    }
    // SAFETY: the object was built from our own text, which has no initialisers; nobody but this user can have put it here, and it is
    // whole.
    let library = unsafe { libloading::Library::new(object) }.map_err(|e| e.to_string())?;
    // SAFETY: a unit declares both symbols with these types (`aludel_compiler::codegen::c::unit`).
    let list = unsafe {
        let count = library.get::<*const u32>(b"aludel_kernel_count\0").map_err(|e| e.to_string())?;
        if **count as usize != functions {
            return Err(format!("{} kernels, {functions} expected", **count));
        }
        let table = library.get::<*const Function>(b"aludel_kernels\0").map_err(|e| e.to_string())?;
        std::slice::from_raw_parts(*table, functions).to_vec()
    };
    Ok(Library { functions: list, _library: library })
}

/// The file that a command's name stands for.
fn which(name: &str) -> Option<PathBuf> {
    let file = |p: PathBuf| p.is_file().then_some(p);
    if name.contains(std::path::MAIN_SEPARATOR) {
        return file(name.into());
    }
    let suffix = std::env::consts::EXE_SUFFIX;
    std::env::split_paths(&std::env::var_os("PATH")?).find_map(|d| file(d.join(format!("{name}{suffix}"))))
}

/// A compiler that is replaced has another size or time; asking it for its version would cost more than a cached kernel.
fn identity(program: &Path, arguments: &[String]) -> String {
    let real = program.canonicalize().unwrap_or_else(|_| program.into());
    let stamp = std::fs::metadata(&real).ok().and_then(|m| {
        let time = m.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(format!("{} bytes at {}", m.len(), time.as_nanos()))
    });
    format!("{} {} {} on {}", real.display(), arguments.join(" "), stamp.unwrap_or_default(), processor())
}

/// The processor's name and features: what `native` means.
fn processor() -> String {
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = |key: &str| told.lines().find(|l| l.starts_with(key)).unwrap_or_default().to_string();
    format!("{} {} {}", std::env::consts::ARCH, line("model name"), line("flags"))
}

fn cache_directory() -> Result<PathBuf> {
    let none = || Error::device("no cache directory for compiled kernels: the user has no home", "name one in ALUDEL_CACHE");
    Ok(cache::directory().ok_or_else(none)?.join("c"))
}

/// A part of a file's name that no other process or thread has.
fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiler(cache: &Path) -> Option<Compiler> {
        match Compiler::find() {
            Ok(c) => Some(Compiler { cache: cache.into(), ..c }),
            Err(e) => {
                eprintln!("SKIPPED: {e}");
                None
            }
        }
    }

    const UNIT: &str = "static void k(unsigned *const *b, const unsigned *p, unsigned g, void *s) { b[0][g] = p[0] + g; }\n\
        void (*const aludel_kernels[])(unsigned *const *, const unsigned *, unsigned, void *) = {k};\n\
        const unsigned aludel_kernel_count = 1;\n";

    fn directory(name: &str) -> PathBuf {
        let d = std::env::temp_dir().join(format!("aludel-{name}-{}", unique()));
        std::fs::create_dir_all(&d).unwrap();
        d
    }

    #[test]
    fn units_are_built_once_and_found_again() {
        let d = directory("cache");
        let Some(c) = compiler(&d) else { return };
        let first = c.load(UNIT, 1).unwrap();
        assert!(Arc::ptr_eq(&first, &c.load(UNIT, 1).unwrap()));
        let (mut out, row) = ([0u32; 4], [40u32]);
        // SAFETY: the kernel writes one word of one binding.
        unsafe { (first.functions[0])([out.as_mut_ptr()].as_ptr(), row.as_ptr(), 2, std::ptr::null_mut()) };
        assert_eq!(out, [0, 0, 42, 0]);
        // Another process finds the object on disk: one that cannot run its compiler still loads it.
        let other = Compiler {
            program: "/nonexistent/cc".into(),
            loaded: Mutex::default(),
            kernels: Mutex::default(),
            cache: d.clone(),
            limit: c.limit,
            arguments: vec![],
            identity: c.identity.clone(),
        };
        assert!(other.load(UNIT, 1).is_ok());
        // A file that is no shared object is built anew.
        let object = d.join(format!("{}.so", c.key(UNIT)));
        // Not in place: the first library is still mapped.
        std::fs::remove_file(&object).unwrap();
        std::fs::write(&object, "torn").unwrap();
        let again = Compiler { cache: d.clone(), ..Compiler::find().unwrap() };
        assert!(again.load(UNIT, 1).is_ok());
        std::fs::remove_dir_all(d).unwrap();
    }

    /// Whatever happened to an object in the cache, it is built anew and never run.
    #[test]
    fn damaged_and_planted_objects_are_built_anew() {
        let d = directory("damaged");
        let Some(c) = compiler(&d) else { return };
        c.load(UNIT, 1).unwrap();
        let object = d.join(format!("{}.so", c.key(UNIT)));
        let good = std::fs::read(&object).unwrap();
        let again = || Compiler { cache: d.clone(), ..Compiler::find().unwrap() };
        let put = |bytes: &[u8]| {
            // Not in place: the first library is still mapped.
            std::fs::remove_file(&object).unwrap();
            std::fs::write(&object, bytes).unwrap();
        };
        for cut in [0, 64, 600, 4096, good.len() / 2, good.len() - 1] {
            put(&good[..cut]);
            assert!(again().load(UNIT, 1).is_ok(), "cut to {cut} bytes");
            assert!(cache::unsealed(std::fs::read(&object).unwrap()).is_some(), "cut to {cut} bytes");
        }
        for at in (0..good.len()).step_by(good.len() / 12) {
            let mut other = good.clone();
            other[at] ^= 0x10;
            put(&other);
            assert!(again().load(UNIT, 1).is_ok(), "byte {at}");
            assert_ne!(std::fs::read(&object).unwrap(), other, "byte {at}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, PermissionsExt};
            // One that others could have written, whole as it is.
            put(&good);
            std::fs::set_permissions(&object, std::fs::Permissions::from_mode(0o666)).unwrap();
            let before = std::fs::metadata(&object).unwrap().ino();
            assert!(again().load(UNIT, 1).is_ok());
            assert_ne!(std::fs::metadata(&object).unwrap().ino(), before);
            // A directory that others could write becomes this user's alone.
            std::fs::set_permissions(&d, std::fs::Permissions::from_mode(0o777)).unwrap();
            std::fs::remove_file(&object).unwrap();
            assert!(again().load(UNIT, 1).is_ok());
            assert_eq!(std::fs::metadata(&d).unwrap().mode() & 0o777, 0o700);
        }
        std::fs::remove_dir_all(d).unwrap();
    }

    #[test]
    fn a_failing_compiler_says_why() {
        let d = directory("failing");
        let Some(c) = compiler(&d) else { return };
        let e = c.load("int f(void) { return nonsense; }", 1).err().unwrap().to_string();
        assert!(e.contains("nonsense"), "{e}");
        let gone = Compiler { program: "/nonexistent/cc".into(), ..c };
        assert!(gone.load("x", 1).err().unwrap().to_string().contains("cannot run /nonexistent/cc"));
        assert_eq!(std::fs::read_dir(&d).unwrap().count(), 0, "nothing is left behind");
        std::fs::remove_dir_all(d).unwrap();
    }
}
