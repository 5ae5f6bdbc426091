//! The launches of a step as one CUDA graph: built once for given memory and sizes, then replayed by one call.
//!
//! A launch waits for those before it that write what it touches, or touch what it writes, and for no others: the device may
//! run independent launches at once. A kernel that waits itself ([`KernelSource::waits`](aludel_ir::program::KernelSource)) for nothing but
//! the launch before it is started when that one's last workgroups end, and waits for what they wrote: *programmatic dependent launch* (CUDA
//! C++ Programming Guide). Kernels that wait for several gained nothing by it.
//!
//! Collectives wait for one another besides, in the order of the program: NCCL's calls on a communicator are one sequence, the same on every
//! rank, and what it records for one call knows nothing of the others in this graph.

use super::blas::Call;
use super::driver::{Failure, check};
use super::handles::StreamHandle;
use super::kernels::Kernel;
use super::nccl::Exchange;
use super::shared::Shared;
use aludel_ir::{Error, Result};
use cudarc::driver::sys::{self, CUDA_KERNEL_NODE_PARAMS, CUdeviceptr, CUtensorMap};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

/// The driver, as `cuDriverGetVersion` counts, from which on edges of a graph can say that a kernel waits itself: CUDA 12.3.
const DEPENDENT_LAUNCHES: u32 = 12_030;

/// One launch, with all that it needs.
pub struct Prepared<'a> {
    pub work: Work<'a>,
    pub reads: Vec<Extent>,
    pub writes: Vec<Extent>,
}

/// What a launch runs.
pub enum Work<'a> {
    Kernel {
        kernel: &'a Arc<Kernel>,
        grid: [u32; 3],
        /// The row of launch parameters.
        row: &'a [u32],
        /// Its tensor maps.
        maps: Vec<CUtensorMap>,
    },
    /// A product that the library computes.
    Product(&'a Call),
    /// A collective, between GPUs.
    Exchange(&'a Exchange),
}

/// Memory that a launch touches: a binding, and words from a start to an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    pub binding: usize,
    pub start: u64,
    pub end: u64,
}

impl Extent {
    fn meets(&self, other: &Extent) -> bool {
        self.binding == other.binding && self.start < other.end && other.start < self.end
    }
}

/// The arguments of a kernel as the driver takes them: the bindings' addresses, then the row and the tensor maps by value.
struct Arguments(Vec<*mut c_void>);

impl Arguments {
    /// Valid as long as the slices are. The driver only reads through the pointers.
    fn new(addresses: &[CUdeviceptr], row: &[u32], maps: &[CUtensorMap]) -> Self {
        let mut pointers: Vec<*mut c_void> = addresses.iter().map(|a| std::ptr::from_ref(a) as *mut c_void).collect();
        if !row.is_empty() {
            pointers.push(row.as_ptr() as *mut c_void);
        }
        pointers.extend(maps.iter().map(|m| std::ptr::from_ref(m) as *mut c_void));
        Arguments(pointers)
    }
}

/// Launches one kernel by itself.
pub fn launch(
    stream: &StreamHandle,
    kernel: &Kernel,
    grid: [u32; 3],
    addresses: &[CUdeviceptr],
    row: &[u32],
    maps: &[CUtensorMap],
) -> Result<(), Failure> {
    let mut arguments = Arguments::new(addresses, row, maps);
    let ([gx, gy, gz], [bx, by, bz]) = (grid, kernel.block);
    // SAFETY: the kernel takes one address for each binding, then its row and its maps by value, as the program's text declares; the
    // driver copies them before it returns. That the kernel stays within its buffers is the compiler's promise: it clamps
    // indices that come from data, and the sizes of all bindings were measured for these very parameters.
    check(unsafe {
        let pointers = arguments.0.as_mut_ptr();
        sys::cuLaunchKernel(kernel.function.0, gx, gy, gz, bx, by, bz, kernel.dynamic_shared, stream.0, pointers, null_mut())
    })
}

/// A graph while it is built.
struct Building(sys::CUgraph);

impl Drop for Building {
    fn drop(&mut self) {
        // SAFETY: the handle is valid; an executable graph needs it no more.
        unsafe { sys::cuGraphDestroy(self.0) };
    }
}

/// A step that is launched as one.
pub struct StepGraph {
    raw: sys::CUgraphExec,
    /// The kernels that run.
    pub launches: u64,
    /// Their code, and their groups, which the graph does not hold.
    _kernels: Vec<Arc<Kernel>>,
    _exchanges: Vec<Exchange>,
}

