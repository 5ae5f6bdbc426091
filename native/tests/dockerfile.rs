//! The Dockerfile, line by line against what it speaks of: its files are there, its cargo commands name packages and features that there
//! are, Debian has its packages, and its entry point, health check and stop signal do what they are for. No container engine is needed.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository").to_path_buf()
}

/// Instructions with what follows them; lines that go on are one, comments are none.
fn instructions() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("Dockerfile")).expect("a Dockerfile");
    let lines: String = text.lines().filter(|l| !l.trim_start().starts_with('#')).map(|l| format!("{l}\n")).collect();
    let lines = lines.replace("\\\n", " ");
    let split = |l: &str| l.trim().split_once(' ').map(|(i, rest)| (i.to_string(), rest.trim().to_string()));
    lines.lines().filter_map(split).collect()
}

fn all<'a>(of: &'a [(String, String)], what: &str) -> Vec<&'a str> {
    of.iter().filter(|(i, _)| i == what).map(|(_, rest)| &rest[..]).collect()
}

fn list(of: &[(String, String)], what: &str) -> Vec<String> {
    let text = all(of, what).pop().unwrap_or_else(|| panic!("no {what}"));
    serde_json::from_str(&text[text.find('[').expect("a list")..]).expect("a list")
}

/// The words after an option in the commands of `RUN`.
fn words<'a>(run: &'a str, option: &str) -> Vec<&'a str> {
    let words: Vec<&str> = run.split_whitespace().collect();
    words.windows(2).filter(|w| w[0] == option).map(|w| w[1]).collect()
}

#[test]
fn what_it_names_is_there() {
    let all_lines = instructions();
    let known = ["FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT"];
    for (instruction, rest) in &all_lines {
        assert!(known.contains(&&instruction[..]), "{instruction} {rest}");
    }
    // What one builds the other runs: of one Debian.
    let from = all(&all_lines, "FROM");
    assert!(from.len() == 2 && from.iter().all(|f| f.contains("bookworm")), "{from:?}");
    assert!(from[0].ends_with(" AS build"));
    let runs = all(&all_lines, "RUN");
    let built = runs.iter().find(|r| r.contains("cargo ")).expect("it builds");
    // What is copied was made.
    for copy in all(&all_lines, "COPY") {
        let made = copy.strip_prefix("--from=build ").map(|c| c.split(' ').next().expect("a path"));
        assert!(made.map_or(copy == ". .", |path| built.contains(path)), "COPY {copy}");
    }
    // `rustup toolchain install` takes its toolchain, and the browser's target, from here.
    let toolchain = std::fs::read_to_string(root().join("rust-toolchain.toml")).expect("a toolchain");
    assert!(toolchain.contains("wasm32-unknown-unknown"), "{toolchain}");
    let manifest = std::fs::read_to_string(root().join("native/Cargo.toml")).expect("a manifest");
    for feature in words(built, "--features").iter().flat_map(|f| f.split(',')) {
        assert!(manifest.lines().any(|l| l.starts_with(&format!("{feature} = ["))), "there is no feature {feature}");
    }
    for package in words(built, "-p") {
        let folders = [root().join("native/Cargo.toml"), root().join(format!("crates/{package}/Cargo.toml"))];
        let named = |p: &PathBuf| std::fs::read_to_string(p).is_ok_and(|m| m.contains(&format!("name = \"{package}\"")));
        assert!(folders.iter().any(named), "there is no package {package}");
    }
    let xtask = std::fs::read_to_string(root().join("crates/xtask/src/main.rs")).expect("its commands");
    assert!(built.contains("-p xtask -- web --out ") && xtask.contains("web [--out") && root().join("Cargo.lock").is_file(), "{built}");
    // The binary's name, and the profile's folder.
    assert!(built.contains("target/release/aludel ") && built.contains("--release -p aludel-native"), "{built}");
    assert!(root().join(".dockerignore").is_file());
}

/// Where Debian's lists are, its packages are in them.
#[test]
fn debian_has_its_packages() {
    let all_lines = instructions();
    let install = all(&all_lines, "RUN").into_iter().find(|r| r.contains("apt-get install")).expect("it installs packages");
    let command = install.split("&&").find(|c| c.contains("apt-get install")).expect("a command");
    let packages: Vec<&str> = command.split_whitespace().skip(2).filter(|w| !w.starts_with('-')).collect();
    assert!(packages.contains(&"gcc") && packages.contains(&"libc6-dev"), "the CPU's kernels need a compiler and headers: {packages:?}");
    for package in packages {
        match Command::new("apt-cache").args(["policy", package]).output() {
            // Nothing at all is known where there are no lists.
            Ok(told) if !told.stdout.is_empty() => {
                let told = String::from_utf8_lossy(&told.stdout).into_owned();
                assert!(!told.contains("Candidate: (none)"), "{told}");
            }
            _ => eprintln!("SKIPPED: no lists of Debian's packages here to look {package} up in"),
        }
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The entry point with directories of this test, the health check, and the stop signal.
#[test]
#[cfg(unix)]
fn it_starts_is_healthy_and_stops() {
    let all_lines = instructions();
    let dir = tempfile::tempdir().expect("a directory");
    let entry = list(&all_lines, "ENTRYPOINT");
    assert_eq!(entry[..2], ["aludel", "serve"]);
    let volume = list(&all_lines, "VOLUME").pop().expect("a volume");
    let site = all(&all_lines, "COPY").iter().find_map(|c| c.strip_prefix("--from=build /out/site ")).expect("a site").to_string();
    assert!(entry.contains(&volume) && entry.contains(&site), "the entry point knows other directories: {entry:?}");
    let arguments = entry[2..].iter().map(|a| match a {
        a if *a == volume => dir.path().join("state").display().to_string(),
        a if *a == site => dir.path().join("site").display().to_string(),
        a => a.clone(),
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_aludel"))
        .arg("--json")
        .arg("serve")
        .args(arguments)
        .args(["--port", "0", "--device", "interp"])
        .env_remove("ALUDEL_TOKEN")
        .env("XDG_STATE_HOME", dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map(Killed)
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(child.0.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
    let event: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert!(event["token"] == true && event["url"].as_str().is_some_and(|u| u.contains("#token=")), "{line}");
    let port = event["address"].as_str().and_then(|a| a.rsplit(':').next()).expect("a port").to_string();
    let exposed = all(&all_lines, "EXPOSE")[0];
    let check = list(&all_lines, "HEALTHCHECK");
    assert!(check[2].contains(&format!("/dev/tcp/127.0.0.1/{exposed}")), "{check:?}");
    let healthy = |port: &str| {
        let command = check[2].replace(&format!("/{exposed} "), &format!("/{port} "));
        Command::new(&check[0]).arg(&check[1]).arg(command).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
    };
    assert!(healthy(&port));
    let signal = all(&all_lines, "STOPSIGNAL")[0].trim_start_matches("SIG").to_string();
    assert!(Command::new("kill").args([format!("-{signal}"), child.0.id().to_string()]).status().expect("kill runs").success());
    let start = Instant::now();
    while child.0.try_wait().expect("its status").is_none() {
        assert!(start.elapsed() < Duration::from_secs(30), "it does not stop");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(child.0.wait().expect("its status").success() && !healthy(&port));
}
