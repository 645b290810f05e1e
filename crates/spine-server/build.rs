//! Puts the dashboard into the binary, if it was built: writes a table of its files for `dashboard.rs`.
#![allow(clippy::expect_used, reason = "a build that cannot read its own folder has to stop")]

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    let manifest = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let dist = manifest.join("../../dashboard/dist");
    // The folder is always there, so that cargo sees when files come into it.
    println!("cargo:rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    collect(&dist, "", &mut files);
    files.sort();
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    std::fs::write(out.join("dashboard_files.rs"), table(&files)).expect("the table is written");
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if name.starts_with('.') {
            continue;
        } else if path.is_dir() {
            collect(&path, &format!("{prefix}/{name}"), files);
        } else {
            files.push((format!("{prefix}/{name}"), path));
        }
    }
}

fn table(files: &[(String, PathBuf)]) -> String {
    let mut text = String::from("&[\n");
    for (name, path) in files {
        let bytes = std::fs::read(path).expect("a file of the dashboard is read");
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        // Weak, since the same file may travel compressed.
        let etag = format!("W/\"{:016x}\"", hasher.finish());
        let _ = writeln!(
            text,
            "File {{ path: {name:?}, etag: {etag:?}, bytes: include_bytes!({:?}) }},",
            path.display().to_string()
        );
    }
    text + "]"
}
