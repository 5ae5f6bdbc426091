//! Running pieces of work on all cores.
//!
//! Whoever calls works too, and can finish alone: it waits for pieces that others have taken, never for a thread to come. A
//! helper that has nothing to do stays awake for a moment, since steps follow one another faster than a thread wakes up; then
//! it goes back to rayon.

use super::memory::{Block, HUGE_PAGE};
use crate::memory::lock;
use std::alloc::{Layout, handle_alloc_error};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// How long a helper without work stays awake.
const LINGER: Duration = Duration::from_micros(200);
/// Turns of a waiting loop at full speed, and then with pauses, before the thread lets others run. Pauses are long, and on a
/// virtual machine many of them look to the host like a thread that has nothing to do.
const EAGER: u32 = 2_000;
const PAUSES: u32 = 100;

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

/// Tasks that may run side by side, shared out: every thread has pieces of its own, the same ones in every run, so that it finds
/// in its cache what it left there. A thread that is done takes of the others'.
#[derive(Clone, Default)]
pub(super) struct Wave {
    pub tasks: Vec<Task>,
    pub pieces: u32,
    /// For each thread, stretches of tasks' pieces, and how many they are.
    shares: Vec<(Vec<Stretch>, u32)>,
}

#[derive(Clone, Copy)]
struct Stretch {
    task: usize,
    first: u32,
    count: u32,
}

impl Wave {
    pub fn new(tasks: Vec<Task>, threads: usize) -> Self {
        let mut shares: Vec<(Vec<Stretch>, u32)> = vec![(Vec::new(), 0); threads.max(1)];
        let threads = shares.len() as u64;
        let mut single = 0;
        for (t, task) in tasks.iter().enumerate() {
            let n = task.pieces as u64;
            let mut give = |thread: u64, first: u64, end: u64| {
                let (list, count) = &mut shares[thread as usize];
                list.push(Stretch { task: t, first: first as u32, count: (end - first) as u32 });
                *count = count.saturating_add((end - first) as u32);
            };
            if n < threads {
                // Few pieces: to the threads in turn.
                for piece in 0..n {
                    give(single % threads, piece, piece + 1);
                    single += 1;
                }
            } else {
                (0..threads).for_each(|p| give(p, p * n / threads, (p + 1) * n / threads));
            }
        }
        let pieces = tasks.iter().fold(0u32, |sum, t| sum.saturating_add(t.pieces));
        Wave { tasks, pieces, shares }
    }

