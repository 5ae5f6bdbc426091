//! Which rank of how many this process is, as those who start processes say it.

use aludel_ir::{Error, Result};

/// A process among those of one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct World {
    /// From 0 on, over all machines.
    pub rank: usize,
    pub size: usize,
    /// From 0 on, on this machine: which of its GPUs is this process's.
    pub local_rank: usize,
    /// Where rank 0 listens, for the others to find it.
    pub master: Option<(String, u16)>,
}

/// By whom processes are told their numbers: rank, size and rank on the machine. In this order: who starts `torchrun`'s or Kubernetes'
/// processes under SLURM means the former.
const NAMES: [[&str; 3]; 3] = [
    // torchrun, Kubernetes' training operator, `aludel launch`.
    ["RANK", "WORLD_SIZE", "LOCAL_RANK"],
    // Open MPI's mpirun.
    ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"],
    // SLURM's srun.
    ["SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"],
];

impl World {
    /// A process alone.
    pub fn alone() -> World {
        World { rank: 0, size: 1, local_rank: 0, master: None }
    }

    /// What the environment says; alone where it says nothing.
    ///
    /// # Errors
    ///
    /// Names the variable that is no number, is missing beside others, or does not fit them.
    pub fn from_env() -> Result<World> {
        World::from_names(&|name| std::env::var(name).ok())
    }

    /// As [`World::from_env`], of any variables.
    ///
    /// # Errors
    ///
    /// As [`World::from_env`].
    pub fn from_names(get: &dyn Fn(&str) -> Option<String>) -> Result<World> {
        let wrong = |name: &str, problem: String| {
            Error::invalid(format!("the environment's {name}"), problem, "start the run with `aludel launch`")
        };
        let number = |name: &str| {
            get(name).map(|v| v.trim().parse::<usize>().map_err(|_| wrong(name, format!("is {v:?}, not a number")))).transpose()
        };
        // SLURM numbers the one process of an interactive shell too: a size alone says nothing.
        let Some([rank, size, local]) = NAMES.into_iter().find(|n| get(n[0]).is_some() && get(n[1]).is_some()) else {
            return match get("RANK") {
                Some(_) => Err(wrong("WORLD_SIZE", "is missing beside RANK".into())),
                None => Ok(World::alone()),
            };
        };
        let (r, n) = (number(rank)?.unwrap_or(0), number(size)?.unwrap_or(1));
        if r >= n {
            return Err(wrong(rank, format!("is {r} of {n} ranks")));
        }
        let master = match (get("MASTER_ADDR"), get("MASTER_PORT")) {
            (Some(host), Some(port)) => {
                let port: u16 = port.trim().parse().map_err(|_| wrong("MASTER_PORT", format!("is {port:?}, not a port")))?;
                // torchrun's own table is at that port then: ours is at the next.
                let port = if get("TORCHELASTIC_USE_AGENT_STORE").as_deref() == Some("True") { port.saturating_add(1) } else { port };
                Some((host, port))
            }
            _ => None,
        };
        Ok(World { rank: r, size: n, local_rank: number(local)?.unwrap_or(r), master })
    }

    /// Whether this process speaks for all: logs, metrics and checkpoints are its.
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(vars: &[(&str, &str)]) -> Result<World> {
        World::from_names(&|n| vars.iter().find(|(k, _)| *k == n).map(|(_, v)| v.to_string()))
    }

    #[test]
    fn starters_are_understood() {
        assert_eq!(of(&[]).unwrap(), World::alone());
        let torchrun = [("RANK", "5"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1"), ("MASTER_ADDR", "n0"), ("MASTER_PORT", "29500")];
        let w = of(&torchrun).unwrap();
        assert_eq!((w.rank, w.size, w.local_rank, w.master), (5, 8, 1, Some(("n0".into(), 29500))));
        let agent = of(&[&torchrun[..], &[("TORCHELASTIC_USE_AGENT_STORE", "True")]].concat()).unwrap();
        assert_eq!(agent.master, Some(("n0".into(), 29501)));
        let slurm = of(&[("SLURM_PROCID", "3"), ("SLURM_NTASKS", "4"), ("SLURM_LOCALID", "1")]).unwrap();
        assert_eq!((slurm.rank, slurm.size, slurm.local_rank), (3, 4, 1));
        let mpi =
            of(&[("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")]).unwrap();
        assert_eq!((mpi.rank, mpi.size, mpi.local_rank), (1, 2, 1));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (vars, name) in [
            (&[("RANK", "x"), ("WORLD_SIZE", "2")][..], "RANK"),
            (&[("RANK", "2"), ("WORLD_SIZE", "2")], "RANK"),
            (&[("RANK", "0")], "WORLD_SIZE"),
            (&[("RANK", "0"), ("WORLD_SIZE", "2"), ("MASTER_ADDR", "a"), ("MASTER_PORT", "many")], "MASTER_PORT"),
        ] {
            let e = of(vars).unwrap_err().to_string();
            assert!(e.contains(name), "{e}");
        }
    }
}
