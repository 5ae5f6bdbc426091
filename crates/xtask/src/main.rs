//! `cargo xtask`: see [`USAGE`].

use anyhow::{Result, bail};
use xtask::{command::Cmd, serve, site, test};

const USAGE: &str = "\
cargo xtask serve [--port 7878] [--fast]   build the playground and serve it at http://127.0.0.1:7878
cargo xtask web [--out dist] [--fast]      write the playground as a static site, for any host and any sub-path
cargo xtask test [--only STEP]             set up what tests need and run every test there is
cargo xtask python-size                    what parser, compiler, machine and library of the scripts' language weigh in a page
cargo xtask ptxas                          bring NVIDIA's PTX assembler, for the compiler's tests
cargo xtask bench [ARGS]                   counts and times of training steps, eager and compiled
cargo xtask oracle --target interp|wgsl|c|ptx --dir tests/opinfo
                                           every case of directories of PyTorch results
--fast builds without link-time optimisation: quicker to make, larger to load.";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Err(e) = dispatch(&args) {
        eprintln!("error: {e:#}");
        std::process::exit(1);
    }
}

fn dispatch(args: &[String]) -> Result<()> {
    let (verb, rest) = match args.split_first() {
        Some((v, r)) => (v.as_str(), r),
        None => bail!("say what to do:\n{USAGE}"),
    };
    match verb {
        "serve" => {
            let options = options(rest, &["--port", "--fast"])?;
            let port = match options.value("--port") {
                Some(p) => p.parse().map_err(|_| anyhow::anyhow!("--port takes a number from 1 to 65535, not `{p}`"))?,
                None => 7878,
            };
            let dist = xtask::target_dir().join("site");
            site::build(&dist, profile(&options))?;
            serve::forever(&dist, port)
        }
        "web" => {
            let options = options(rest, &["--out", "--fast"])?;
            let out = options.value("--out").map_or_else(|| xtask::root().join("dist"), Into::into);
            site::build(&out, profile(&options))?;
            xtask::say(format!("the site is in {}: any static host serves it, from any path", out.display()));
            Ok(())
        }
        "python-size" => site::python_size(profile(&options(rest, &["--fast"])?)),
        "ptxas" => {
            if let Some(file) = xtask::packages::ptxas()? {
                println!("{}", file.display());
            }
            Ok(())
        }
        "test" => test::run(options(rest, &["--only"])?.value("--only")),
        // Both need the tensor library and a GPU stack; a separate binary keeps them out of the way of `serve`.
        "bench" | "oracle" => {
            let commit = Cmd::new("git").args(["rev-parse", "HEAD"]).output().unwrap_or_default();
            let run = Cmd::cargo("run").args(["--release", "-p", "aludel-native", "--", verb]).args(rest);
            run.env("ALUDEL_COMMIT", commit.trim()).run()
        }
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => bail!("there is no `{other}`:\n{USAGE}"),
    }
}

fn profile(options: &Options) -> &'static str {
    if options.has("--fast") { "release" } else { "web" }
}

struct Options(Vec<(String, Option<String>)>);

impl Options {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).and_then(|(_, v)| v.as_deref())
    }
}

/// Reads `--name value`; `--fast` alone takes none.
fn options(args: &[String], known: &[&str]) -> Result<Options> {
    let mut out = Vec::new();
    let mut it = args.iter();
    while let Some(name) = it.next() {
        if !known.contains(&name.as_str()) {
            bail!("`{name}` is not an option here; known: {}\n{USAGE}", known.join(", "));
        }
        let value = match name.as_str() {
            "--fast" => None,
            _ => Some(it.next().ok_or_else(|| anyhow::anyhow!("{name} takes a value"))?.clone()),
        };
        out.push((name.clone(), value));
    }
    Ok(Options(out))
}
