//! A script in its worker: the machine of `aludel run`, with files in memory and nothing else around it.

use super::learner::refuse;
use super::wire::{Memory, Ran};
use crate::serve::args::Bounds;
use crate::serve::limits::{job, within};
use aludel::Device;
use aludel_compiler::{Compilation, Options, Pass, Target};
use aludel_protocol::remote::Refusal;
use aludel_protocol::script::{Bytes, Job, Kernel, Line, Node, Numbers, Region, Report};
use aludel_protocol::{Inspection, Pane};
use aludel_python::host::Stream;
use aludel_python::host::kept::{Kept, Made, Time};
use aludel_torch::capture;
use aludel_torch::session::{Look, Script, Session};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

/// How long a turn is: as that of a graph that trains.
const SLICE: Duration = Duration::from_millis(60);
/// The most that the values of a script may take, in bytes, beside its tensors.
const MEMORY: u64 = 1 << 30;
/// Files, arguments and earlier listings of a script.
const MOST_PARTS: u64 = aludel_protocol::script::MOST_PARTS as u64;
/// So many regions are shown: those that ran most.
const SHOWN: usize = 8;

/// The script's own clock, which stands while it is not its turn.
#[derive(Default)]
struct Clock {
    before: Cell<Duration>,
    since: Cell<Option<Instant>>,
}

impl Clock {
    fn elapsed(&self) -> Duration {
        self.before.get() + self.since.get().map_or(Duration::ZERO, |s| s.elapsed())
    }

    fn stop(&self) {
        self.before.set(self.elapsed());
        self.since.set(None);
    }
}

struct WorkerTime(Rc<Clock>);

impl Time for WorkerTime {
    fn now(&self) -> f64 {
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |t| t.as_secs_f64())
    }
    fn elapsed(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
    fn skip(&self, seconds: f64) {
        self.0.before.set(self.0.before.get() + Duration::from_secs_f64(seconds));
    }
    fn entropy(&mut self) -> u64 {
        // Where the system has no randomness, the time has some.
        getrandom::u64().unwrap_or_else(|_| self.now().to_bits())
    }
}

/// A script that runs here.
pub struct Runner {
    session: Session,
    device: Device,
    clock: Rc<Clock>,
    name: String,
    lines: Vec<Option<String>>,
    began: Instant,
    /// Bytes that its tensors may take.
    memory: u64,
}

