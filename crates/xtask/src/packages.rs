//! System packages: installed through apt when that is possible, asked for otherwise.

use crate::command::{Cmd, is_file, which};
use anyhow::{Result, bail};

/// Makes sure that Debian packages are there. On another system, or without root, says what is missing and fails.
pub fn ensure(why: &str, packages: &[&str]) -> Result<()> {
    let missing: Vec<&str> = packages.iter().copied().filter(|p| !installed(p)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    if which("apt-get").is_none() {
        bail!("{why} needs what Debian calls {list}; install it with your system's package manager");
    }
    if Cmd::new("id").arg("-u").output().as_deref() != Some("0") {
        bail!("{why} needs packages that are not installed; run: sudo apt-get install --no-install-recommends {list}");
    }
    crate::say(format!("installing {list} with apt-get ({why})"));
    // The lists may be stale or absent on a fresh machine; if the update fails, installing says what is wrong.
    let _ = Cmd::new("apt-get").args(["update", "-qq"]).run();
    Cmd::new("apt-get")
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(missing)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .run()
}

fn installed(package: &str) -> bool {
    Cmd::new("dpkg-query").args(["-W", "-f", "${Status}", package]).output().is_some_and(|s| s.ends_with("ok installed"))
}

/// A Chromium or Chrome: `ALUDEL_CHROMIUM`, else what is on `PATH`, else Debian's.
pub fn browser() -> Result<std::path::PathBuf> {
    if let Some(p) = std::env::var_os("ALUDEL_CHROMIUM") {
        return Ok(p.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    if let Some(p) = names.iter().find_map(|n| which(n)) {
        return Ok(p);
    }
    ensure("the browser test", &["chromium"])?;
    which("chromium").ok_or_else(|| anyhow::anyhow!("chromium was installed but is not on PATH; set ALUDEL_CHROMIUM to it"))
}

/// A Vulkan driver for native tests: any that is registered, else Mesa's software one.
pub fn vulkan() -> Result<()> {
    let registered = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"].iter().any(|d| {
        std::fs::read_dir(d).is_ok_and(|mut entries| entries.any(|e| e.is_ok_and(|e| e.path().extension().is_some_and(|x| x == "json"))))
    });
    if !cfg!(target_os = "linux") || std::env::var_os("VK_DRIVER_FILES").is_some() || (registered && loader()) {
        return Ok(());
    }
    ensure("the native GPU tests", &["mesa-vulkan-drivers", "libvulkan1"])
}

fn loader() -> bool {
    Cmd::new("ldconfig")
        .arg("-p")
        .output()
        .or_else(|| Cmd::new("/sbin/ldconfig").arg("-p").output())
        .is_some_and(|s| s.contains("libvulkan.so.1"))
}

/// NVIDIA's PTX assembler, which needs no GPU: `PTXAS`, else what is on `PATH`, else the one of a package of PyPI, unpacked under
/// the target directory, where the compiler's tests look for it. `None`, said aloud, where there is no Python to fetch it with.
pub fn ptxas() -> Result<Option<std::path::PathBuf>> {
    if let Some(p) = std::env::var_os("PTXAS") {
        return Ok(Some(p.into()));
    }
    if let Some(p) = which("ptxas") {
        return Ok(Some(p));
    }
    let directory = crate::target_dir().join("ptxas");
    let file = directory.join("nvidia/cu13/bin/ptxas");
    if is_file(&file) {
        return Ok(Some(file));
    }
    if Cmd::new("python3").args(["-m", "pip", "--version"]).output().is_none() {
        crate::say("SKIPPED: without Python's pip there is no ptxas, and PTX kernels are not assembled");
        return Ok(None);
    }
    std::fs::create_dir_all(&directory)?;
    let fetch = ["-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "nvidia-cuda-nvcc", "-d"];
    Cmd::new("python3").args(fetch).arg(&directory).run()?;
    for entry in std::fs::read_dir(&directory)? {
        let wheel = entry?.path();
        if wheel.extension().is_some_and(|x| x == "whl") {
            Cmd::new("python3").args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&directory).run()?;
            std::fs::remove_file(&wheel)?;
        }
    }
    Cmd::new("chmod").arg("+x").arg(&file).run()?;
    Ok(Some(file))
}

/// What drives the kernel for notebooks in its test: a Python environment below the target directory, with packages of PyPI. Without it, said
/// aloud, that test is skipped.
pub fn jupyter() -> Result<()> {
    /// Their newest versions when the test was written: the protocol is what is tested, not its clients.
    const CLIENTS: [&str; 3] = ["jupyter_client==8.10.0", "nbclient==0.11.0", "nbformat==5.11.1"];
    let directory = crate::target_dir().join("jupyter");
    let python = directory.join("bin/python");
    let has_clients = || Cmd::new(&python).args(["-c", "import jupyter_client, nbclient, nbformat"]).output().is_some();
    if is_file(&python) && has_clients() {
        return Ok(());
    }
    let made = Cmd::new("python3").args(["-m", "venv"]).arg(&directory).run();
    if made.and_then(|()| Cmd::new(&python).args(["-m", "pip", "install", "-q"]).args(CLIENTS).run()).is_err() {
        crate::say("SKIPPED: without Python's venv and PyPI the kernel for notebooks is not tested");
    }
    Ok(())
}