    /// Runs piece `at` of a thread's share.
    ///
    /// # Safety
    /// As [`Work`] demands, and no other thread runs the same piece.
    unsafe fn piece(&self, share: usize, at: u32, work: &Work, scratch: *mut u8) {
        let mut rest = at;
        for s in &self.shares[share].0 {
            if rest < s.count {
                let t = &self.tasks[s.task];
                // SAFETY: passed on to the caller.
                unsafe { (t.function)(work.bindings.as_ptr(), work.rows.as_ptr().add(t.row), s.first + rest, scratch) };
                return;
            }
            rest -= s.count;
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

/// A run that threads share.
struct Job {
    work: Work,
    threads: usize,
    /// For each wave and thread, the pieces of its share that were taken.
    taken: Vec<Counter>,
    /// For each wave, the pieces done.
    done: Vec<Counter>,
}

/// A counter on a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Counter(AtomicU32);

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
    /// Works as thread `own`, to the end.
    fn help(&self, own: usize) {
        let _tiny = FlushTiny::new();
        with_scratch(self.work.scratch_bytes, |scratch| {
            for (w, wave) in self.work.waves.iter().enumerate() {
                let mut ran = 0;
                for share in (own..self.threads).chain(0..own) {
                    let taken = &self.taken[w * self.threads + share].0;
                    while taken.load(Ordering::Relaxed) < wave.shares[share].1 {
                        let at = taken.fetch_add(1, Ordering::Relaxed);
                        if at >= wave.shares[share].1 {
                            break;
                        }
                        // SAFETY: each number is given out once. The work is alive: `run` does not return before this piece is done.
                        unsafe { wave.piece(share, at, &self.work, scratch) };
                        ran += 1;
                    }
                }
                let done = &self.done[w].0;
                if ran > 0 {
                    // Release: what the pieces wrote is visible to whoever sees them done.
                    done.fetch_add(ran, Ordering::Release);
                }
                let mut turns = 0u32;
                while done.load(Ordering::Acquire) < wave.pieces {
                    pause(&mut turns);
                }
            }
        });
    }
}

fn pause(turns: &mut u32) {
    *turns = turns.saturating_add(1);
    match *turns {
        t if t < EAGER => {}
        t if t < EAGER + PAUSES => std::hint::spin_loop(),
        _ => std::thread::yield_now(),
    }
}

/// The helpers of this process: cores are shared by all devices.
struct Team {
    job: Mutex<Option<Arc<Job>>>,
    /// Counts the jobs.
    epoch: AtomicU64,
    /// For each helper, whether it looks for jobs.
    awake: Vec<AtomicBool>,
}

fn team() -> &'static Team {
    static TEAM: OnceLock<Team> = OnceLock::new();
    TEAM.get_or_init(|| {
        let awake = (1..threads()).map(|_| AtomicBool::new(false)).collect();
        Team { job: Mutex::default(), epoch: AtomicU64::new(0), awake }
    })
}

impl Team {
    fn publish(&'static self, job: &Arc<Job>) {
        *lock(&self.job) = Some(job.clone());
        self.epoch.fetch_add(1, Ordering::Release);
        for (helper, awake) in self.awake.iter().enumerate() {
            if !awake.swap(true, Ordering::Relaxed) {
                rayon::spawn(move || self.watch(helper));
            }
        }
    }

    /// A helper: works on whatever job is new, until there has been none for a while.
    fn watch(&self, helper: usize) {
        let mut seen = 0;
        let mut since = Instant::now();
        let mut polls = 0u32;
        loop {
            let now = self.epoch.load(Ordering::Acquire);
            if now != seen {
                seen = now;
                let job = lock(&self.job).clone();
                if let Some(job) = job {
                    job.help(helper + 1);
                }
                since = Instant::now();
            }
            polls = polls.wrapping_add(1);
            if polls.is_multiple_of(256) && since.elapsed() > LINGER {
                self.awake[helper].store(false, Ordering::Relaxed);
                return;
            }
        }
    }
}

/// Calls with so much scratch: a thread keeps the most that it ever had between runs.
fn with_scratch(bytes: usize, f: impl FnOnce(*mut u8)) {
    thread_local! {
        static SCRATCH: RefCell<Option<Block>> = const { RefCell::new(None) };
    }
    SCRATCH.with_borrow_mut(|block| {
        if block.as_ref().is_none_or(|b| b.bytes() < bytes) {
            *block = None;
            // As large as a page where it nearly is.
            let bytes = if bytes < HUGE_PAGE / 4 { bytes.max(64) } else { bytes.next_multiple_of(HUGE_PAGE) };
            *block = Block::new(bytes.div_ceil(4) as u64);
        }
        match block {
            Some(block) => f(block.as_mut_ptr()),
            None => handle_alloc_error(Layout::new::<[u8; HUGE_PAGE]>()),
        }
    });
}

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
                for (share, (_, count)) in wave.shares.iter().enumerate() {
                    for at in 0..*count {
                        // SAFETY: `Work` is what it promises to be, and each piece runs once.
                        unsafe { wave.piece(share, at, &work, scratch) };
                    }
                }
            }
        });
        return;
    }
    // The shares were cut for so many threads.
    let threads = work.waves.iter().map(|w| w.shares.len()).max().unwrap_or(1);
    let counters = |n: usize| (0..n).map(|_| Counter::default()).collect::<Vec<_>>();
    let job = Arc::new(Job { threads, taken: counters(work.waves.len() * threads), done: counters(work.waves.len()), work });
    team().publish(&job);
    // Returns when every piece of every wave is done; helpers that come later find nothing to take.
    job.help(0);
}
