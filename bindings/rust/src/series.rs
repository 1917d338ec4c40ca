// SPDX-License-Identifier: MIT
//! Series: dated numbers for people.
use std::ffi::CStr;
use std::fmt::Display;
use std::os::raw::c_char;
use std::path::PathBuf;
use std::ptr::{self, NonNull};
use std::time::SystemTime;
use std::{fmt, mem};

use firn_sys as sys;

use crate::error::{c_string, call, check_version, Error, Result};
use crate::generator::{store_settings, Settings};
use crate::time::to_firn;

const NUMBERS_MAX: usize = 1_000_000;

/// Dated numbers for people, such as INV2026/0000042. Calls wait for the store.
///
/// ```
/// let mut invoices = firn::Series::builder("invoices").store("memory:").key("template", "INV{counter:4}").open()?;
/// assert_eq!((invoices.next(None)?, invoices.read("INV0001")?), ("INV0001".to_string(), 1));
/// # Ok::<(), firn::Error>(())
/// ```
pub struct Series {
    raw: NonNull<sys::firn_series>,
    store: NonNull<sys::firn_store>,
}

// One thread at a time may use it, so it is not Sync.
unsafe impl Send for Series {}

/// The settings of a [`Series`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct SeriesBuilder {
    name: String,
    settings: Settings,
}

impl SeriesBuilder {
    store_settings!();

    /// Opens the series. Without the key template, the definition that the store has applies.
    pub fn open(&self) -> Result<Series> {
        check_version()?;
        let (name, keys) = (c_string("the series", self.name.as_str())?, self.settings.keys()?);
        let mut store = ptr::null_mut();
        self.settings
            .with_store(|url, options| call(|why| unsafe { sys::firn_store_open(&mut store, url, options, why) }))?;
        let mut raw = ptr::null_mut();
        let opened = call(|why| unsafe {
            sys::firn_series_open(&mut raw, name.as_ptr(), keys.as_ptr(), store, ptr::null(), why)
        });
        match (opened, NonNull::new(raw), NonNull::new(store)) {
            (Ok(()), Some(raw), Some(store)) => Ok(Series { raw, store }),
            (opened, _, _) => {
                unsafe { sys::firn_store_close(store) };
                Err(opened.err().unwrap_or_else(|| Error::usage("libfirn opened no series", "")))
            }
        }
    }
}

fn text_of(text: &[c_char; sys::FIRN_SERIES_SIZE]) -> String {
    unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned()
}

impl Series {
    /// Settings for the series of a name: 1 to 63 bytes.
    pub fn builder(name: impl Into<String>) -> SeriesBuilder {
        SeriesBuilder { name: name.into(), settings: Settings::default() }
    }

    /// n numbers of one period: of the time `at`, or of now.
    pub fn many(&mut self, n: usize, at: Option<SystemTime>) -> Result<Vec<String>> {
        let time = at.map(to_firn).transpose()?;
        let mut texts = vec![[0 as c_char; sys::FIRN_SERIES_SIZE]; n.clamp(1, NUMBERS_MAX)];
        call(|why| unsafe {
            sys::firn_series_next(
                self.raw.as_ptr(),
                time.as_ref().map_or(ptr::null(), |time| time),
                texts.as_mut_ptr(),
                n,
                why,
            )
        })?;
        Ok(texts.iter().map(text_of).collect())
    }

    /// The next number: of the time `at`, or of now.
    pub fn next(&mut self, at: Option<SystemTime>) -> Result<String> {
        Ok(self.many(1, at)?.remove(0))
    }

    /// The number that the store would grant next. Reserves nothing.
    pub fn peek(&mut self, at: Option<SystemTime>) -> Result<String> {
        let time = at.map(to_firn).transpose()?;
        let mut text = [0 as c_char; sys::FIRN_SERIES_SIZE];
        call(|why| unsafe {
            sys::firn_series_peek(
                self.raw.as_ptr(),
                time.as_ref().map_or(ptr::null(), |time| time),
                text.as_mut_ptr(),
                why,
            )
        })?;
        Ok(text_of(&text))
    }

    /// The counter of a number.
    pub fn read(&self, number: &str) -> Result<i64> {
        let mut counter = 0;
        call(|why| unsafe {
            sys::firn_series_read(self.raw.as_ptr(), &mut counter, number.as_ptr().cast(), number.len(), why)
        })?;
        Ok(counter)
    }

    /// The keys that the store keeps.
    pub fn definition(&self) -> String {
        unsafe { CStr::from_ptr(sys::firn_series_definition(self.raw.as_ptr())) }.to_string_lossy().into_owned()
    }

    /// Gives back what is left, and reports if that fails. Dropping does the same without a report.
    pub fn close(self) -> Result<()> {
        let mut this = mem::ManuallyDrop::new(self);
        call(|why| unsafe { this.shut(why) })
    }

    unsafe fn shut(&mut self, why: *mut sys::firn_error) -> i32 {
        let code = sys::firn_series_close(self.raw.as_ptr(), why);
        sys::firn_store_close(self.store.as_ptr());
        code
    }
}

impl Drop for Series {
    fn drop(&mut self) {
        unsafe { self.shut(ptr::null_mut()) };
    }
}

impl fmt::Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Series").finish_non_exhaustive()
    }
}
