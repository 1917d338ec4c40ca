// SPDX-License-Identifier: MIT
//! Finds libfirn: in the folder FIRN_LIB, else where pkg-config says, else where the linker looks. With the feature `vendored` it
//! compiles libfirn, with the SQLite store, instead: from vendor/firn of the packaged crate, or from the tree that the crate is in.
use std::{env, path::Path, path::PathBuf, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=FIRN_LIB");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-env-changed=DOCS_RS");
    if env::var_os("DOCS_RS").is_some() {
        return; // nothing is linked
    }
    if env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        return vendored();
    }
    if let Ok(folder) = env::var("FIRN_LIB") {
        println!("cargo:rustc-link-search=native={folder}");
    } else {
        let pkg_config = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
        let found = Command::new(pkg_config).args(["--libs-only-L", "firn"]).output();
        match found {
            Ok(found) if found.status.success() => {
                for flag in String::from_utf8_lossy(&found.stdout).split_whitespace() {
                    println!("cargo:rustc-link-search=native={}", flag.trim_start_matches("-L"));
                }
            }
            _ => println!(
                "cargo:warning=pkg-config does not know firn: if the linker does not find it, install libfirn, or \
                 set FIRN_LIB to its folder, or use the feature vendored"
            ),
        }
    }
    println!("cargo:rustc-link-lib=firn");
}

/// Runs a program; its output, or the end of the build.
fn run(program: &str, words: &[&str]) -> String {
    let done = Command::new(program).args(words).output();
    let done = done.unwrap_or_else(|error| panic!("firn: {program} does not start: {error}: install it"));
    if !done.status.success() {
        let text = String::from_utf8_lossy(&done.stderr);
        panic!("firn: {program} {} failed: {text}", words.join(" "));
    }
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

fn vendored() {
    let out = env::var("OUT_DIR").unwrap();
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let script = here.join("../../../packaging/amalgamation.sh");
    let mut folder = here.join("vendor/firn");
    if !folder.join("firn.c").exists() {
        folder = Path::new(&out).join("firn");
        println!("cargo:rerun-if-changed={}", here.join("../../../src").display());
        run("sh", &[script.to_str().unwrap(), folder.to_str().unwrap()]);
    }
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let source = folder.join("firn.c");
    println!("cargo:rerun-if-changed={}", source.display());
    println!("cargo:rerun-if-env-changed=CC");
    let (object, archive) = (format!("{out}/firn.o"), format!("{out}/libfirn.a"));
    // The compiler's name of the machine is the folder of Debian's modules; others have none.
    let machine = Command::new(&compiler).arg("-print-multiarch").output();
    let machine = machine.map(|done| String::from_utf8_lossy(&done.stdout).trim().to_owned()).unwrap_or_default();
    let modules = format!("-DFIRN_MODULE_DIR=\"/usr/lib/{machine}/firn\"");
    run(
        &compiler,
        &[
            "-std=c17",
            "-O2",
            "-fPIC",
            "-DFIRN_SQLITE",
            "-DFIRN_MODULE_DIR_ONLY",
            &modules,
            "-c",
            source.to_str().unwrap(),
            "-o",
            &object,
        ],
    );
    let _ = std::fs::remove_file(&archive);
    run("ar", &["crs", &archive, &object]);
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=static=firn");
    for (name, package) in [("md", "libmd-dev"), ("sqlite3", "libsqlite3-dev")] {
        let file = run(&compiler, &[&format!("-print-file-name=lib{name}.a")]);
        let path = Path::new(&file);
        if !path.is_absolute() {
            panic!("firn: lib{name}.a is missing: install {package} (Debian)");
        }
        println!("cargo:rustc-link-search=native={}", path.parent().unwrap().display());
        println!("cargo:rustc-link-lib=static={name}");
    }
    println!("cargo:rustc-link-lib=m");
}
