// SPDX-License-Identifier: MIT
//! Forks. One test, because a fork while another thread uses the store is another matter: docs/reference/threads.md.
use std::collections::HashSet;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use firn::{Generator, Id, Result};

mod common;
use common::Folder;

mod c {
    extern "C" {
        pub fn fork() -> i32;
        pub fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
        pub fn _exit(status: i32) -> !;
    }
}

/// The text that a child of `fork` writes.
fn in_child(work: impl FnOnce() -> String) -> String {
    let (mut mine, mut its) = UnixStream::pair().unwrap();
    let pid = unsafe { c::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let sent = its.write_all(work().as_bytes()).is_ok();
        unsafe { c::_exit(i32::from(!sent)) }
    }
    drop(its);
    let mut out = String::new();
    mine.read_to_string(&mut out).unwrap();
    let mut status = -1;
    assert_eq!(unsafe { c::waitpid(pid, &mut status, 0) }, pid);
    assert_eq!(status, 0);
    out
}

fn a_child_never_repeats_its_parent() -> Result<()> {
    let folder = Folder::new("fork");
    for (scheme, store) in [("snowflake", folder.url()), ("uuid7", "memory:".into()), ("objectid", "memory:".into())] {
        let gen = Generator::builder(scheme).store(store).unsafe_store(true).open()?;
        let mut ids = gen.ids::<Id>(Duration::from_secs(1))?;
        let mut issue = |n: usize| -> Result<Vec<String>> {
            let mut out = gen.many::<Id>(n)?.iter().map(Id::to_string).collect::<Vec<_>>();
            for _ in 0..n {
                out.push(ids.next().unwrap()?.to_string());
                out.push(gen.next()?.to_string());
            }
            Ok(out)
        };
        issue(60)?; // part of the block is left
        let children =
            [(); 3].map(|()| in_child(|| issue(100).map_or_else(|error| error.to_string(), |all| all.join(" "))));
        let mut all = issue(100)?;
        all.extend(children.iter().flat_map(|child| child.split(' ').map(String::from)));
        assert_eq!(all.len(), 4 * 300, "{children:?}");
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{scheme}");
    }
    Ok(())
}

fn a_fixed_node_stays_with_the_parent() -> Result<()> {
    let folder = Folder::new("fixed");
    let gen = Generator::builder("snowflake").store(folder.url()).unsafe_store(true).key("node", 3).open()?;
    gen.next()?;
    let child = in_child(|| format!("{:?}", gen.next().map_err(|error| error.kind())));
    assert_eq!(child, "Err(Forked)");
    gen.next().map(drop)
}

#[test]
fn forks() -> Result<()> {
    a_child_never_repeats_its_parent()?;
    a_fixed_node_stays_with_the_parent()
}
