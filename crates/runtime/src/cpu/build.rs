//! From C to functions: the system's compiler, the cache on disk, and loading.
//!
//! The cache holds shared objects by the hash of everything that decides what is in them: the text, the flags, the compiler
//! and the processor. Each ends with its checksum, which the loader does not look at: a truncated object would be a fault when it is run.
//! Files are written beside their place and renamed, so that a reader sees all of one or none. What was used longest ago goes when the
//! cache is full.

use super::team::{self, Function};
use crate::cache;
use crate::memory::lock;
use aludel_compiler::codegen::c::{self, Unit};
use aludel_ir::program::Program;
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

/// Text of a unit, at least: some tens of milliseconds of a compiler's work.
const UNIT_BYTES: usize = 1 << 13;
/// Units of a program, about: each has a compiler's process of its own, of some 50 to 100 MB.
const MOST_UNITS: usize = 16;

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
}

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
        Ok(Compiler { program, arguments, identity, cache, limit: cache::limit()?, loaded: Mutex::default() })
    }

    /// The functions of a program by its kernels' numbers, with the libraries that have to outlive them, and whether this process had none
    /// of them yet. Units are built side by side on the machine's cores.
    pub fn load_all(&self, program: &Program) -> Result<(Vec<Function>, Vec<Arc<Library>>, bool)> {
        let units = c::units(program, team::threads().min(MOST_UNITS), UNIT_BYTES);
        let load = |u: &Unit| self.load(&u.text, u.kernels.len());
        let loaded: Vec<Result<(Arc<Library>, bool)>> = std::thread::scope(|scope| {
            let (here, others) = match units.split_first() {
                Some((first, others)) => (Some(first), others),
                None => (None, &[][..]),
            };
            let others: Vec<_> = others.iter().map(|u| (u, std::thread::Builder::new().spawn_scoped(scope, move || load(u)))).collect();
            // A unit whose thread could not be started, or that panicked, is this thread's.
            let rest = others.into_iter().map(|(u, t)| t.ok().and_then(|t| t.join().ok()).unwrap_or_else(|| load(u)));
            here.map(load).into_iter().chain(rest.collect::<Vec<_>>()).collect()
        });
        let (mut functions, mut libraries, mut fresh) = (vec![None; program.kernels.len()], Vec::new(), false);
        for (unit, loaded) in units.iter().zip(loaded) {
            let (library, new) = loaded?;
            fresh |= new;
            unit.kernels.iter().zip(&library.functions).for_each(|(k, f)| functions[*k] = Some(*f));
            libraries.push(library);
        }
        let all = functions.into_iter().collect::<Option<Vec<_>>>();
        Ok((all.ok_or_else(|| Error::device("a kernel is in no unit", "report this"))?, libraries, fresh))
    }

    /// The functions of a translation unit, built unless memory or disk has them; and whether this process had none of them yet.
    pub fn load(&self, source: &str, functions: usize) -> Result<(Arc<Library>, bool)> {
        let key = self.key(source);
        if let Some(l) = lock(&self.loaded).get(&key) {
            return Ok((l.clone(), false));
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
        Ok((lock(&self.loaded).entry(key).or_insert(Arc::new(library)).clone(), true))
    }

    fn key(&self, source: &str) -> String {
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
        let output = command.output().map_err(|e| Error::device(format!("cannot run {name}: {e}"), "name a C compiler in CC"))?;
        if output.status.success() {
            return Ok(());
        }
        let message = String::from_utf8_lossy(&output.stderr);
        let first: Vec<&str> = message.lines().take(12).collect();
        let problem = format!("{name} failed ({}):\n{}", output.status, first.join("\n"));
        Err(Error::device(problem, "name GCC or Clang in CC; with those, report this"))
    }
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
        let first = c.load(UNIT, 1).unwrap().0;
        assert!(Arc::ptr_eq(&first, &c.load(UNIT, 1).unwrap().0));
        let (mut out, row) = ([0u32; 4], [40u32]);
        // SAFETY: the kernel writes one word of one binding.
        unsafe { (first.functions[0])([out.as_mut_ptr()].as_ptr(), row.as_ptr(), 2, std::ptr::null_mut()) };
        assert_eq!(out, [0, 0, 42, 0]);
        // Another process finds the object on disk: one that cannot run its compiler still loads it.
        let other = Compiler {
            program: "/nonexistent/cc".into(),
            loaded: Mutex::default(),
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
