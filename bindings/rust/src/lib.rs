// SPDX-License-Identifier: MIT
// Not for doctest: the program needs a folder for its store. test/binding_rust.sh runs it.
#![cfg_attr(not(doctest), doc = include_str!("../README.md"))]
#![deny(missing_docs)]
#![warn(rust_2018_idioms)]

mod error;
mod format;
mod generator;
mod id;
mod ids;
mod job;
mod mask;
mod order;
mod scheme;
mod segment;
#[cfg(feature = "serde")]
pub mod serde;
mod series;
mod time;

pub use error::{renew_identity, version, Error, ErrorKind, Result};
pub use format::{recognize, Match, Sure};
pub use generator::{Builder, Generator, Output, Status};
pub use id::{Id, Uuid};
pub use ids::Ids;
pub use job::{Job, JobBuilder};
pub use mask::{Mask, MaskBuilder};
pub use order::{Order, OrderBuilder};
pub use scheme::{forms, guess, show, Changes, Fields, Reading, Scheme, Shown, Sorts};
pub use segment::{Segment, SegmentBuilder};
pub use series::{Series, SeriesBuilder};
pub use time::parse_time;

/// Programs that the compiler refuses.
///
/// A block is used by one thread at a time:
/// ```compile_fail,E0277
/// fn shared<T: Sync>(_: T) {}
/// let generator = firn::Generator::open("uuid7").unwrap();
/// shared(generator.ids::<firn::Id>(std::time::Duration::from_millis(1)).unwrap());
/// ```
/// So is a key for order numbers:
/// ```compile_fail,E0277
/// fn shared<T: Sync>(_: T) {}
/// shared(firn::Order::builder([0; 16]).open().unwrap());
/// ```
/// A block does not outlive its generator:
/// ```compile_fail,E0597
/// let ids = {
///     let generator = firn::Generator::open("uuid7").unwrap();
///     generator.ids::<firn::Id>(std::time::Duration::from_millis(1)).unwrap()
/// };
/// drop(ids);
/// ```
/// A generator is not closed under a block:
/// ```compile_fail,E0505
/// let generator = firn::Generator::open("uuid7").unwrap();
/// let mut ids = generator.ids::<firn::Id>(std::time::Duration::from_millis(1)).unwrap();
/// generator.close().unwrap();
/// ids.next();
/// ```
/// All of them can be sent, and generators and segments shared:
/// ```
/// fn sent<T: Send>() {}
/// fn shared<T: Send + Sync>() {}
/// shared::<(firn::Generator, firn::Segment, firn::Scheme, firn::Id, firn::Uuid, firn::Error)>();
/// sent::<(firn::Order, firn::Job, firn::Ids<'static, u64>)>();
/// ```
/// Nobody else can say what a generator issues:
/// ```compile_fail,E0277
/// impl firn::Output for String {}
/// ```
#[cfg(doctest)]
struct Refused;
