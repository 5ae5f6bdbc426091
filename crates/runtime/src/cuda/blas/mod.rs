//! Matrix products by cuBLASLt, as a further candidate beside the compiler's own kernel.
//!
//! Which of the two computes a plain product is measured when a step first runs with its sizes, and kept on disk: the library, where
//! it is installed, has to be faster. `ALUDEL_CUBLAS=never` leaves the library alone; `ALUDEL_CUBLAS=always` takes it for whatever it
//! can compute, which is how tests check it.

mod library;
mod problem;

use super::handles::{Event, StreamHandle};
use super::kernels::Kernel;
use super::memory::{Allocation, Pool};
use super::shared::Shared;
use crate::cache::{self, Cache};
use crate::memory::lock;
use aludel_compiler::MatmulPrecision;
use aludel_ir::kernel::element_bytes;
use aludel_ir::{DType, Error, Result};
use cudarc::driver::sys::CUdeviceptr;
use library::{Algorithm, Library, Object, Proposal, Status};
use problem::Operand;
pub use problem::Problem;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, OnceLock};

/// Bytes of memory that the library may use beside the operands: what NVIDIA recommends for Hopper.
const WORKSPACE: usize = 32 << 20;
/// Multiplications of a product that is worth asking the library for: smaller ones are a matter of launches, not of arithmetic.
const MIN_WORK: i64 = 1 << 26;
/// Algorithms of the library that are tried.
const PROPOSALS: usize = 4;
/// Runs of each candidate; the fastest counts.
const RUNS: usize = 3;
/// The library wins where it takes at most this share of the kernel's time: a difference within the noise is none.
const WINS: f64 = 0.97;

/// What a product is computed by.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Choice {
    Kernel,
    /// The algorithm, the bytes of workspace it needs, and the version of the library that it is of.
    Library(Algorithm, usize, usize),
}

impl Choice {
    fn to_bytes(self) -> Vec<u8> {
        match self {
            Choice::Kernel => vec![0],
            Choice::Library(a, workspace, version) => {
                let words = a.data.into_iter().chain([workspace as u64, version as u64]);
                std::iter::once(1).chain(words.flat_map(u64::to_le_bytes)).collect()
            }
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes.split_first()? {
            (0, []) => Some(Choice::Kernel),
            (1, rest) if rest.len() == 80 => {
                let mut words = rest.chunks_exact(8).map(|b| b.iter().rev().fold(0u64, |w, b| w << 8 | *b as u64));
                let mut a = Algorithm::default();
                for d in &mut a.data {
                    *d = words.next()?;
                }
                let (workspace, version) = (words.next()? as usize, words.next()? as usize);
                (workspace <= WORKSPACE).then_some(Choice::Library(a, workspace, version))
            }
            _ => None,
        }
    }
}

/// When the library computes a product.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Never,
    Faster,
    Always,
}

fn policy() -> Policy {
    match std::env::var("ALUDEL_CUBLAS").as_deref() {
        Ok("never") => Policy::Never,
        Ok("always") => Policy::Always,
        _ => Policy::Faster,
    }
}

/// Whether the library is here and may be used.
pub fn is_available() -> bool {
    policy() != Policy::Never && Library::find().is_some()
}

/// The library, once a product asks for it, and what was chosen so far.
pub struct Blas {
    policy: Policy,
    loaded: OnceLock<Option<Loaded>>,
    /// By the kernel that the library would replace, and the product with its alignments.
    choices: Mutex<HashMap<(u64, Problem, [u32; 4]), Choice>>,
    disk: Cache,
}

struct Loaded {
    library: &'static Library,
    handle: Object,
    /// Shared by all products: they run one after the other.
    workspace: Arc<Allocation>,
}

// SAFETY: the library takes its handle from any thread; the descriptions of a product are used by one thread at a time.
unsafe impl Send for Loaded {}
unsafe impl Sync for Loaded {}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the handle is valid and not used again; its context is still there (see `Shared`).
        unsafe { (self.library.destroy)(self.handle) };
    }
}

impl Loaded {
    fn new(shared: &Arc<Shared>) -> Option<Self> {
        let library = Library::find()?;
        let mut handle = null_mut();
        // SAFETY: a context is current; writes one handle.
        if unsafe { (library.create)(&mut handle) } != 0 {
            return None;
        }
        let workspace = Pool::allocate(shared, WORKSPACE as u64 / 4).ok()?;
        Some(Loaded { library, handle, workspace })
    }
}

/// A call of the library for one product at one place, ready to be made.
pub struct Call {
    desc: Description,
    addresses: [CUdeviceptr; 4],
    /// 1 where something is added, else 0.
    beta: f32,
    algorithm: Algorithm,
    workspace: usize,
}