impl Runner {
    /// A script, within limits, about to run on a device.
    pub fn new(sent: Job, device: Device, bounds: &Bounds) -> Result<Runner, Refusal> {
        let Job { device: _, pane, name, text, args, before, files } = sent;
        within("files of a script", files.len() as u64, MOST_PARTS)?;
        within("arguments and earlier listings of a script", (args.len() + before.len()) as u64, MOST_PARTS)?;
        let bytes: u64 = files.iter().map(|(path, bytes)| (path.len() + bytes.0.len()) as u64).sum();
        within("bytes of a script's files", bytes, bounds.wire.tensor_bytes)?;
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(job("a script needs a name"));
        }
        let (clock, made) = (Rc::new(Clock::default()), Rc::new(RefCell::new(Made::default())));
        let files: BTreeMap<String, Vec<u8>> = files.into_iter().map(|(path, bytes)| (path, bytes.0)).collect();
        let host = Box::new(Kept::new(files, made.clone(), WorkerTime(clock.clone())));
        let memory = usize::try_from(MEMORY.min(bounds.wire.tensor_bytes)).unwrap_or(usize::MAX);
        let script = Script { name, text, args, before };
        let name = script.name.clone();
        clock.since.set(Some(Instant::now()));
        let session = Session::new(&script, pane == Pane::Compiled, device.clone(), host, made, memory);
        clock.stop();
        Ok(Runner { session, device, clock, name, lines: Vec::new(), began: Instant::now(), memory: bounds.memory_bytes })
    }

    /// A device of this worker, for [`Runner::new`].
    pub fn device(kind: crate::device::Kind) -> Result<Device, Refusal> {
        crate::device::Choice::new(kind).open().map_err(refuse)
    }

    fn ms(&self) -> f64 {
        self.began.elapsed().as_secs_f64() * 1e3
    }

    /// Runs on for a turn, or in a single step to its end, with lines of input that it has not had.
    pub fn advance(&mut self, lines: Vec<Option<String>>, steps: bool, stop: bool) -> Ran {
        self.lines.extend(lines);
        match (steps, self.session.steps()) {
            (true, false) => self.session.begin_step(),
            (false, true) => self.session.forget_step(),
            _ => {}
        }
        let (start, now) = (Instant::now(), self.ms());
        self.clock.since.set(Some(start));
        let mut look = || match (start.elapsed() < SLICE, stop) {
            (false, _) => Look::Enough,
            (true, true) => Look::Interrupt(now + start.elapsed().as_secs_f64() * 1e3),
            (true, false) => Look::GoOn,
        };
        pollster::block_on(self.session.slice(&self.lines, &mut look));
        self.clock.stop();
        let stepped = steps && !self.session.steps();
        let stats = self.device.stats();
        if stats.bytes_in_use > self.memory {
            // Before the process has no memory left: then nobody could say why.
            self.session.give_up(&format!("MemoryError: the script's tensors take more than this server's {} MiB\n", self.memory >> 20));
        }
        Ran { report: Box::new(self.report()), stepped, memory: Memory { in_use: stats.bytes_in_use, peak: stats.peak_bytes } }
    }

    fn report(&mut self) -> Report {
        let now = self.ms();
        let made = self.session.report();
        let n = made.numbers;
        let lines = self.session.lines(now).map(|lines| {
            let line = |l: aludel_torch::lines::Line| Line {
                line: l.line,
                operators: l.operators as u64,
                kernels: l.kernels as u64,
                share: l.share,
                breaks: l.breaks,
                again: l.recompiled,
            };
            lines.into_iter().map(line).collect()
        });
        let mut report = Report {
            whole: false,
            output: made.output.into_iter().map(|(stream, text)| (stream == Stream::Err, text)).collect(),
            files: made.files.into_iter().map(|(path, bytes)| (path, Bytes(bytes))).collect(),
            figures: made.figures.into_iter().map(|f| (f.name, f.media, Bytes(f.bytes))).collect(),
            logged: made.logged,
            // Of a lost device the script hears by itself.
            losses: pollster::block_on(self.session.losses()).unwrap_or_default(),
            lines,
            at: made.at,
            numbers: Numbers {
                steps: n.steps as u64,
                ms: n.ms,
                kernels: n.kernels,
                submits: n.submits,
                peak: n.peak,
                first: n.first,
                graphs: n.graphs,
                pipelines: n.pipelines,
                seconds: self.clock.elapsed().as_secs_f64(),
            },
            asks: self.session.asks().filter(|line| self.lines.len() <= *line).map(|line| line as u64),
            ended: self.session.over().map(str::to_string),
        };
        report.bound();
        report
    }

    /// What the compiler made of it: the regions that ran most.
    pub fn regions(&mut self) -> Vec<Region> {
        let mut shown = self.session.regions();
        shown.sort_by_key(|r| std::cmp::Reverse((r.runs, r.graph.nodes.len())));
        shown.iter().take(SHOWN).map(|r| region(r, &self.name)).collect()
    }
}

fn region(region: &capture::Region, file: &str) -> Region {
    let found = region.program.as_ref().map(|p| Inspection::of_program(&region.graph, p)).unwrap_or_default();
    let line = |at: &str| at.rsplit_once(':').filter(|(f, _)| *f == file).and_then(|(_, n)| n.parse().ok());
    let lines: Vec<Option<u32>> = region.graph.nodes.iter().map(|n| line(n.location.as_deref()?)).collect();
    let node = |o: aludel_protocol::Operator| Node { line: lines.get(o.node as usize).copied().flatten(), text: o.text };
    let kernel = |k: aludel_protocol::Kernel| Kernel {
        label: k.label,
        phase: k.phase,
        operators: k.operators,
        bytes: k.bytes,
        flops: k.flops,
        source: k.source,
    };
    let loops = match &region.program {
        None => String::new(),
        Some(_) => {
            // After fusion: compiled once more, as far as that.
            let (target, options) = (Target::webgpu_default(), Options::default());
            let mut made = Compilation::new(&region.graph, &target, &options);
            made.until(Pass::Chain).map_or_else(|e| e.to_string(), |()| made.loops.to_string())
        }
    };
    Region {
        runs: region.runs,
        nodes: found.operators.into_iter().map(node).collect(),
        kernels: found.kernels.into_iter().map(kernel).collect(),
        loops,
    }
}