// SAFETY: the driver takes a graph from any thread, from one at a time; it is used under the stream's lock.
unsafe impl Send for StepGraph {}

impl StepGraph {
    /// Builds the graph of launches on bindings at these addresses. The stream records what the library does; nothing runs.
    pub fn new(shared: &Shared, stream: &StreamHandle, addresses: &[CUdeviceptr], launches: &[Prepared]) -> Result<Self> {
        let done = |r| shared.done("making a graph", r);
        let mut raw = null_mut();
        // SAFETY: writes one handle.
        done(check(unsafe { sys::cuGraphCreate(&mut raw, 0) }))?;
        let graph = Building(raw);
        let mut nodes: Vec<sys::CUgraphNode> = Vec::with_capacity(launches.len());
        let dependent = shared.device.driver_version >= DEPENDENT_LAUNCHES;
        let is_kernel = |l: &Prepared| matches!(&l.work, Work::Kernel { kernel, .. } if kernel.waits);
        for (l, before) in launches.iter().zip(dependences(launches)) {
            let waits: Vec<sys::CUgraphNode> = before.iter().map(|i| nodes[*i]).collect();
            nodes.push(match &l.work {
                Work::Kernel { kernel, grid, row, maps } => {
                    let arguments = Arguments::new(addresses, row, maps);
                    let last = nodes.len().wrapping_sub(1);
                    let overlaps = dependent && before == [last] && is_kernel(l) && is_kernel(&launches[last]);
                    let waits = if overlaps { &[][..] } else { &waits };
                    let node = shared.done("making a graph", add_kernel(&graph, waits, kernel, *grid, arguments))?;
                    if overlaps {
                        done(overlap(&graph, nodes[last], node))?;
                    }
                    node
                }
                Work::Product(call) => add_child(shared, &graph, &waits, &capture(shared, stream, || shared.blas.run(stream, call))?)?,
                Work::Exchange(exchange) => add_child(shared, &graph, &waits, &capture(shared, stream, || exchange.enqueue(stream))?)?,
            });
        }
        let mut raw = null_mut();
        // SAFETY: the graph is whole; writes one handle.
        done(check(unsafe { sys::cuGraphInstantiateWithFlags(&mut raw, graph.0, 0) }))?;
        let (mut kernels, mut exchanges) = (Vec::new(), Vec::new());
        launches.iter().for_each(|l| match l.work {
            Work::Kernel { kernel, .. } => kernels.push(kernel.clone()),
            Work::Product(_) => {}
            Work::Exchange(exchange) => exchanges.push(exchange.clone()),
        });
        Ok(StepGraph { raw, launches: launches.len() as u64, _kernels: kernels, _exchanges: exchanges })
    }

    pub fn launch(&self, stream: &StreamHandle) -> Result<(), Failure> {
        // SAFETY: graph and stream are valid and of one context; the memory that the graph names is alive, since the caller
        // found the graph by it.
        check(unsafe { sys::cuGraphLaunch(self.raw, stream.0) })
    }
}

impl Drop for StepGraph {
    fn drop(&mut self) {
        // SAFETY: the handle is valid; the driver lets a launch in flight finish.
        unsafe { sys::cuGraphExecDestroy(self.raw) };
    }
}

fn add_kernel(
    graph: &Building,
    waits: &[sys::CUgraphNode],
    kernel: &Kernel,
    grid: [u32; 3],
    mut arguments: Arguments,
) -> Result<sys::CUgraphNode, Failure> {
    let ([gx, gy, gz], [bx, by, bz]) = (grid, kernel.block);
    let parameters = CUDA_KERNEL_NODE_PARAMS {
        func: kernel.function.0,
        gridDimX: gx,
        gridDimY: gy,
        gridDimZ: gz,
        blockDimX: bx,
        blockDimY: by,
        blockDimZ: bz,
        sharedMemBytes: kernel.dynamic_shared,
        kernelParams: arguments.0.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    };
    let mut node = null_mut();
    // SAFETY: the nodes are of this graph; the arguments are as in `launch`, and the driver copies them.
    check(unsafe { sys::cuGraphAddKernelNode_v2(&mut node, graph.0, waits.as_ptr(), waits.len(), &parameters) })?;
    Ok(node)
}

