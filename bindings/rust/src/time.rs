// SPDX-License-Identifier: MIT
//! Times between `SystemTime` and firn, exact to the nanosecond.
use std::ffi::CStr;
use std::os::raw::{c_char, c_int};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use firn_sys as sys;

use crate::error::{call, check_version, Error, Result};

pub(crate) fn to_firn(time: SystemTime) -> Result<sys::firn_time> {
    let (past, before) = match time.duration_since(UNIX_EPOCH) {
        Ok(past) => (past, false),
        Err(error) => (error.duration(), true),
    };
    let range =
        |_| Error::new(sys::FIRN_ERANGE, "the time is more than 2^63 seconds away from 1970", "choose a nearer one");
    let (sec, ns) = (i64::try_from(past.as_secs()).map_err(range)?, past.subsec_nanos() as i32);
    Ok(match (before, ns) {
        (false, _) => sys::firn_time { sec, ns },
        (true, 0) => sys::firn_time { sec: -sec, ns },
        (true, _) => sys::firn_time { sec: -sec - 1, ns: 1_000_000_000 - ns },
    })
}

/// `None`: `SystemTime` cannot represent the time.
pub(crate) fn from_firn(time: &sys::firn_time) -> Option<SystemTime> {
    let sec = Duration::from_secs(time.sec.unsigned_abs());
    let whole = if time.sec < 0 { UNIX_EPOCH.checked_sub(sec) } else { UNIX_EPOCH.checked_add(sec) };
    whole?.checked_add(Duration::from_nanos(time.ns as u64))
}

/// Reads a time: RFC 3339 with any offset and up to nine decimals, or `@SECONDS` since 1970.
///
/// ```
/// let time = firn::parse_time("2026-01-06T00:00:00.5Z")?;
/// # assert_eq!(time, firn::parse_time("@1767657600.5")?);
/// # Ok::<(), firn::Error>(())
/// ```
pub fn parse_time(text: &str) -> Result<SystemTime> {
    check_version()?;
    let mut time = sys::firn_time { sec: 0, ns: 0 };
    call(|why| unsafe { sys::firn_time_parse(&mut time, text.as_ptr().cast(), text.len(), why) })?;
    let far =
        || Error::new(sys::FIRN_ERANGE, format!("SystemTime cannot represent {text:.60?}"), "choose a nearer time");
    from_firn(&time).ok_or_else(far)
}

/// RFC 3339 in UTC, with `digits` decimals of the second.
pub(crate) fn text_of(time: &sys::firn_time, digits: c_int) -> String {
    let mut text = [0 as c_char; sys::FIRN_TIME_SIZE];
    let written = unsafe { CStr::from_ptr(sys::firn_time_format(text.as_mut_ptr(), time, digits)) };
    written.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_1970_keep_their_nanoseconds() {
        for (sec, ns) in [(0, 0), (-1, 500_000_000), (-1, 0), (1, 999_999_999), (-62_135_596_800, 1), (1 << 40, 7)] {
            let time = sys::firn_time { sec, ns };
            let back = to_firn(from_firn(&time).unwrap()).unwrap();
            assert_eq!((back.sec, back.ns), (sec, ns));
        }
    }
}