/// The library's objects that describe a product.
struct Description {
    blas: Arc<Shared>,
    desc: Object,
    /// Of a, b, c and d.
    layouts: [Object; 4],
}

// SAFETY: plain data of the library, used by one thread at a time.
unsafe impl Send for Description {}

impl Drop for Description {
    fn drop(&mut self) {
        let Some(loaded) = self.blas.blas.loaded() else { return };
        // SAFETY: the objects are valid (or null, which is skipped) and not used again.
        unsafe {
            if !self.desc.is_null() {
                (loaded.library.desc_destroy)(self.desc);
            }
            for l in self.layouts.into_iter().filter(|l| !l.is_null()) {
                (loaded.library.layout_destroy)(l);
            }
        }
    }
}

fn check(status: Status) -> Result<()> {
    if status == 0 {
        Ok(())
    } else {
        Err(Error::device(format!("cuBLASLt refuses a product (status {status})"), "set ALUDEL_CUBLAS=never"))
    }
}

/// Where the operands of a product lie: the first words of the placements of lhs, rhs, out, add and bias.
#[derive(Clone, Copy)]
pub struct Bases {
    pub lhs: CUdeviceptr,
    pub rhs: CUdeviceptr,
    pub out: CUdeviceptr,
    pub add: CUdeviceptr,
    pub bias: CUdeviceptr,
}

impl Blas {
    pub fn new(cache: Option<PathBuf>) -> Self {
        Blas { policy: policy(), loaded: OnceLock::new(), choices: Mutex::default(), disk: Cache::new(cache, "cuda-products") }
    }

    fn loaded(&self) -> Option<&Loaded> {
        self.loaded.get().and_then(Option::as_ref)
    }

    /// The call that computes a product where the library is faster than the kernel, which `kernel` launches. The operands' memory may
    /// hold anything and the result's is written. The context is current.
    pub fn choose(
        &self,
        shared: &Arc<Shared>,
        stream: &StreamHandle,
        problem: &Problem,
        bases: Bases,
        kernel: (&Kernel, &dyn Fn() -> Result<()>),
    ) -> Result<Option<Call>> {
        if self.policy == Policy::Never || self.policy == Policy::Faster && problem.work() < MIN_WORK {
            return Ok(None);
        }
        let alignments = alignments(problem, bases);
        let at = (kernel.0.id, problem.clone(), alignments);
        let mut known = lock(&self.choices).get(&at).copied();
        // What the disk knows it is asked once: single operators pass here on every run.
        if known.is_none() {
            let key = self.key(shared, problem, alignments, &kernel.0.key);
            known = self.disk.get(&key).and_then(|b| Choice::from_bytes(&b));
        }
        if known == Some(Choice::Kernel) {
            lock(&self.choices).insert(at, Choice::Kernel);
            return Ok(None);
        }
        // What is not there today may be there tomorrow: nothing is kept on disk.
        let Some(loaded) = self.loaded.get_or_init(|| Loaded::new(shared)) else { return Ok(None) };
        // SAFETY: takes nothing.
        let version = unsafe { (loaded.library.version)() };
        let choice = match known {
            Some(Choice::Library(_, _, v)) if v == version => known,
            _ => None,
        };
        let choice = match choice {
            Some(choice) => choice,
            None => {
                let choice = measure(shared, loaded, stream, problem, bases, kernel.1, self.policy)?;
                let key = self.key(shared, problem, alignments, &kernel.0.key);
                self.disk.put(&key, &choice.to_bytes());
                choice
            }
        };
        lock(&self.choices).insert(at, choice);
        let Choice::Library(algorithm, workspace, _) = choice else { return Ok(None) };
        call(shared, loaded, problem, bases, algorithm, workspace).map(Some)
    }

    fn key(&self, shared: &Shared, problem: &Problem, alignments: [u32; 4], kernel: &str) -> String {
        let device = &shared.device;
        let text = format!("{problem:?} {alignments:?} {:?}", shared.target.matmul_precision);
        let driver = device.driver_version.to_le_bytes();
        cache::key(&[
            b"product 1",
            device.name.as_bytes(),
            shared.driver_build.as_bytes(),
            &driver,
            kernel.as_bytes(),
            text.as_bytes(),
            &[(self.policy == Policy::Always) as u8],
        ])
    }

    /// Makes a call on a stream, which may be capturing.
    pub fn run(&self, stream: &StreamHandle, call: &Call) -> Result<()> {
        let Some(loaded) = self.loaded() else { return Err(Error::device("cuBLASLt is gone", "restart the program")) };
        run(loaded, stream, call)
    }
}