/// Lets a kernel wait for another by itself.
fn overlap(graph: &Building, from: sys::CUgraphNode, to: sys::CUgraphNode) -> Result<(), Failure> {
    let (port, kind) = (sys::CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, sys::CUgraphDependencyType::CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    let edge = sys::CUgraphEdgeData { from_port: port as u8, to_port: 0, type_: kind as u8, reserved: [0; 5] };
    // SAFETY: the nodes are of this graph; the driver has the function from `DEPENDENT_LAUNCHES` on.
    check(unsafe { sys::cuGraphAddDependencies_v2(graph.0, &from, &to, &edge, 1) })
}

fn add_child(shared: &Shared, graph: &Building, waits: &[sys::CUgraphNode], child: &Building) -> Result<sys::CUgraphNode> {
    let mut node = null_mut();
    // SAFETY: the nodes are of this graph, which takes a copy of the child.
    let added = check(unsafe { sys::cuGraphAddChildGraphNode(&mut node, graph.0, waits.as_ptr(), waits.len(), child.0) });
    shared.done("making a graph", added).map(|()| node)
}

/// What a library puts on the stream, as a graph.
fn capture(shared: &Shared, stream: &StreamHandle, run: impl FnOnce() -> Result<()>) -> Result<Building> {
    let done = |r| shared.done("recording a library's work", r);
    // Other threads may allocate meanwhile: what they do is none of this stream's.
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    // SAFETY: the stream is valid, its lock is held, and it is not capturing.
    done(check(unsafe { sys::cuStreamBeginCapture_v2(stream.0, mode) }))?;
    let made = run();
    let mut raw = null_mut();
    // SAFETY: ends what was begun above, also where the call failed; writes one handle.
    let ended = check(unsafe { sys::cuStreamEndCapture(stream.0, &mut raw) });
    let graph = (!raw.is_null()).then(|| Building(raw));
    made?;
    done(ended)?;
    graph.ok_or_else(|| Error::device("recording a library's work gave no graph", "set CUDA_LAUNCH_BLOCKING=1"))
}

/// For each launch, the earlier ones that it has to wait for, without those that these wait for themselves.
fn dependences(launches: &[Prepared]) -> Vec<Vec<usize>> {
    let meet = |a: &[Extent], b: &[Extent]| a.iter().any(|x| b.iter().any(|y| x.meets(y)));
    let words = launches.len().div_ceil(64);
    // For each launch, a set of bits: all that is done before it may run.
    let mut done: Vec<Vec<u64>> = Vec::with_capacity(launches.len());
    let mut out = Vec::with_capacity(launches.len());
    for (j, l) in launches.iter().enumerate() {
        let mut before = vec![0u64; words];
        let mut waits = Vec::new();
        for i in (0..j).rev() {
            if before[i / 64] >> (i % 64) & 1 == 1 {
                continue;
            }
            let earlier = &launches[i];
            let both = matches!((&earlier.work, &l.work), (Work::Exchange(_), Work::Exchange(_)));
            if both || meet(&earlier.writes, &l.reads) || meet(&earlier.writes, &l.writes) || meet(&earlier.reads, &l.writes) {
                waits.push(i);
                before[i / 64] |= 1 << (i % 64);
                before.iter_mut().zip(&done[i]).for_each(|(b, d)| *b |= d);
            }
        }
        done.push(before);
        out.push(waits);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::kernels::Kernel;

    #[test]
    fn launches_wait_for_what_they_touch_only() {
        let kernel = Arc::new(Kernel::absent());
        let extent = |binding, start| Extent { binding, start, end: start + 64 };
        let launch = |reads: &[Extent], writes: &[Extent]| Prepared {
            work: Work::Kernel { kernel: &kernel, grid: [1; 3], row: &[], maps: vec![] },
            reads: reads.to_vec(),
            writes: writes.to_vec(),
        };
        let (a, b, c) = (extent(0, 0), extent(0, 64), extent(1, 0));
        let launches = [
            launch(&[], &[a]),
            launch(&[], &[b]),
            // After both.
            launch(&[a, b], &[c]),
            // After the third, and so after the first.
            launch(&[c], &[a]),
            // Overwrites what the third reads.
            launch(&[], &[b]),
            // The same words of another binding.
            launch(&[], &[extent(2, 0)]),
        ];
        let found = dependences(&launches);
        assert_eq!(found, [vec![], vec![], vec![1, 0], vec![2], vec![2], vec![]]);
    }
}
