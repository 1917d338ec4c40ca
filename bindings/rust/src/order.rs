// SPDX-License-Identifier: MIT
//! Order numbers: integers encrypted with a key.
use std::ffi::CStr;
use std::fmt::{self, Display};
use std::os::raw::c_char;
use std::path::PathBuf;
use std::ptr::{self, NonNull};

use firn_sys as sys;

use crate::error::{call, check_version, Error, Result};
use crate::generator::{module_dir, pointer, Settings};

/// Order numbers: integers encrypted with a key of 16 bytes. The same integer gives the same number.
pub struct Order {
    raw: NonNull<sys::firn_order>,
}

// One thread at a time may use it, so it is not Sync.
unsafe impl Send for Order {}

/// The settings of an [`Order`].
#[derive(Clone, Default)]
#[must_use]
pub struct OrderBuilder {
    secret: [u8; 16],
    settings: Settings,
}

impl OrderBuilder {
    /// A setting: digits=6..19, key_id=0..9, check=0|1, tweak=HEX.
    pub fn key(mut self, name: impl Into<String>, value: impl Display) -> Self {
        self.settings.keys.push((name.into(), value.to_string()));
        self
    }

    /// The folder in which the module of order numbers is looked for first.
    pub fn module_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.module_dir = Some(path.into());
        self
    }

    /// Opens the key.
    pub fn open(&self) -> Result<Order> {
        check_version()?;
        let (keys, folder) = (self.settings.keys()?, module_dir(self.settings.module_dir.as_deref())?);
        let mut raw = ptr::null_mut();
        let secret = self.secret.as_ptr();
        call(|why| unsafe { sys::firn_order_open(&mut raw, keys.as_ptr(), secret, pointer(&folder), why) })?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::usage("libfirn opened no key", ""))?;
        Ok(Order { raw })
    }
}

impl Order {
    /// Settings for order numbers under a key.
    pub fn builder(secret: [u8; 16]) -> OrderBuilder {
        OrderBuilder { secret, settings: Settings::default() }
    }

    /// The order number of an integer.
    pub fn write(&self, integer: u64) -> Result<String> {
        let mut text = [0 as c_char; sys::FIRN_ORDER_SIZE];
        call(|why| unsafe { sys::firn_order_write(self.raw.as_ptr(), text.as_mut_ptr(), integer, why) })?;
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }

    /// The integer of an order number.
    pub fn read(&self, number: &str) -> Result<u64> {
        let mut integer = 0;
        let (text, length) = (number.as_ptr().cast(), number.len());
        call(|why| unsafe { sys::firn_order_read(self.raw.as_ptr(), &mut integer, text, length, why) })?;
        Ok(integer)
    }
}

impl Drop for Order {
    fn drop(&mut self) {
        unsafe { sys::firn_order_close(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Order").finish_non_exhaustive()
    }
}
impl fmt::Debug for OrderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OrderBuilder").finish_non_exhaustive() // not the key
    }
}
