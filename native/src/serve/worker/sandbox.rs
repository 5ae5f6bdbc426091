//! What a worker gives up, so that a fault in a client's program stays the client's own.
//!
//! With Linux' landlock (files, network, signals and abstract sockets beyond this process) and seccomp (system calls), by the crates
//! that wrap them; where the kernel has neither, or elsewhere than on Linux, the process boundary and the memory limit remain. While a
//! graph is compiled the C compiler must run: it and its libraries may be read and run, its cache and a directory for temporary files
//! written. A worker that trains on a CPU opens no file, runs no program and makes no socket any more. A GPU's driver needs its devices
//! and files at all times, so there programs, the network, and replacing and removing files are out of reach, and of the cache only what
//! runs on that kind of GPU can be written.

use crate::device::Kind;
use aludel::{Error, Result};

/// No more than so many bytes of address space: an allocation beyond fails, and this process ends for it. Drivers of GPUs reserve more
/// addresses than there is memory, so there only what can be written counts.
pub fn limit_memory(kind: Kind, bytes: Option<u64>) {
    if let Some(bytes) = bytes {
        let resource = match kind {
            Kind::Cpu | Kind::Interp => rlimit::Resource::AS,
            Kind::Cuda(_) | Kind::Wgpu => rlimit::Resource::DATA,
        };
        if let Err(e) = rlimit::setrlimit(resource, bytes, bytes) {
            tracing::warn!(error = %e, "a worker's memory is not limited");
        }
    }
    // No images of a client's memory on the disk.
    let _ = rlimit::setrlimit(rlimit::Resource::CORE, 0, 0);
    // Where memory runs out, workers go before the server.
    #[cfg(target_os = "linux")]
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
}

fn failed(e: impl std::fmt::Display) -> Error {
    Error::device(format!("a worker cannot give up its rights: {e}"), "report this")
}

#[cfg(not(target_os = "linux"))]
pub fn before_compiling(_: Kind) -> Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub fn before_training(_: Kind) -> Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub fn before_scripts(_: Kind) -> Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
pub use linux::{before_compiling, before_scripts, before_training};