/// Bytes that the addresses of a, b, c and d are multiples of, as far as the library cares.
fn alignments(problem: &Problem, bases: Bases) -> [u32; 4] {
    addresses(problem, bases).map(|a| 1 << a.trailing_zeros().min(8))
}

/// The first words of a, b, c and d.
fn addresses(problem: &Problem, bases: Bases) -> [CUdeviceptr; 4] {
    let at = |base: CUdeviceptr, o: &Operand, d: DType| base.wrapping_add_signed(o.offset * element_bytes(d) as i64);
    let (factors, result) = (problem.factors, problem.result);
    let d = at(bases.out, &problem.d, result);
    let c = problem.c.as_ref().map_or(d, |c| at(bases.add, c, result));
    [at(bases.rhs, &problem.a, factors), at(bases.lhs, &problem.b, factors), c, d]
}

/// The library's number for an element type.
fn data_type(dtype: DType) -> c_int {
    match dtype {
        DType::F16 => library::R_16F,
        DType::BF16 => library::R_16BF,
        _ => library::R_32F,
    }
}

fn describe(shared: &Arc<Shared>, loaded: &Loaded, problem: &Problem, bases: Bases) -> Result<Description> {
    let lt = loaded.library;
    let compute = match shared.target.matmul_precision {
        _ if problem.factors != DType::F32 => library::COMPUTE_32F,
        MatmulPrecision::Highest => library::COMPUTE_32F,
        MatmulPrecision::High => library::COMPUTE_32F_FAST_TF32,
        MatmulPrecision::Medium => library::COMPUTE_32F_FAST_16BF,
    };
    let mut out = Description { blas: shared.clone(), desc: null_mut(), layouts: [null_mut(); 4] };
    // SAFETY: writes one handle.
    check(unsafe { (lt.desc_create)(&mut out.desc, compute, library::R_32F) })?;
    let set = |object: Object, f: unsafe extern "C" fn(Object, c_int, *const c_void, usize) -> Status, what: c_int, bytes: &[u8]| {
        // SAFETY: the object is valid; the library copies so many bytes.
        check(unsafe { f(object, what, bytes.as_ptr() as *const c_void, bytes.len()) })
    };
    for (what, operand) in [(library::DESC_TRANSA, &problem.a), (library::DESC_TRANSB, &problem.b)] {
        if operand.transposed {
            set(out.desc, lt.desc_set, what, &library::OP_T.to_ne_bytes())?;
        }
    }
    if let Some(offset) = problem.bias {
        set(out.desc, lt.desc_set, library::DESC_EPILOGUE, &library::EPILOGUE_BIAS.to_ne_bytes())?;
        let address = bases.bias.wrapping_add_signed(offset * element_bytes(problem.result) as i64);
        set(out.desc, lt.desc_set, library::DESC_BIAS_POINTER, &address.to_ne_bytes())?;
    }
    let operands = [&problem.a, &problem.b, problem.c.as_ref().unwrap_or(&problem.d), &problem.d];
    let types = [problem.factors, problem.factors, problem.result, problem.result].map(data_type);
    for ((layout, o), data_type) in out.layouts.iter_mut().zip(operands).zip(types) {
        // SAFETY: writes one handle.
        check(unsafe { (lt.layout_create)(layout, data_type, o.rows, o.columns, o.leading) })?;
        if problem.batch > 1 {
            set(*layout, lt.layout_set, library::LAYOUT_BATCH_COUNT, &problem.batch.to_ne_bytes())?;
            set(*layout, lt.layout_set, library::LAYOUT_STRIDED_BATCH_OFFSET, &o.batch_stride.to_ne_bytes())?;
        }
    }
    Ok(out)
}

fn call(shared: &Arc<Shared>, loaded: &Loaded, problem: &Problem, bases: Bases, algorithm: Algorithm, workspace: usize) -> Result<Call> {
    let desc = describe(shared, loaded, problem, bases)?;
    let beta = if problem.c.is_some() { 1.0 } else { 0.0 };
    Ok(Call { desc, addresses: addresses(problem, bases), beta, algorithm, workspace })
}

