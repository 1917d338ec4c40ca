// SPDX-License-Identifier: MIT
//! IDs issued ahead.
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::time::{Duration, Instant};
use std::{fmt, mem};

use firn_sys as sys;

use crate::error::{call, Error, Result};
use crate::generator::{Generator, Output};

/// An endless iterator that takes IDs from a block: see [`Generator::ids`]. It borrows the generator.
///
/// The block is a page that libfirn owns. A forked child finds it empty, so that it never repeats an ID of its parent.
/// After an error the next call tries again.
pub struct Ids<'gen, T> {
    block: NonNull<sys::firn_block>,
    page: NonNull<sys::firn_page>,
    max_age: Duration,
    until: Instant,
    stride: usize,
    gen: &'gen Generator,
    output: PhantomData<fn() -> T>,
}

// One thread at a time may use a block: `next` needs `&mut self`.
unsafe impl<T> Send for Ids<'_, T> {}

impl Generator {
    /// An endless iterator that takes IDs from a block in memory. Each ID is at most `max_age` old: 1 µs to 1 s.
    ///
    /// ```
    /// let generator = firn::Generator::open("uuid7")?;
    /// let mut ids = generator.ids::<firn::Uuid>(std::time::Duration::from_millis(1))?;
    /// let first = ids.next().unwrap()?;
    /// # let _ = first;
    /// # Ok::<(), firn::Error>(())
    /// ```
    pub fn ids<T: Output>(&self, max_age: Duration) -> Result<Ids<'_, T>> {
        self.check::<T>(std::any::type_name::<T>())?;
        Ids::open(self, max_age)
    }
}

impl<'gen, T: Output> Ids<'gen, T> {
    pub(crate) fn open(gen: &'gen Generator, max_age: Duration) -> Result<Self> {
        let age_us = match i64::try_from(max_age.as_micros()) {
            Ok(0) => {
                let text = format!("max_age is {max_age:?}");
                return Err(Error::new(sys::FIRN_ERANGE, text, "give 1 µs to 1 s"));
            }
            age => age.unwrap_or(i64::MAX),
        };
        let mut block = ptr::null_mut();
        call(|why| unsafe { sys::firn_block_open(&mut block, gen.raw.as_ptr(), age_us, why) })?;
        let none = || Error::usage("libfirn opened no block", "");
        let block = NonNull::new(block).ok_or_else(none)?;
        let page = NonNull::new(unsafe { sys::firn_block_page(block.as_ptr()) }).ok_or_else(none)?;
        let stride = if gen.bits <= 64 { 8 } else { (gen.bits as usize + 7) / 8 };
        Ok(Ids { block, page, max_age, until: Instant::now(), stride, gen, output: PhantomData })
    }

    #[cold]
    fn refill(&mut self) -> Result<()> {
        self.until = Instant::now() + self.max_age; // before the IDs, so that none is older
        call(|why| unsafe { sys::firn_block_fill(self.block.as_ptr(), why) })
    }
}

impl<T: Output> Iterator for Ids<'_, T> {
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Result<T>> {
        let page = self.page.as_ptr();
        // SAFETY: the page lives as long as the block, `next` < `count` <= FIRN_BLOCK_MAX IDs follow it, and no other
        // thread uses it. It changes only in calls: a fork is one.
        unsafe {
            if (*page).next >= (*page).count || Instant::now() >= self.until {
                if let Err(error) = self.refill() {
                    return Some(Err(error));
                }
            }
            let i = (*page).next;
            (*page).next = i + 1;
            let bytes = page.cast::<u8>().add(mem::size_of::<sys::firn_page>() + i as usize * self.stride);
            Some(Ok(T::read(bytes, self.gen.bits, self.gen.form)))
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

impl<T> Drop for Ids<'_, T> {
    fn drop(&mut self) {
        unsafe { sys::firn_block_close(self.block.as_ptr()) };
    }
}

impl<T> fmt::Debug for Ids<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ids").field("max_age", &self.max_age).field("gen", self.gen).finish()
    }
}
