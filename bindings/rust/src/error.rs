// SPDX-License-Identifier: MIT
//! Errors: code, kind, text, cure, value, limit.
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{error, fmt, ptr};

use firn_sys as sys;

/// The result of a call that can fail.
pub type Result<T> = std::result::Result<T, Error>;

macro_rules! kinds {
    ($($kind:ident $name:ident = $value:expr, $text:expr;)*) => {
        /// The kind of the error, as in [`Error::kind`]: one for each error of `firn.h`.
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
pub struct Error(Box<Parts>);

#[derive(Default)]
struct Parts {
    code: i32,
    cure_code: u16,
    text: String,
    cure: String,
    value: String,
    limit: String,
}

impl Error {
    /// An error of this crate. `cure` says what to do, or is empty.
    pub(crate) fn new(code: i32, what: impl Into<String>, cure: &str) -> Self {
        let what = what.into();
        let text = if cure.is_empty() { what } else { format!("{what}: {cure}") };
        let cure_code = if cure.is_empty() { sys::FIRN_CURE_NONE } else { sys::FIRN_CURE_OTHER } as u16;
        Error(Box::new(Parts { code, cure_code, text, cure: cure.to_string(), ..Parts::default() }))
    }

    pub(crate) fn usage(what: impl Into<String>, cure: &str) -> Self {
        Error::new(sys::FIRN_EUSAGE, what, cure)
    }

    /// The code of the C library: -7 for `FIRN_EBUSY`.
    pub fn code(&self) -> i32 {
        self.0.code
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
        &self.0.text
    }

    /// The cure: the end of the sentence, or `""` if the sentence has none.
    pub fn cure(&self) -> &str {
        &self.0.cure
    }

    /// The cure as a number: one of `FIRN_CURE_...` of `firn.h`, 0 if there is none.
    pub fn cure_code(&self) -> u16 {
        self.0.cure_code
    }

    /// The name of the cure: `"RAISE_SHIFT"`, or `"NONE"`.
    pub fn cure_name(&self) -> &'static str {
        text_of(unsafe { sys::firn_curename(self.cure_code().into()) }).unwrap_or("?")
    }

    /// The value that was given or found, as in the sentence; `""` if the error has no value.
    pub fn value(&self) -> &str {
        &self.0.value
    }

    /// The limit of the value, such as `"0 to 1023"`; `""` if the error has no limit.
    pub fn limit(&self) -> &str {
        &self.0.limit
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

const NOTHING: sys::firn_span = sys::firn_span { at: 0, length: 0 };

/// Calls a C function with room for its error, which is not zeroed.
#[inline]
pub(crate) fn call(function: impl FnOnce(*mut sys::firn_error) -> i32) -> Result<()> {
    let mut why = MaybeUninit::<sys::firn_error>::uninit();
    unsafe {
        let raw = why.as_mut_ptr();
        ptr::addr_of_mut!((*raw).cure).write(0);
        ptr::addr_of_mut!((*raw).cure_at).write(0);
        ptr::addr_of_mut!((*raw).value).write(NOTHING);
        ptr::addr_of_mut!((*raw).limit).write(NOTHING);
        ptr::addr_of_mut!((*raw).text[0]).write(0);
    }
    let code = function(why.as_mut_ptr());
    if code == sys::FIRN_OK {
        return Ok(());
    }
    Err(failed(code, why.as_ptr()))
}

#[cold]
fn failed(code: i32, why: *const sys::firn_error) -> Error {
    // The text ends with a zero: `call` wrote one, or the function that failed. The text after that is not set.
    let (text, cure_code, cure_at, value, limit) = unsafe {
        let text = CStr::from_ptr(ptr::addr_of!((*why).text).cast()).to_bytes();
        (text, (*why).cure, (*why).cure_at, (*why).value, (*why).limit)
    };
    let part = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let span = |of: sys::firn_span| part(text.get(of.at.into()..usize::from(of.at) + usize::from(of.length)));
    let cure = if cure_at == 0 { None } else { text.get(cure_at.into()..) };
    Error(Box::new(Parts {
        code,
        cure_code,
        text: part(Some(text)),
        cure: part(cure),
        value: span(value),
        limit: span(limit),
    }))
}

/// A string for C. Refuses a zero byte.
pub(crate) fn c_string(name: &str, value: impl Into<Vec<u8>>) -> Result<CString> {
    CString::new(value).map_err(|_| Error::usage(format!("{name} has a zero byte"), "remove it"))
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
    let text = format!("libfirn is version {}, this crate is for {}", version(), sys::FIRN_VERSION);
    Err(Error::new(sys::FIRN_ESYSTEM, text, "install both from one release"))
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
