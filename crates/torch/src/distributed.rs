//! `torch.distributed`: a script's place among the processes that run it, and what they exchange.
//!
//! An exchange runs where the script calls it, as a region of its own: what the script goes on to read of the results may differ from rank
//! to rank (rank 0 prints a loss), and so may what is recorded around it. A turn of a loop that has one is not repeated without running
//! it.

use aludel_ir::ops;
use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Kind as ExcKind, Value, watch};
use aludel_tensor::record;

use crate::binder;
use crate::state::raise;

/// Functions of `torch._C` about processes.
pub(crate) const FUNCTIONS: &[Def] = &[
    Def::new("join_world", join_world),
    Def::new("leave_world", leave_world),
    Def::new("split_group", split_group),
    Def::new("exchange", exchange),
];

/// `exchange(name, tensor, .., group, ranks)`: what an operator between ranks gives this one.
fn exchange(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    if args.values.is_empty() {
        return Err(Exc::ty("exchange() needs the name of an operator"));
    }
    let name = args.values.remove(0);
    let name = name.as_str().unwrap_or_default();
    let def = ops::find(name).filter(|def| ops::is_collective(def.name));
    let def = def.ok_or_else(|| Exc::new(ExcKind::SystemError, format!("{name} is no exchange")))?;
    watch::refuse(|| format!("torch.distributed's {name}() is called"));
    record::flush().map_err(raise)?;
    let result = binder::call(vm, def, args, false)?;
    record::flush().map_err(raise)?;
    Ok(result)
}

#[cfg(not(target_arch = "wasm32"))]
mod world {
    use super::*;
    use crate::state::state;
    use aludel_tensor::distributed::{Member, World, destroy_process_group};
    use std::time::Duration;

    /// Gives a machine its place among others, whose device has joined their group already: ranks that are threads of one process.
    pub fn join(vm: &mut Vm, member: Member) -> Result<(), Exc> {
        state(vm)?.member = Some(member);
        Ok(())
    }

    fn pair(member: &Member) -> Value {
        Value::tuple(vec![Value::from(member.rank), Value::from(member.ranks())])
    }

    /// A number that a script gives, where it is one: -1 is none.
    fn number(value: &Value) -> Option<usize> {
        match value.bare() {
            Value::Int(v) => usize::try_from(*v).ok(),
            _ => None,
        }
    }

    /// `join_world(rank, size, place, seconds)`: this process's rank and how many there are, as the script or the environment says.
    pub fn join_world(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
        let [rank, size, place, seconds] = args.exactly::<4>("join_world")?;
        let (rank, size) = (number(&rank), number(&size));
        if let Some(member) = &state(vm)?.member {
            if rank.is_some_and(|r| r != member.rank) || size.is_some_and(|n| n != member.ranks()) {
                let text = format!("this process is rank {} of {}", member.rank, member.ranks());
                return Err(Exc::new(ExcKind::ValueError, text));
            }
            return Ok(pair(member));
        }
        let mut world = World::from_env().map_err(raise)?;
        world.size = size.unwrap_or(world.size);
        world.rank = rank.unwrap_or(world.rank);
        if let Some((host, port)) = place.as_str().and_then(|p| p.rsplit_once(':')) {
            let port = port.parse().map_err(|_| Exc::new(ExcKind::ValueError, format!("tcp://{host}:{port} names no port")))?;
            world.master = Some((host.to_string(), port));
        }
        if world.rank >= world.size {
            return Err(Exc::new(ExcKind::ValueError, format!("rank {} of a world of {}", world.rank, world.size)));
        }
        if world.size == 1 {
            // A process alone exchanges nothing.
            return Ok(pair(&Member::alone()));
        }
        let timeout = seconds.to_f64().and_then(|s| Duration::try_from_secs_f64(s).ok());
        let timeout = timeout.ok_or_else(|| Exc::new(ExcKind::ValueError, "timeout must be a positive time"))?;
        let device = state(vm)?.device.clone();
        let member = device.join_world(&world, timeout).map_err(raise)?;
        let joined = pair(&member);
        state(vm)?.member = Some(member);
        Ok(joined)
    }

    /// `leave_world()`: once all processes have come to this, those that MPI connects are no longer.
    pub fn leave_world(_: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
        record::flush().map_err(raise)?;
        destroy_process_group().map_err(raise)?;
        Ok(Value::None)
    }

    /// `split_group(of, name, ranks)`: this process's rank in a new group of some of those of another; nothing where it is not in it.
    pub fn split_group(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
        let [_, name, ranks] = args.exactly::<3>("split_group")?;
        let ranks: Option<Vec<usize>> = crate::convert::sequence(&ranks).unwrap_or_default().iter().map(number).collect();
        let ranks = ranks.ok_or_else(|| Exc::ty("ranks must be a sequence of integers"))?;
        watch::refuse(|| "torch.distributed's new_group() is called".into());
        // Exchanges that were recorded before come first on every rank.
        record::flush().map_err(raise)?;
        let state = state(vm)?;
        let member = state.member.clone().unwrap_or_else(Member::alone);
        let made = state.device.split(&member, name.as_str().unwrap_or_default(), &ranks).map_err(raise)?;
        Ok(made.map_or(Value::None, |m| Value::from(m.rank)))
    }
}

/// In a browser nobody else is there.
#[cfg(target_arch = "wasm32")]
mod world {
    use super::*;

    pub fn join_world(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
        let [_, size, _, _] = args.exactly::<4>("join_world")?;
        match size.bare() {
            Value::Int(n) if *n > 1 => Err(Exc::new(ExcKind::NotImplementedError, format!("a page is one process, not one of {n}"))),
            _ => Ok(Value::tuple(vec![Value::Int(0), Value::Int(1)])),
        }
    }

    pub fn leave_world(_: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
        Ok(Value::None)
    }

    pub fn split_group(_: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
        Err(Exc::new(ExcKind::NotImplementedError, "a page is one process"))
    }
}

#[cfg(not(target_arch = "wasm32"))]
pub use world::join;
use world::{join_world, leave_world, split_group};