#[cfg(target_os = "linux")]
mod linux {
    use super::{Kind, Result, failed};
    use landlock::{
        ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope, path_beneath_rules,
    };
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
        apply_filter_all_threads,
    };
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    /// Where programs and libraries lie, and what tells the processor.
    const SYSTEM: [&str; 13] = [
        "/usr",
        "/lib",
        "/lib32",
        "/lib64",
        "/bin",
        "/sbin",
        "/etc",
        "/opt",
        "/nix/store",
        "/sys/devices",
        "/proc/cpuinfo",
        "/proc/meminfo",
        "/proc/self",
    ];
    const HARMLESS: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

    pub fn before_compiling(kind: Kind) -> Result<()> {
        #[cfg(any(feature = "wgpu", feature = "cpu", feature = "cuda"))]
        let cache = aludel_runtime::cache_directory();
        #[cfg(not(any(feature = "wgpu", feature = "cpu", feature = "cuda")))]
        let cache: Option<PathBuf> = None;
        if let Some(dir) = &cache {
            // Rules are for what is there. Made for its user alone, as the cache itself would.
            std::fs::create_dir_all(dir).map_err(|e| failed(format!("{}: {e}", dir.display())))?;
        }
        let mut writes: Vec<PathBuf> = match kind {
            // Not what other sessions run on the CPU: a driver writes files while a client's program runs. Its own cache is beside ours;
            // without it, it compiles at every start.
            Kind::Cuda(_) => {
                cache.map(|c| c.join("cuda")).into_iter().chain(std::env::var_os("CUDA_CACHE_PATH").map(PathBuf::from)).collect()
            }
            _ => cache.into_iter().collect(),
        };
        for dir in &writes {
            std::fs::create_dir_all(dir).map_err(|e| failed(format!("{}: {e}", dir.display())))?;
        }
        writes.push(std::env::temp_dir());
        // What the kernel knows of it is enforced.
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V5))
            .and_then(|r| r.handle_access(AccessNet::from_all(ABI::V4)))
            .and_then(|r| r.scope(Scope::from_all(ABI::V6)))
            .and_then(|r| r.create())
            .and_then(|r| r.add_rules(path_beneath_rules(SYSTEM, AccessFs::from_read(ABI::V5))))
            .and_then(|r| r.add_rules(path_beneath_rules(compiler(), AccessFs::from_read(ABI::V5))))
            .and_then(|r| r.add_rules(path_beneath_rules(HARMLESS, AccessFs::from_file(ABI::V5))))
            .and_then(|r| r.add_rules(path_beneath_rules(&writes, AccessFs::from_all(ABI::V5))));
        let ruleset = match kind {
            Kind::Cpu | Kind::Interp => ruleset,
            // The driver's devices, and what it reads of the system and of other processes that use them. CUDA's writes the names of its
            // threads (`/proc/self/task/*/comm`), and does not start where it cannot.
            Kind::Cuda(_) | Kind::Wgpu => ruleset
                .and_then(|r| r.add_rules(path_beneath_rules(["/dev", "/run", "/proc/self/task"], AccessFs::from_all(ABI::V5))))
                .and_then(|r| r.add_rules(path_beneath_rules(["/proc", "/sys"], AccessFs::from_read(ABI::V5)))),
        };
        ruleset.and_then(|r| r.restrict_self()).map_err(failed)?;
        deny(&filter(&NEVER, true)?, false)
    }

    /// A script compiles for as long as it runs: on the CPU its worker keeps the compiler, and a cache that no other worker reads
    /// (`process.rs`). Everywhere else nothing more is needed than for training.
    pub fn before_scripts(kind: Kind) -> Result<()> {
        if kind == Kind::Cpu { Ok(()) } else { before_training(kind) }
    }

    pub fn before_training(kind: Kind) -> Result<()> {
        let filter = match kind {
            Kind::Cpu | Kind::Interp => filter(&[&PROGRAMS[..], &FILES, &OLD_FILES, &CHANGES, &OLD_CHANGES].concat(), false)?,
            Kind::Cuda(_) | Kind::Wgpu => filter(&[&PROGRAMS[..], &CHANGES, &OLD_CHANGES].concat(), false)?,
        };
        deny(&filter, true)
    }

    /// What `CC` names, where it lies elsewhere: its directory and the one above, where its parts are.
    fn compiler() -> Vec<PathBuf> {
        let named = std::env::var("CC").unwrap_or_default();
        let program = named.split_whitespace().next().unwrap_or_default();
        let found = Path::new(program).canonicalize().ok().filter(|p| p.is_file());
        let own = std::env::current_exe().ok();
        let directories = found.iter().flat_map(|p| p.parent().into_iter().chain(p.parent().and_then(Path::parent)));
        directories.map(Path::to_path_buf).chain(own).collect()
    }

    /// No kernel and no compiler needs these: looking into other processes, and what has been a way out of sandboxes.
    const NEVER: [i64; 16] = [
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_io_uring_setup,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_mount,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_init_module,
        libc::SYS_finit_module,
    ];
    const PROGRAMS: [i64; 2] = [libc::SYS_execve, libc::SYS_execveat];
    const FILES: [i64; 4] = [libc::SYS_openat, libc::SYS_openat2, libc::SYS_socket, libc::SYS_connect];
    const CHANGES: [i64; 8] = [
        libc::SYS_unlinkat,
        libc::SYS_renameat,
        libc::SYS_renameat2,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_mkdirat,
        libc::SYS_truncate,
        libc::SYS_fchmodat,
    ];
    /// This processor has these beside the calls above.
    #[cfg(target_arch = "x86_64")]
    const OLD_FILES: [i64; 1] = [libc::SYS_open];
    #[cfg(target_arch = "x86_64")]
    const OLD_CHANGES: [i64; 7] =
        [libc::SYS_creat, libc::SYS_unlink, libc::SYS_rename, libc::SYS_link, libc::SYS_symlink, libc::SYS_mkdir, libc::SYS_chmod];
    #[cfg(not(target_arch = "x86_64"))]
    const OLD_FILES: [i64; 0] = [];
    #[cfg(not(target_arch = "x86_64"))]
    const OLD_CHANGES: [i64; 0] = [];

    /// Refuses calls with `EPERM`; sockets of the internet, too, where asked.
    fn filter(calls: &[i64], internet: bool) -> Result<BpfProgram> {
        let mut rules = refused(calls);
        if internet {
            // Landlock knows TCP; this is for everything else.
            let family = |f: libc::c_int| {
                let is = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, f as u64);
                is.and_then(|c| SeccompRule::new(vec![c]))
            };
            let families = [libc::AF_INET, libc::AF_INET6, libc::AF_PACKET, libc::AF_VSOCK];
            let sockets = families.into_iter().map(family).collect::<std::result::Result<Vec<_>, _>>().map_err(failed)?;
            rules.insert(libc::SYS_socket, sockets);
        }
        compiled(rules)
    }

    fn refused(calls: &[i64]) -> BTreeMap<i64, Vec<SeccompRule>> {
        calls.iter().map(|c| (*c, vec![])).collect()
    }

    fn compiled(rules: BTreeMap<i64, Vec<SeccompRule>>) -> Result<BpfProgram> {
        let arch = std::env::consts::ARCH.try_into().map_err(failed)?;
        let refuse = SeccompAction::Errno(libc::EPERM as u32);
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(failed)?;
        filter.try_into().map_err(failed)
    }

    /// Kernels without seccomp are told of and left.
    fn deny(filter: &BpfProgram, all_threads: bool) -> Result<()> {
        let applied = if all_threads { apply_filter_all_threads(filter) } else { apply_filter(filter) };
        match applied {
            Err(seccompiler::Error::Seccomp(e)) if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) => {
                tracing::warn!(error = %e, "this kernel has no seccomp: workers may make any system call");
                Ok(())
            }
            applied => applied.map_err(failed),
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// In a thread of its own, which alone gives up its rights: what a driver needs is left, a user's files are not.
        #[test]
        fn a_gpu_has_its_driver_and_no_files() {
            let elsewhere = tempfile::Builder::new().tempdir_in(".").expect("a directory");
            let secret = elsewhere.path().join("secret");
            std::fs::write(&secret, "secret").expect("a file");
            let work = move || {
                before_compiling(Kind::Cuda(0)).expect("it gives up its rights");
                // As glibc and CUDA's driver name threads.
                let name = format!("/proc/self/task/{}/comm", nix::unistd::gettid());
                let named = std::fs::File::options().write(true).create(true).truncate(true).open(name);
                (named.is_ok(), std::fs::read_to_string("/proc/cpuinfo").is_ok(), std::fs::read(&secret).map_err(|e| e.kind()))
            };
            let (named, reads, stolen) = std::thread::spawn(work).join().expect("it ends");
            assert!(named && reads);
            // Where the kernel has landlock.
            if Path::new("/sys/kernel/security/landlock").exists() || stolen.is_err() {
                assert_eq!(stolen, Err(std::io::ErrorKind::PermissionDenied));
            }
        }
    }
}
