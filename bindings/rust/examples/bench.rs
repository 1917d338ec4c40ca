// SPDX-License-Identifier: MIT
//! ns per ID, call and loop included, the least of 300 rounds: `next`, a block, an array, and the crate uuid.
use std::thread::sleep;
use std::time::{Duration, Instant};

use firn::{Generator, Result, Uuid};

/// Makes the compiler compute a value.
fn keep<T>(value: T) {
    let value = std::mem::ManuallyDrop::new(value);
    drop(unsafe { std::ptr::read_volatile::<T>(&*value) });
}

fn least(n: usize, mut call: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..300 {
        let start = Instant::now();
        call();
        best = best.min(start.elapsed().as_nanos() as f64 / n as f64);
        sleep(Duration::from_millis(4)); // the layout has 4096 IDs per ms and node
    }
    best
}

const N: usize = 16_384;

fn times(mut call: impl FnMut()) -> f64 {
    least(N, || (0..N).for_each(|_| call()))
}

fn main() -> Result<()> {
    let gen = Generator::builder("snowflake").store("memory:").key("nodes", 16).open()?;
    let uuid7 = Generator::open("uuid7")?;
    let mut array = [0; N];
    let mut ids = gen.ids::<u64>(Duration::from_millis(1))?;
    let mut uuids = uuid7.ids::<Uuid>(Duration::from_millis(1))?;
    println!(
        "snowflake: next {:.1}, block {:.1}, array {:.2}",
        times(|| keep(gen.next_u64())),
        times(|| keep(ids.next())),
        least(N, || keep(gen.fill(&mut array))),
    );
    println!(
        "uuid7: next {:.1}, block {:.1}, array {:.1}",
        times(|| keep(uuid7.next_uuid())),
        times(|| keep(uuids.next())),
        least(N, || keep(uuid7.many::<Uuid>(N))),
    );
    println!("the crate uuid: new_v4 {:.1}", times(|| keep(uuid::Uuid::new_v4())));
    Ok(())
}
