//! Writes the files of the packages that pages do not carry into a folder: what a page fetches when a script imports one.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    std::fs::create_dir_all(&folder)?;
    for (package, file) in aludel_torch::library::files() {
        std::fs::write(Path::new(&folder).join(format!("{package}.txt")), file)?;
    }
    Ok(())
}
