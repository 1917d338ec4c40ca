// SPDX-License-Identifier: MIT
//! IDs as values.
use std::cmp::Ordering;
use std::ffi::CStr;
use std::hash::{Hash, Hasher};
use std::os::raw::{c_char, c_int};
use std::str::FromStr;
use std::{fmt, ptr};

use firn_sys as sys;

use crate::error::{c_string, call, check_version, Error, Result};

/// An ID of 1 to 160 bits. Compares as an integer; displays in the text form of its scheme.
#[derive(Clone, Copy)]
pub struct Id {
    pub(crate) raw: sys::firn_id,
    pub(crate) form: u8,
}

/// Writes an ID and passes its text on. The text is empty if the form does not take the ID.
pub(crate) fn with_text<R>(raw: &sys::firn_id, form: c_int, take: impl FnOnce(&str) -> R) -> R {
    let mut text = [0 as c_char; sys::FIRN_TEXT_SIZE];
    let written = unsafe { CStr::from_ptr(sys::firn_format(text.as_mut_ptr(), raw, form)) };
    take(written.to_str().unwrap_or(""))
}

/// The number of a form's name.
pub(crate) fn form_of(name: &str) -> Result<c_int> {
    let c_name = c_string("the form", name)?;
    match unsafe { sys::firn_form_find(c_name.as_ptr()) } {
        form if form >= 0 => Ok(form),
        _ => Err(Error::usage(format!("there is no form '{name:.40}'"), "see firn::forms()")),
    }
}

impl Id {
    fn key(&self) -> (u32, u64, u64) {
        (self.raw.top, self.raw.high, self.raw.low)
    }

    /// The width: 1 to 160 bits.
    pub fn bits(&self) -> u32 {
        self.raw.bits
    }

    /// The (bits + 7) / 8 bytes, most significant first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 20];
        let size = unsafe { sys::firn_id_bytes(bytes.as_mut_ptr(), &self.raw) };
        bytes.truncate(size);
        bytes
    }

    /// The text in another form, such as `"hex"` or `"base58"`: see [`forms`](crate::forms).
    pub fn format(&self, form: &str) -> Result<String> {
        check_version()?;
        let number = form_of(form)?;
        let text = with_text(&self.raw, number, str::to_string);
        if text.is_empty() {
            return Err(Error::usage(format!("an ID of {} bits has no form {form}", self.bits()), "use another form"));
        }
        Ok(text)
    }

    /// The ID as a TypeID: `prefix`, `_` and the digits, or only these if the prefix is `""`.
    pub fn prefixed(&self, prefix: &str) -> Result<String> {
        check_version()?;
        call(|why| unsafe { sys::firn_prefix_check(prefix.as_ptr().cast(), prefix.len(), why) })?;
        let c_prefix = c_string("the prefix", prefix)?;
        let mut text = [0 as c_char; sys::FIRN_TEXT_SIZE];
        let written =
            unsafe { CStr::from_ptr(sys::firn_prefix_format(text.as_mut_ptr(), c_prefix.as_ptr(), &self.raw)) };
        match written.to_str() {
            Ok(written) if !written.is_empty() => Ok(written.to_string()),
            _ => Err(self.too_wide(128)),
        }
    }

    fn too_wide(&self, bits: u32) -> Error {
        Error::new(sys::FIRN_ERANGE, format!("the ID has {} bits, which does not fit {bits}", self.bits()), "")
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Id {}
impl PartialOrd for Id {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Id {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}
impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_text(&self.raw, self.form.into(), |text| f.pad(text))
    }
}
impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

/// An ID of up to 64 bits.
impl TryFrom<Id> for u64 {
    type Error = Error;
    fn try_from(id: Id) -> Result<u64> {
        if id.bits() <= 64 {
            Ok(id.raw.low)
        } else {
            Err(id.too_wide(64))
        }
    }
}

/// An ID of up to 64 bits as a database's `bigint`. It is negative if all 64 bits are used and the first is set.
impl TryFrom<Id> for i64 {
    type Error = Error;
    fn try_from(id: Id) -> Result<i64> {
        u64::try_from(id).map(|number| number as i64)
    }
}

/// An ID of up to 128 bits.
impl TryFrom<Id> for u128 {
    type Error = Error;
    fn try_from(id: Id) -> Result<u128> {
        if id.bits() <= 128 {
            Ok((u128::from(id.raw.high) << 64) | u128::from(id.raw.low))
        } else {
            Err(id.too_wide(128))
        }
    }
}

/// A UUID: 16 bytes, most significant first. Displays and parses as 36 characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uuid([u8; 16]);

impl Uuid {
    /// The 16 bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    pub(crate) fn from_raw(raw: &sys::firn_id) -> Self {
        Uuid(((u128::from(raw.high) << 64) | u128::from(raw.low)).to_be_bytes())
    }

    fn raw(&self) -> sys::firn_id {
        let value = u128::from_be_bytes(self.0);
        sys::firn_id { low: value as u64, high: (value >> 64) as u64, top: 0, bits: 128 }
    }
}

impl From<[u8; 16]> for Uuid {
    fn from(bytes: [u8; 16]) -> Self {
        Uuid(bytes)
    }
}
impl From<Uuid> for [u8; 16] {
    fn from(uuid: Uuid) -> Self {
        uuid.0
    }
}
impl From<Uuid> for Id {
    fn from(uuid: Uuid) -> Self {
        Id { raw: uuid.raw(), form: sys::FIRN_FORM_UUID as u8 }
    }
}
impl TryFrom<Id> for Uuid {
    type Error = Error;
    fn try_from(id: Id) -> Result<Uuid> {
        if id.bits() == 128 {
            Ok(Uuid::from_raw(&id.raw))
        } else {
            Err(Error::new(sys::FIRN_ERANGE, format!("the ID has {} bits", id.bits()), "a UUID has 128"))
        }
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        with_text(&self.raw(), sys::FIRN_FORM_UUID, |text| f.pad(text))
    }
}
impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uuid({self})")
    }
}

/// Reads 36 characters in any letter case.
impl FromStr for Uuid {
    type Err = Error;
    fn from_str(text: &str) -> Result<Uuid> {
        parse(text, sys::FIRN_FORM_UUID, 128).map(|raw| Uuid::from_raw(&raw))
    }
}

pub(crate) fn parse(text: &str, form: c_int, bits: u32) -> Result<sys::firn_id> {
    check_version()?;
    let mut raw = sys::firn_id { low: 0, high: 0, top: 0, bits: 0 };
    call(|why| unsafe { sys::firn_parse(ptr::addr_of_mut!(raw), form, bits, text.as_ptr().cast(), text.len(), why) })?;
    Ok(raw)
}

/// The same 16 bytes. Needs the feature `uuid`.
#[cfg(feature = "uuid")]
impl From<Uuid> for uuid::Uuid {
    fn from(uuid: Uuid) -> Self {
        uuid::Uuid::from_bytes(uuid.0)
    }
}
/// The same 16 bytes. Needs the feature `uuid`.
#[cfg(feature = "uuid")]
impl From<uuid::Uuid> for Uuid {
    fn from(uuid: uuid::Uuid) -> Self {
        Uuid(uuid.into_bytes())
    }
}
