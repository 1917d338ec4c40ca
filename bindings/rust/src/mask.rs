// SPDX-License-Identifier: MIT
//! Masks: other texts for IDs, which show neither time nor volume.
use std::ffi::CStr;
use std::fmt::{self, Display};
use std::os::raw::{c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::ptr::{self, NonNull};

use firn_sys as sys;

use crate::error::{c_string, call, check_version, Error, Result};
use crate::generator::{module_dir, pointer, Settings};

/// A mask: another text for each ID, which shows neither time nor volume, and which only the key turns back. A masked
/// ID authorises nobody.
pub struct Mask {
    raw: NonNull<sys::firn_mask>,
}

// One thread at a time may use it, so it is not Sync.
unsafe impl Send for Mask {}

/// The settings of a [`Mask`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct MaskBuilder {
    key_file: PathBuf,
    settings: Settings,
}

type Turn = unsafe extern "C" fn(*mut sys::firn_mask, *mut c_char, *const c_char, usize, *mut sys::firn_error) -> c_int;

impl MaskBuilder {
    /// A setting: width=63|20..128|uuid|uuid8|uuid47, version=1..8, fingerprint=HEX, from=FORM, as=FORM, mac=0|20,
    /// prefix=WORD, key_number=N.
    pub fn key(mut self, name: impl Into<String>, value: impl Display) -> Self {
        self.settings.keys.push((name.into(), value.to_string()));
        self
    }

    /// The folder in which the module of masks is looked for first.
    pub fn module_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.module_dir = Some(path.into());
        self
    }

    /// Opens the mask.
    pub fn open(&self) -> Result<Mask> {
        check_version()?;
        let (keys, folder) = (self.settings.keys()?, module_dir(self.settings.module_dir.as_deref())?);
        let file = c_string("the key file", self.key_file.as_os_str().as_bytes())?;
        let mut raw = ptr::null_mut();
        call(|why| unsafe { sys::firn_mask_load(&mut raw, keys.as_ptr(), file.as_ptr(), pointer(&folder), why) })?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::usage("libfirn opened no mask", ""))?;
        Ok(Mask { raw })
    }
}

impl Mask {
    /// Settings for the mask of a name, with a key file of `firn mask keygen`.
    pub fn builder(name: impl Into<String>, key_file: impl Into<PathBuf>) -> MaskBuilder {
        MaskBuilder { key_file: key_file.into(), settings: Settings::default() }.key("name", name.into())
    }

    /// The masked form of the text of an ID.
    pub fn mask(&self, id: &str) -> Result<String> {
        self.turn(sys::firn_mask_write, id)
    }

    /// The ID of a masked text.
    pub fn unmask(&self, masked: &str) -> Result<String> {
        self.turn(sys::firn_mask_read, masked)
    }

    /// 8 hex digits that another key, name, width or version changes. Not secret.
    pub fn fingerprint(&self) -> String {
        unsafe { CStr::from_ptr(sys::firn_mask_fingerprint(self.raw.as_ptr())) }.to_string_lossy().into_owned()
    }

    fn turn(&self, what: Turn, given: &str) -> Result<String> {
        let mut text = [0 as c_char; sys::FIRN_TEXT_SIZE];
        call(|why| unsafe { what(self.raw.as_ptr(), text.as_mut_ptr(), given.as_ptr().cast(), given.len(), why) })?;
        Ok(unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned())
    }
}

impl Drop for Mask {
    fn drop(&mut self) {
        unsafe { sys::firn_mask_close(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mask").finish_non_exhaustive()
    }
}
