//! Stand-in until the runtime's interpreter executor lands.
use aludel_compiler::Target;
use aludel_ir::graph::Graph;
use aludel_ir::interp::{HostTensor, Interpreter, Precision};
use aludel_ir::program::Program;
use aludel_ir::*;
use aludel_runtime::*;
use std::any::Any;
use std::sync::{Arc, Mutex};

pub struct Mem(Mutex<Arc<[u32]>>);
impl Memory for Mem {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn words(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}
pub struct Ex;
pub struct Exe {
    graph: Graph,
    interp: Interpreter,
}
fn words(a: &Argument) -> Arc<[u32]> {
    match a {
        Argument::Host(w) => w.clone(),
        Argument::Device(s) => s.as_any().downcast_ref::<Mem>().unwrap().0.lock().unwrap().clone(),
    }
}
fn mem(w: Vec<u32>) -> Storage {
    Arc::new(Mem(Mutex::new(w.into())))
}
impl Executable for Exe {
    fn run(&self, sizes: &[i64], inputs: &[Argument]) -> Result<Vec<Storage>> {
        let host = inputs
            .iter()
            .zip(&self.graph.inputs)
            .map(|(a, i)| {
                let ty = self.graph.ty(i.value);
                let shape: Vec<usize> = ty
                    .shape
                    .iter()
                    .map(|d| {
                        d.eval(&|a| match a {
                            Atom::Sym(s) => sizes.get(s.0 as usize).copied(),
                            _ => None,
                        })
                        .unwrap() as usize
                    })
                    .collect();
                HostTensor::new(ty.dtype, shape, decode(&words(a), ty.dtype))
            })
            .collect::<Result<Vec<_>>>()?;
        let outs = self.interp.run(sizes, &host, Precision::F32)?;
        Ok(outs
            .into_iter()
            .zip(&self.graph.outputs)
            .map(|(t, o)| {
                let w = encode(&t.data, t.dtype);
                if let Some(u) = o.updates
                    && let Argument::Device(s) = &inputs[u]
                {
                    *s.as_any().downcast_ref::<Mem>().unwrap().0.lock().unwrap() = w.into();
                    return s.clone();
                }
                mem(w)
            })
            .collect())
    }
    fn program(&self) -> Option<&Arc<Program>> {
        None
    }
}
impl Executor for Ex {
    fn info(&self) -> DeviceInfo {
        DeviceInfo { backend: "Interpreter".into(), name: "Interpreter".into(), features: vec![] }
    }
    fn target(&self) -> Option<Target> {
        None
    }
    fn load(&self, graph: Arc<Graph>, _: Option<Arc<Program>>) -> Result<Arc<dyn Executable>> {
        let g = aludel_compiler::autodiff::expand_grads(&graph)?;
        Ok(Arc::new(Exe { interp: Interpreter::new(&g)?, graph: (*graph).clone() }))
    }
    fn upload(&self, w: &[u32]) -> Result<Storage> {
        Ok(mem(w.to_vec()))
    }
    fn allocate_block(&self, c: &[Argument]) -> Result<Vec<Storage>> {
        Ok(c.iter().map(|a| mem(words(a).to_vec())).collect())
    }
    fn evacuate(&self, r: &Storage) -> Result<Storage> {
        Ok(mem(words(&Argument::Device(r.clone())).to_vec()))
    }
    fn download(&self, s: &Storage) -> Pending<Vec<u32>> {
        let w = words(&Argument::Device(s.clone())).to_vec();
        Box::pin(async move { Ok(w) })
    }
    fn flush(&self) {}
    fn throttle(&self, _: usize) -> Pending<()> {
        Box::pin(async { Ok(()) })
    }
    fn stats(&self) -> Stats {
        Stats::default()
    }
    fn lost(&self) -> Option<String> {
        None
    }
}
