// SPDX-License-Identifier: MIT
//! Formats of other systems: what firn recognises and does not issue.
use std::mem::MaybeUninit;
use std::ptr;
use std::time::SystemTime;

use firn_sys as sys;

use crate::error::{check_version, text_of};
use crate::time;

/// How sure a [`Match`] or a [`Reading`](crate::Reading) is: a random text matches in at most one case of 64 (likely), of 10^6 (certain).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sure {
    /// only its length and alphabet fit
    Possible,
    /// a version, a prefix or a time fits
    Likely,
    /// a checksum or fixed bits fit
    Certain,
}

impl Sure {
    pub(crate) fn from_raw(sure: std::os::raw::c_int) -> Sure {
        match sure {
            sys::FIRN_POSSIBLE => Sure::Possible,
            sys::FIRN_LIKELY => Sure::Likely,
            _ => Sure::Certain,
        }
    }
}

/// A format that a text may have: see [`recognize`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Match {
    /// the name of the format, such as `"stripe"`
    pub format: &'static str,
    /// how sure
    pub sure: Sure,
    /// it describes the text better than any scheme
    pub leads: bool,
    /// why, in words
    pub reason: String,
    /// name and value of each field
    pub fields: Vec<(String, String)>,
    /// the time, if the text contains one
    pub time: Option<SystemTime>,
    /// the same as RFC 3339
    pub time_text: Option<String>,
}

unsafe fn owned(text: &[std::os::raw::c_char]) -> String {
    text_of(text.as_ptr()).unwrap_or("").to_string()
}

unsafe fn from_raw(raw: &sys::firn_match) -> Match {
    let at = Some(&raw.time).filter(|_| raw.timed);
    Match {
        format: text_of((*raw.format).name).unwrap_or("?"),
        sure: Sure::from_raw(raw.sure),
        leads: raw.leads,
        reason: owned(&raw.reason),
        fields: raw.fields[..raw.count as usize]
            .iter()
            .map(|field| (text_of(field.name).unwrap_or("?").to_string(), owned(&field.value)))
            .collect(),
        time: at.and_then(time::from_firn),
        time_text: at.map(|at| time::text_of(at, raw.digits)),
    }
}

/// The formats of other systems that a text may have, such as `"stripe"` or `"nanoid"`, best first.
///
/// ```
/// let found = firn::recognize("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
/// assert_eq!((found[0].format, found[0].sure), ("traceparent", firn::Sure::Certain));
/// ```
pub fn recognize(text: &str) -> Vec<Match> {
    if check_version().is_err() {
        return Vec::new();
    }
    let mut readings = [MaybeUninit::<sys::firn_reading>::uninit(); sys::FIRN_READINGS_MAX];
    let mut found = [MaybeUninit::<sys::firn_match>::uninit(); sys::FIRN_MATCHES_MAX];
    let (start, size) = (text.as_ptr().cast(), text.len());
    let plausible = unsafe { sys::firn_guess(readings.as_mut_ptr().cast(), start, size, -1) } > 0;
    let best = if plausible { readings.as_ptr().cast() } else { ptr::null() };
    let count = unsafe { sys::firn_recognize(found.as_mut_ptr().cast(), best, start, size) };
    // The first `count` are written.
    found.iter().take(count).map(|one| unsafe { from_raw(&*one.as_ptr()) }).collect()
}