fn run(loaded: &Loaded, stream: &StreamHandle, call: &Call) -> Result<()> {
    let [a, b, c, d] = call.addresses.map(|a| a as *mut c_void);
    let [la, lb, lc, ld] = call.desc.layouts;
    let (one, beta) = (1f32, call.beta);
    let workspace = loaded.workspace.address() as *mut c_void;
    // SAFETY: the descriptions are valid and say what lies at the addresses, which are in live allocations; the scalars are read
    // before the call returns, as their mode is that of the host.
    check(unsafe {
        (loaded.library.matmul)(
            loaded.handle,
            call.desc.desc,
            std::ptr::from_ref(&one) as *const c_void,
            a,
            la,
            b,
            lb,
            std::ptr::from_ref(&beta) as *const c_void,
            c,
            lc,
            d,
            ld,
            &call.algorithm,
            workspace,
            call.workspace,
            stream.0,
        )
    })
}

/// What the library proposes, the most promising first.
fn proposals(loaded: &Loaded, desc: &Description, alignments: [u32; 4]) -> Result<Vec<Proposal>> {
    let lt = loaded.library;
    let mut preference = null_mut();
    // SAFETY: writes one handle.
    check(unsafe { (lt.preference_create)(&mut preference) })?;
    let set = |what: c_int, bytes: &[u8]| {
        // SAFETY: the preference is valid; the library copies so many bytes.
        check(unsafe { (lt.preference_set)(preference, what, bytes.as_ptr() as *const c_void, bytes.len()) })
    };
    let mut found = vec![Proposal::default(); PROPOSALS];
    let mut count = 0;
    let mut ask = || {
        set(library::PREFERENCE_MAX_WORKSPACE_BYTES, &WORKSPACE.to_ne_bytes())?;
        for (i, alignment) in alignments.iter().enumerate() {
            set(library::PREFERENCE_MIN_ALIGNMENT_A_BYTES + i as c_int, &alignment.to_ne_bytes())?;
        }
        let [a, b, c, d] = desc.layouts;
        // SAFETY: all objects are valid; writes at most as many proposals as there is room for.
        check(unsafe { (lt.propose)(loaded.handle, desc.desc, a, b, c, d, preference, PROPOSALS as c_int, found.as_mut_ptr(), &mut count) })
    };
    let asked = ask();
    // SAFETY: the preference is valid and not used again.
    unsafe { (lt.preference_destroy)(preference) };
    // That there is none for a product is an answer too.
    found.truncate(if asked.is_ok() { count.max(0) as usize } else { 0 });
    found.retain(|p| p.state == 0 && p.workspace <= WORKSPACE);
    Ok(found)
}

/// Times the kernel and the library's proposals.
fn measure(
    shared: &Arc<Shared>,
    loaded: &Loaded,
    stream: &StreamHandle,
    problem: &Problem,
    bases: Bases,
    kernel: &dyn Fn() -> Result<()>,
    policy: Policy,
) -> Result<Choice> {
    // SAFETY: takes nothing.
    let version = unsafe { (loaded.library.version)() };
    let event = || shared.done("creating an event", Event::new(true));
    let (start, end) = (event()?, event()?);
    let time = |run: &dyn Fn() -> Result<()>| {
        let mut least = f64::INFINITY;
        // The first run loads code and warms caches.
        run()?;
        for _ in 0..RUNS {
            shared.done("recording an event", start.record(stream))?;
            run()?;
            shared.done("recording an event", end.record(stream))?;
            least = least.min(shared.done("timing a product", end.wait().and_then(|()| end.since(&start)))?);
        }
        Ok::<f64, Error>(least)
    };
    let least = if policy == Policy::Always { f64::INFINITY } else { time(kernel)? * WINS };
    let mut best = (least, Choice::Kernel);
    let Ok(desc) = describe(shared, loaded, problem, bases) else { return Ok(Choice::Kernel) };
    for p in proposals(loaded, &desc, alignments(problem, bases))? {
        let made = call(shared, loaded, problem, bases, p.algorithm, p.workspace)?;
        // A proposal may turn out not to run after all.
        if let Ok(ms) = time(&|| run(loaded, stream, &made))
            && ms < best.0
        {
            best = (ms, Choice::Library(p.algorithm, p.workspace, version));
        }
    }
    shared.faults.check()?;
    Ok(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_survive_the_disk() {
        let algorithm = Algorithm { data: [1, 2, 3, 4, 5, 6, 7, u64::MAX] };
        for choice in [Choice::Kernel, Choice::Library(algorithm, 4096, 130_000)] {
            assert_eq!(Choice::from_bytes(&choice.to_bytes()), Some(choice));
        }
        let cut = &Choice::Library(algorithm, 0, 1).to_bytes()[..50];
        let greedy = Choice::Library(algorithm, WORKSPACE + 1, 1).to_bytes();
        for broken in [&[][..], &[2], &[0, 0], cut, &greedy] {
            assert_eq!(Choice::from_bytes(broken), None);
        }
    }
}
