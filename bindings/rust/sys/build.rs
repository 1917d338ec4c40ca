// SPDX-License-Identifier: MIT
//! Finds libfirn: in the folder FIRN_LIB, else where pkg-config says, else where the linker looks.
use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=FIRN_LIB");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    println!("cargo:rerun-if-env-changed=DOCS_RS");
    if env::var_os("DOCS_RS").is_some() {
        return; // nothing is linked
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
                 set FIRN_LIB to its folder"
            ),
        }
    }
    println!("cargo:rustc-link-lib=firn");
}
