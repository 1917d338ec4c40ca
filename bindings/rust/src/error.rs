// SPDX-License-Identifier: MIT
//! Errors: code, kind, text, cure.
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{error, fmt, ptr};

use firn_sys as sys;

/// The result of a call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! kinds {
    ($($kind:ident $name:ident = $value:expr, $text:expr;)*) => {
        /// What went wrong, as in [`Error::kind`]: one for each error of `firn.h`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $(#[doc = $text] $kind,)*
            /// an error of a newer library
            Other,
        }

        fn kind_of(code: i32) -> ErrorKind {
            match code {
                $(sys::$name => ErrorKind::$kind,)*
                _ => ErrorKind::Other,
            }
        }
    };
}
sys::firn_errors!(kinds);

/// Why a call failed. Displays one sentence: what is wrong, with value and limit, and what to do.
pub struct Error(Box<(i32, String)>);

impl Error {
    pub(crate) fn new(code: i32, text: impl Into<String>) -> Self {
        Error(Box::new((code, text.into())))
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Error::new(sys::FIRN_EUSAGE, text)
    }

    /// The code of the C library: -7 for `FIRN_EBUSY`.
    pub fn code(&self) -> i32 {
        self.0 .0
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        kind_of(self.code())
    }

    /// The name of the code: `"BUSY"`.
    pub fn name(&self) -> &'static str {
        text_of(unsafe { sys::firn_errname(self.code()) }).unwrap_or("?")
    }

    /// The whole sentence.
    pub fn text(&self) -> &str {
        &self.0 .1
    }

    /// What to do: the end of the sentence, or `""` if it does not say.
    pub fn cure(&self) -> &str {
        self.text().rsplit_once(": ").map_or("", |(_, cure)| cure)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("kind", &self.kind()).field("text", &self.text()).finish()
    }
}

impl error::Error for Error {}

/// Calls a C function with room for its error, which is not zeroed.
#[inline]
pub(crate) fn call(function: impl FnOnce(*mut sys::firn_error) -> i32) -> Result<()> {
    let mut why = MaybeUninit::<sys::firn_error>::uninit();
    unsafe { ptr::addr_of_mut!((*why.as_mut_ptr()).text[0]).write(0) };
    let code = function(why.as_mut_ptr());
    if code == sys::FIRN_OK {
        return Ok(());
    }
    Err(failed(code, why.as_ptr()))
}

#[cold]
fn failed(code: i32, why: *const sys::firn_error) -> Error {
    // The text ends with a zero: `call` wrote one, or the function that failed.
    let text = unsafe { CStr::from_ptr(ptr::addr_of!((*why).text).cast()) };
    Error::new(code, text.to_string_lossy())
}

/// A string for C. Refuses a zero byte.
pub(crate) fn c_string(name: &str, value: impl Into<Vec<u8>>) -> Result<CString> {
    CString::new(value).map_err(|_| Error::usage(format!("{name} has a zero byte: remove it")))
}

/// A string that lives as long as the library. `None`: NULL.
pub(crate) fn text_of(text: *const std::os::raw::c_char) -> Option<&'static str> {
    if text.is_null() {
        return None;
    }
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// Whether a library of this version has what the declarations of firn-sys say: the same first number, or the same two
/// while the first is 0.
fn compatible(library: &str) -> bool {
    let mut mine = sys::FIRN_VERSION.split('.');
    let mut its = library.split('.');
    let major = mine.next();
    major == its.next() && (major != Some("0") || mine.next() == its.next())
}

/// The version of the running libfirn, such as `"0.1.0"`.
pub fn version() -> &'static str {
    text_of(unsafe { sys::firn_version() }).unwrap_or("?")
}

/// Gives all generators and segments of the process other nodes, random bytes and integers: for the restore hook of a host
/// that starts processes from a snapshot.
pub fn renew_identity() {
    unsafe { sys::firn_renew_identity() }
}

/// Refuses a libfirn of another version, before anything else is called.
pub(crate) fn check_version() -> Result<()> {
    static CHECKED: AtomicBool = AtomicBool::new(false);
    if CHECKED.load(Ordering::Relaxed) || compatible(version()) {
        CHECKED.store(true, Ordering::Relaxed);
        return Ok(());
    }
    let text = format!(
        "libfirn is version {}, this crate is for {}: install both from one release",
        version(),
        sys::FIRN_VERSION
    );
    Err(Error::new(sys::FIRN_ESYSTEM, text))
}

#[cfg(test)]
mod tests {
    #[test]
    fn versions_that_cargo_calls_compatible_are_accepted() {
        for (library, accepted) in [("0.1.0", true), ("0.1.9", true), ("0.2.0", false), ("1.1.0", false), ("", false)] {
            assert_eq!(super::compatible(library), accepted, "{library}");
        }
    }
}
