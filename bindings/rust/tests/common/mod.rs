// SPDX-License-Identifier: MIT
//! What the tests share.
use std::{env, fs, process};

/// The URL of a new store, whose folder is removed at the end.
pub struct Folder(pub std::path::PathBuf);
impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = env::temp_dir().join(format!("firn-rust-{}-{name}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    pub fn url(&self) -> String {
        format!("sqlite:{}/ids.db", self.0.display())
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
