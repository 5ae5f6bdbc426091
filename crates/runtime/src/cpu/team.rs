//! Running pieces of work on all cores.
//!
//! Whoever calls works too, and can finish alone: it waits for pieces that others have taken, never for a thread to come. A
//! helper that has nothing to do stays awake for a moment, since steps follow one another faster than a thread wakes up; then
//! it goes back to rayon.

use super::lock;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// How long a helper without work stays awake.
const LINGER: Duration = Duration::from_micros(200);
/// Turns of a waiting loop before the thread lets others run.
const SPINS: u32 = 100;

/// A kernel: the starts of the bindings, the launch's parameters, which piece, and scratch of its own.
pub(super) type Function = unsafe extern "C" fn(*const *mut u32, *const u32, u32, *mut u8);

/// So many pieces of one launch.
#[derive(Clone, Copy)]
pub(super) struct Task {
    pub function: Function,
    /// Where the launch's parameters start in the rows.
    pub row: usize,
    pub pieces: u32,
    /// The launch, for timing.
    pub launch: usize,
}

/// Tasks that may run side by side.
#[derive(Clone, Default)]
pub(super) struct Wave {
    pub tasks: Vec<Task>,
    pub pieces: u32,
}

impl Wave {
    pub fn push(&mut self, task: Task) {
        self.pieces = self.pieces.saturating_add(task.pieces);
        self.tasks.push(task);
    }

    /// Runs piece `at`.
    ///
    /// # Safety
    /// As [`Work`] demands, and no other thread runs the same piece.
    unsafe fn piece(&self, at: u32, work: &Work, scratch: *mut u8) {
        let mut rest = at;
        for t in &self.tasks {
            if rest < t.pieces {
                // SAFETY: passed on to the caller.
                unsafe { (t.function)(work.bindings.as_ptr(), work.rows.as_ptr().add(t.row), rest, scratch) };
                return;
            }
            rest -= t.pieces;
        }
    }
}

/// Everything that a run's kernels are given. Whoever makes one promises that the functions are kernels of the program that
/// the bindings and rows were laid out for, and that the bindings' memory lives until [`run`] returns.
pub(super) struct Work {
    pub waves: Arc<Vec<Wave>>,
    pub bindings: Vec<*mut u32>,
    pub rows: Arc<Vec<u32>>,
    pub scratch_bytes: usize,
}

// SAFETY: the pointers are only passed to kernels, and pieces of a wave write disjoint memory.
unsafe impl Send for Work {}
unsafe impl Sync for Work {}

/// A piece of work that is handed out.
struct Job {
    work: Work,
    /// For each wave, the pieces taken and the pieces done.
    taken: Vec<AtomicU32>,
    done: Vec<AtomicU32>,
}

/// Numbers below 2^-126 count as zero while this lives: a processor takes a hundred times as long for them, and what decays
/// towards zero (an optimizer's moments of an input that is always zero) meets them sooner or later. GPUs do the same.
struct FlushTiny(u64);

impl FlushTiny {
    fn new() -> Self {
        let before = control();
        // Bits "flush to zero" and "denormals are zero" of MXCSR; "flush to zero" of FPCR.
        set_control(before | if cfg!(target_arch = "x86_64") { 0x8040 } else { 1 << 24 });
        FlushTiny(before)
    }
}

impl Drop for FlushTiny {
    fn drop(&mut self) {
        set_control(self.0);
    }
}

#[cfg(target_arch = "x86_64")]
fn control() -> u64 {
    let mut word = 0u32;
    // SAFETY: stores the control word of this thread's floating point into a local.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &mut word, options(nostack, preserves_flags)) };
    word as u64
}

#[cfg(target_arch = "x86_64")]
fn set_control(word: u64) {
    let word = word as u32;
    // SAFETY: a word that `control` gave, with two bits that say how tiny numbers are treated; no Rust code of ours computes
    // floats between the two calls.
    unsafe { std::arch::asm!("ldmxcsr [{}]", in(reg) &word, options(nostack, preserves_flags)) };
}

#[cfg(target_arch = "aarch64")]
fn control() -> u64 {
    let word: u64;
    // SAFETY: reads the control word of this thread's floating point.
    unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
    word
}

