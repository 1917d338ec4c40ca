// SPDX-License-Identifier: MIT
//! Segments: integers that are unique under a key.
use std::fmt::Display;
use std::path::PathBuf;
use std::ptr::{self, NonNull};
use std::time::Duration;
use std::{fmt, mem};

use firn_sys as sys;

use crate::error::{c_string, call, check_version, Error, Result};
use crate::generator::{store_settings, Settings};

/// Integers that are unique under a key. Calls may wait for the store. Threads share it.
///
/// ```
/// let orders = firn::Segment::builder("orders").store("memory:").key("kind", "serial").open()?;
/// assert_eq!((orders.next()?, orders.block(3)?, orders.next()?), (1, 2, 5));
/// # Ok::<(), firn::Error>(())
/// ```
pub struct Segment {
    raw: NonNull<sys::firn_segment>,
    store: NonNull<sys::firn_store>,
}

// Any thread may call the functions of a segment, except firn_segment_close, which needs `self` or `&mut self`.
unsafe impl Send for Segment {}
unsafe impl Sync for Segment {}

/// The settings of a [`Segment`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SegmentBuilder {
    name: String,
    settings: Settings,
}

impl SegmentBuilder {
    store_settings!();

    /// Opens the segment.
    pub fn open(&self) -> Result<Segment> {
        check_version()?;
        let (name, keys) = (c_string("the segment", self.name.as_str())?, self.settings.keys()?);
        let mut store = ptr::null_mut();
        self.settings
            .with_store(|url, options| call(|why| unsafe { sys::firn_store_open(&mut store, url, options, why) }))?;
        let mut raw = ptr::null_mut();
        let opened = call(|why| unsafe {
            sys::firn_segment_open(&mut raw, name.as_ptr(), keys.as_ptr(), store, ptr::null(), why)
        });
        match (opened, NonNull::new(raw), NonNull::new(store)) {
            (Ok(()), Some(raw), Some(store)) => Ok(Segment { raw, store }),
            (opened, _, _) => {
                unsafe { sys::firn_store_close(store) };
                Err(opened.err().unwrap_or_else(|| Error::usage("libfirn opened no segment", "")))
            }
        }
    }
}

impl Segment {
    /// Settings for the segment of a name: 1 to 63 bytes.
    pub fn builder(name: impl Into<String>) -> SegmentBuilder {
        SegmentBuilder { name: name.into(), settings: Settings::default() }
    }

    fn value(
        &self,
        function: unsafe extern "C" fn(*mut sys::firn_segment, *mut i64, *mut sys::firn_error) -> i32,
    ) -> Result<i64> {
        let mut value = 0;
        call(|why| unsafe { function(self.raw.as_ptr(), &mut value, why) })?;
        Ok(value)
    }

    /// The next integer.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&self) -> Result<i64> {
        self.value(sys::firn_segment_next)
    }

    /// The first of n integers; the others follow in steps of [`Segment::increment`].
    pub fn block(&self, n: i64) -> Result<i64> {
        let mut first = 0;
        call(|why| unsafe { sys::firn_segment_block(self.raw.as_ptr(), n, &mut first, why) })?;
        Ok(first)
    }

    /// The difference between two integers: 1, or the increment of a ticket.
    pub fn increment(&self) -> i64 {
        unsafe { sys::firn_segment_increment(self.raw.as_ptr()) }
    }

    /// The next integer that the store would grant. Reserves nothing.
    pub fn peek(&self) -> Result<i64> {
        self.value(sys::firn_segment_peek)
    }

    /// Makes the store grant nothing below `from`. Returns the first integer left.
    pub fn advance(&self, from: i64) -> Result<i64> {
        let mut next = 0;
        call(|why| unsafe { sys::firn_segment_advance(self.raw.as_ptr(), from, &mut next, why) })?;
        Ok(next)
    }

    /// Fetches the next block if necessary, and says when to call it again.
    pub fn step(&self) -> Result<Duration> {
        self.value(sys::firn_segment_step).map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
    }

    /// Gives back what is left, and reports if that fails. Dropping does the same without a report.
    pub fn close(self) -> Result<()> {
        let mut this = mem::ManuallyDrop::new(self);
        call(|why| unsafe { this.shut(why) })
    }

    unsafe fn shut(&mut self, why: *mut sys::firn_error) -> i32 {
        let code = sys::firn_segment_close(self.raw.as_ptr(), why);
        sys::firn_store_close(self.store.as_ptr());
        code
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        unsafe { self.shut(ptr::null_mut()) };
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segment").finish_non_exhaustive()
    }
}
