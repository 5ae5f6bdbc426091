//! System packages: installed through apt when that is possible, asked for otherwise.

use crate::command::{Cmd, which};
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