#[cfg(target_arch = "aarch64")]
fn set_control(word: u64) {
    // SAFETY: a word that `control` gave, with one bit that says how tiny numbers are treated; no Rust code of ours computes
    // floats between the two calls.
    unsafe { std::arch::asm!("msr fpcr, {}", in(reg) word, options(nomem, nostack, preserves_flags)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn control() -> u64 {
    0
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn set_control(_: u64) {}

impl Job {
    fn help(&self) {
        let _tiny = FlushTiny::new();
        with_scratch(self.work.scratch_bytes, |scratch| {
            for (w, wave) in self.work.waves.iter().enumerate() {
                loop {
                    let at = self.taken[w].fetch_add(1, Ordering::Relaxed);
                    if at >= wave.pieces {
                        break;
                    }
                    // SAFETY: each number is given out once. The work is alive: `run` does not return before this piece is done.
                    unsafe { wave.piece(at, &self.work, scratch) };
                    // Release: what the piece wrote is visible to whoever sees it done.
                    self.done[w].fetch_add(1, Ordering::Release);
                }
                let mut turns = 0u32;
                while self.done[w].load(Ordering::Acquire) < wave.pieces {
                    pause(&mut turns);
                }
            }
        });
    }
}

fn pause(turns: &mut u32) {
    *turns += 1;
    if *turns < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
}

/// The helpers of this process: cores are shared by all devices.
#[derive(Default)]
struct Team {
    job: Mutex<Option<Arc<Job>>>,
    /// Counts the jobs.
    epoch: AtomicU64,
    /// Helpers that look for jobs.
    awake: AtomicUsize,
}

fn team() -> &'static Team {
    static TEAM: OnceLock<Team> = OnceLock::new();
    TEAM.get_or_init(Team::default)
}

impl Team {
    fn publish(&'static self, job: &Arc<Job>) {
        *lock(&self.job) = Some(job.clone());
        self.epoch.fetch_add(1, Ordering::Release);
        let helpers = rayon::current_num_threads().saturating_sub(1);
        while self.awake.load(Ordering::Relaxed) < helpers {
            self.awake.fetch_add(1, Ordering::Relaxed);
            rayon::spawn(move || self.watch());
        }
    }

    /// A helper: works on whatever job is new, until there has been none for a while.
    fn watch(&self) {
        let mut seen = 0;
        let mut since = Instant::now();
        loop {
            let now = self.epoch.load(Ordering::Acquire);
            if now != seen {
                seen = now;
                let job = lock(&self.job).clone();
                if let Some(job) = job {
                    job.help();
                }
                since = Instant::now();
            }
            for _ in 0..50 {
                std::hint::spin_loop();
            }
            if since.elapsed() > LINGER {
                self.awake.fetch_sub(1, Ordering::Relaxed);
                return;
            }
        }
    }
}

/// The most scratch that a thread keeps between runs.
fn with_scratch(bytes: usize, f: impl FnOnce(*mut u8)) {
    thread_local! {
        static SCRATCH: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
    }
    SCRATCH.with_borrow_mut(|lines| {
        if lines.len() * size_of::<Line>() < bytes {
            lines.resize(bytes.div_ceil(size_of::<Line>()), Line([0; 64]));
        }
        f(lines.as_mut_ptr().cast());
    });
}

/// A cache line, which is also the widest vector.
#[derive(Clone, Copy)]
#[repr(align(64))]
#[allow(dead_code)]
struct Line([u8; 64]);

/// How many threads work, callers included.
pub(super) fn threads() -> usize {
    rayon::current_num_threads()
}

/// Runs the waves one after another; `alone` keeps the work on this thread.
pub(super) fn run(work: Work, alone: bool) {
    if alone || threads() <= 1 {
        let _tiny = FlushTiny::new();
        with_scratch(work.scratch_bytes, |scratch| {
            for wave in work.waves.iter() {
                for at in 0..wave.pieces {
                    // SAFETY: `Work` is what it promises to be, and each piece runs once.
                    unsafe { wave.piece(at, &work, scratch) };
                }
            }
        });
        return;
    }
    let counters = || work.waves.iter().map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
    let job = Arc::new(Job { taken: counters(), done: counters(), work });
    team().publish(&job);
    // Returns when every piece of every wave is done; helpers that come later find nothing to take.
    job.help();
}
