// SPDX-License-Identifier: MIT
//! Schemes and what they compute without a generator: packing, reading, ranges, conversions.
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::raw::c_char;
use std::str::FromStr;
use std::time::SystemTime;
use std::{fmt, ptr};

use firn_sys as sys;

use crate::error::{c_string, call, check_version, text_of, Error, Result};
use crate::format::Sure;
use crate::id::{form_of, parse, Id, Uuid};
use crate::time;

/// A scheme: the layout of its IDs, and how they sort. Its methods are pure: they read no clock and touch no store.
///
/// ```
/// let uuid7 = firn::Scheme::new("uuid7")?;
/// let id = uuid7.parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?;
/// assert_eq!(uuid7.show(&id)?.time_text.as_deref(), Some("2022-02-22T19:22:22.000Z"));
/// # Ok::<(), firn::Error>(())
/// ```
#[derive(Clone)]
pub struct Scheme {
    pub(crate) raw: sys::firn_scheme,
}

// The strings of a firn_scheme are constants of the library, also in a copy.
unsafe impl Send for Scheme {}
unsafe impl Sync for Scheme {}

/// Whether the IDs of a scheme sort in the order of issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sorts {
    /// no
    No,
    /// among the IDs of one node
    PerNode,
    /// by tick
    ByTick,
    /// yes
    Yes,
}

/// The parts of a scheme that [`Scheme::changed`] replaces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes<'a> {
    /// the epoch, as RFC 3339
    pub epoch: Option<&'a str>,
    /// the widths of the fields, from the most significant on: `"41/10/12"`
    pub bits: Option<&'a str>,
    /// the random digits of time-random, 1 to 18
    pub digits: Option<u32>,
}

/// Names and values of fields, for [`Scheme::pack`].
///
/// ```
/// let fields = firn::Fields::new().set("worker", 3).set("time", "2026-01-01T00:00:00Z");
/// # let _ = fields;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// No fields.
    pub fn new() -> Self {
        Fields::default()
    }

    /// Adds a field: a number, or text as in `firn pack`. `"time"` takes RFC 3339, or a number of seconds after `@`.
    #[must_use]
    pub fn set(mut self, name: impl Into<String>, value: impl ToString) -> Self {
        self.0.push((name.into(), value.to_string()));
        self
    }

    /// Adds the field `time`. A time that firn cannot represent is refused by the call that uses the fields.
    #[must_use]
    pub fn time(self, time: SystemTime) -> Self {
        let text = time::to_firn(time).map_or_else(|error| error.to_string(), |time| time::text_of(&time, 9));
        self.set("time", text)
    }

    fn raw(&self, scheme: &sys::firn_scheme) -> Result<sys::firn_fields> {
        let zero = sys::firn_value { low: 0, high: 0 };
        let mut fields = sys::firn_fields { given: 0, value: [zero; sys::FIRN_SLICES_MAX] };
        for (name, value) in &self.0 {
            let (name, value) = (c_string("a field", name.as_str())?, c_string("a field", value.as_str())?);
            call(|why| unsafe { sys::firn_fields_set(&mut fields, scheme, name.as_ptr(), value.as_ptr(), why) })?;
        }
        Ok(fields)
    }
}

impl<N: Into<String>, V: ToString> FromIterator<(N, V)> for Fields {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        pairs.into_iter().fold(Fields::new(), |fields, (name, value)| fields.set(name, value))
    }
}

/// The contents of an ID.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Shown {
    /// the name of the scheme, or `"layout"`
    pub scheme: String,
    /// the ID
    pub id: Id,
    /// name and value of each field and named constant
    pub fields: Vec<(String, String)>,
    /// the time, unless the scheme has none
    pub time: Option<SystemTime>,
    /// the same as RFC 3339, with the decimals that a tick needs
    pub time_text: Option<String>,
}

impl Shown {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }
}

/// One reading of a text: see [`guess`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reading {
    /// the name of the scheme
    pub scheme: &'static str,
    /// the text form
    pub form: &'static str,
    /// the ID
    pub id: Id,
    /// how sure the reading is: likely, or possible, which is not an answer
    pub sure: Sure,
}

fn raw_id() -> sys::firn_id {
    sys::firn_id { low: 0, high: 0, top: 0, bits: 0 }
}

impl Scheme {
    /// The scheme of a name, or of a layout such as `"time:41/ms@@2024-01-01 node:10 sequence:12"`.
    pub fn new(text: &str) -> Result<Scheme> {
        check_version()?;
        let name = c_string("the scheme", text)?;
        let listed = unsafe { sys::firn_scheme_find(name.as_ptr()) };
        if listed.is_null() {
            Scheme::changed(text, Changes::default())
        } else {
            Ok(Scheme { raw: unsafe { *listed } })
        }
    }

    /// The same with another epoch, other widths, or another number of digits.
    pub fn changed(text: &str, changes: Changes<'_>) -> Result<Scheme> {
        check_version()?;
        let text = c_string("the scheme", text)?;
        let epoch = changes.epoch.map(|epoch| c_string("the epoch", epoch)).transpose()?;
        let bits = changes.bits.map(|bits| c_string("the bits", bits)).transpose()?;
        let digits = changes.digits.map(|digits| c_string("the digits", digits.to_string())).transpose()?;
        let pointer = |text: &Option<std::ffi::CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let mut raw = MaybeUninit::uninit();
        call(|why| unsafe {
            let (epoch, bits, digits) = (pointer(&epoch), pointer(&bits), pointer(&digits));
            sys::firn_scheme_make(raw.as_mut_ptr(), text.as_ptr(), epoch, bits, digits, why)
        })?;
        Ok(Scheme { raw: unsafe { raw.assume_init() } })
    }

    /// Every scheme of firn's list.
    pub fn all() -> impl Iterator<Item = Scheme> {
        (0..).map_while(|i| unsafe { sys::firn_scheme_at(i).as_ref() }.map(|raw| Scheme { raw: *raw }))
    }

    /// The name, or `"layout"`.
    pub fn name(&self) -> &str {
        // The name is in the scheme and ends with a zero.
        unsafe { CStr::from_ptr(self.raw.name.as_ptr()) }.to_str().unwrap_or("")
    }

    /// The layout as text, which [`Scheme::new`] reads.
    pub fn layout(&self) -> String {
        let mut text = [0 as c_char; sys::FIRN_LAYOUT_SIZE];
        let written = unsafe { CStr::from_ptr(sys::firn_scheme_layout(text.as_mut_ptr(), &self.raw)) };
        written.to_string_lossy().into_owned()
    }

    /// The width of its IDs: 1 to 160 bits.
    pub fn bits(&self) -> u32 {
        self.raw.bits
    }

    /// The name of its text form.
    pub fn form(&self) -> &'static str {
        text_of(unsafe { sys::firn_form_name(self.raw.form.into()) }).unwrap_or("?")
    }

    /// Whether its IDs sort in the order of issue.
    pub fn sorts(&self) -> Sorts {
        match i32::from(self.raw.sorts) {
            sys::FIRN_SORTS_PER_NODE => Sorts::PerNode,
            sys::FIRN_SORTS_BY_TICK => Sorts::ByTick,
            sys::FIRN_SORTS_YES => Sorts::Yes,
            _ => Sorts::No,
        }
    }

    fn id(&self, raw: sys::firn_id) -> Id {
        Id { raw, form: self.raw.form }
    }

    /// The scheme of an ID: another one for a TypeID that is not version 7.
    fn seen(&self, id: &sys::firn_id) -> Scheme {
        Scheme { raw: unsafe { *sys::firn_scheme_seen(&self.raw, id) } }
    }

    fn unpack(&self, id: &sys::firn_id) -> Result<sys::firn_fields> {
        let mut fields = MaybeUninit::<sys::firn_fields>::zeroed();
        call(|why| unsafe { sys::firn_unpack(fields.as_mut_ptr(), &self.seen(id).raw, id, why) })?;
        Ok(unsafe { fields.assume_init() }) // integers only
    }

    /// The ID of these fields.
    pub fn pack(&self, fields: &Fields) -> Result<Id> {
        let fields = fields.raw(&self.raw)?;
        let mut raw = raw_id();
        call(|why| unsafe { sys::firn_pack(&mut raw, &self.raw, &fields, why) })?;
        Ok(self.id(raw))
    }

    /// Returns the contents of an ID. Refuses an ID that is not of this scheme.
    pub fn show(&self, id: &Id) -> Result<Shown> {
        let values = self.unpack(&id.raw)?;
        let seen = self.seen(&id.raw);
        let mut fields = Vec::new();
        for (i, slice) in (0..seen.raw.slice_count).zip(&seen.raw.slices) {
            if slice.name[0] != 0 && unsafe { sys::firn_scheme_first(&seen.raw, i) } == i {
                let mut text = [0 as c_char; sys::FIRN_VALUE_SIZE];
                let (name, value) = unsafe {
                    let value = sys::firn_fields_get(text.as_mut_ptr(), &values, &seen.raw, i);
                    (CStr::from_ptr(slice.name.as_ptr()), CStr::from_ptr(value))
                };
                fields.push((name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()));
            }
        }
        let time = seen.time_in(&values);
        let digits = unsafe { sys::firn_scheme_digits(&seen.raw) };
        Ok(Shown {
            scheme: self.name().to_string(),
            id: self.id(id.raw),
            fields,
            time: time.as_ref().and_then(time::from_firn),
            time_text: time.map(|time| time::text_of(&time, digits)),
        })
    }

    fn time_in(&self, values: &sys::firn_fields) -> Option<sys::firn_time> {
        let field = unsafe { sys::firn_scheme_field(&self.raw, b"time\0".as_ptr().cast()) };
        let value = values.value.get(usize::try_from(field).ok()?).filter(|_| self.raw.tick_ns != 0)?;
        let mut time = sys::firn_time { sec: 0, ns: 0 };
        unsafe { sys::firn_scheme_time(&self.raw, value.low, &mut time) };
        Some(time)
    }

    /// The time of an ID, without its other fields. `None`: the scheme has no time.
    pub fn time(&self, id: &Id) -> Result<Option<SystemTime>> {
        let values = self.unpack(&id.raw)?;
        Ok(self.seen(&id.raw).time_in(&values).as_ref().and_then(time::from_firn))
    }

    /// The ID of a text in the form of the scheme. Refuses what is not an ID of it.
    pub fn parse(&self, text: &str) -> Result<Id> {
        self.checked(parse(text, self.raw.form.into(), self.raw.bits)?)
    }

    /// The ID of a text in another form: see [`forms`].
    pub fn parse_as(&self, text: &str, form: &str) -> Result<Id> {
        self.checked(parse(text, form_of(form)?, self.raw.bits)?)
    }

    fn checked(&self, raw: sys::firn_id) -> Result<Id> {
        self.unpack(&raw)?;
        Ok(self.id(raw))
    }

    /// The ID with the value `number`. Refuses what is not an ID of the scheme.
    pub fn from_u64(&self, number: u64) -> Result<Id> {
        if self.raw.bits < 64 && number >> self.raw.bits != 0 {
            let text =
                format!("{number} does not fit into {} bits, the width of an ID of {}", self.raw.bits, self.name());
            return Err(Error::new(sys::FIRN_ERANGE, text, ""));
        }
        self.checked(sys::firn_id { low: number, high: 0, top: 0, bits: self.raw.bits })
    }

    /// The ID of (bits + 7) / 8 bytes, most significant first. Refuses what is not an ID of the scheme.
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Id> {
        let size = (self.raw.bits as usize + 7) / 8;
        if bytes.len() != size {
            let text = format!("{} bytes, but an ID of {} has {size}", bytes.len(), self.name());
            return Err(Error::new(sys::FIRN_ERANGE, text, ""));
        }
        let mut raw = raw_id();
        call(|why| unsafe { sys::firn_id_from_bytes(&mut raw, bytes.as_ptr(), self.raw.bits, why) })?;
        self.checked(raw)
    }

    /// The least and the greatest ID of start <= time < end.
    ///
    /// ```
    /// use std::time::{Duration, UNIX_EPOCH};
    /// let day = UNIX_EPOCH + Duration::from_secs(20_000 * 86_400);
    /// let (least, greatest) = firn::Scheme::new("uuid7")?.range(day..day + Duration::from_secs(86_400))?;
    /// assert!(least < greatest);
    /// # Ok::<(), firn::Error>(())
    /// ```
    pub fn range(&self, times: Range<SystemTime>) -> Result<(Id, Id)> {
        self.range_with(times, &Fields::new())
    }

    /// The same for a scheme with fields before the time: `pinned` has their values.
    pub fn range_with(&self, times: Range<SystemTime>, pinned: &Fields) -> Result<(Id, Id)> {
        let (from, to) = (time::to_firn(times.start)?, time::to_firn(times.end)?);
        let pinned = pinned.raw(&self.raw)?;
        let (mut least, mut most) = (raw_id(), raw_id());
        call(|why| unsafe { sys::firn_range(&mut least, &mut most, &self.raw, &pinned, &from, &to, why) })?;
        Ok((self.id(least), self.id(most)))
    }

    /// The same fields as an ID of another scheme: `uuid1`, `uuid6`, `uuid1-swapped`.
    pub fn convert(&self, id: &Id, to: &Scheme) -> Result<Id> {
        let mut raw = raw_id();
        call(|why| unsafe { sys::firn_convert(&mut raw, &to.raw, &id.raw, &self.raw, why) })?;
        Ok(to.id(raw))
    }

    /// The UUID of a name, for `uuid3` and `uuid5`. `namespace` is dns, url, oid, x500 or a UUID.
    pub fn digest(&self, namespace: &str, name: impl AsRef<[u8]>) -> Result<Uuid> {
        let (namespace, name) = (c_string("the namespace", namespace)?, name.as_ref());
        let mut raw = raw_id();
        call(|why| unsafe {
            sys::firn_digest(&mut raw, &self.raw, namespace.as_ptr(), name.as_ptr().cast(), name.len(), why)
        })?;
        Ok(Uuid::from_raw(&raw))
    }
}

impl FromStr for Scheme {
    type Err = Error;
    fn from_str(text: &str) -> Result<Scheme> {
        Scheme::new(text)
    }
}

impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scheme({:?}, {:?})", self.name(), self.layout())
    }
}

/// The names of all text forms.
pub fn forms() -> Vec<&'static str> {
    (0..).map_while(|form| text_of(unsafe { sys::firn_form_name(form) })).collect()
}

/// The schemes that a text is plausibly an ID of, best first. The schemes of a number are only possible, the most frequent
/// owner first.
pub fn guess(text: &str) -> Vec<Reading> {
    if check_version().is_err() {
        return Vec::new();
    }
    let mut found = [MaybeUninit::<sys::firn_reading>::uninit(); sys::FIRN_READINGS_MAX];
    let count = unsafe { sys::firn_guess(found.as_mut_ptr().cast(), text.as_ptr().cast(), text.len(), -1) };
    let readings = found.iter().take(count).map(|one| {
        let one = unsafe { one.assume_init() }; // the first `count` are written
        let scheme = unsafe { &*one.scheme }; // of the library's list
        Reading {
            scheme: text_of(scheme.name.as_ptr()).unwrap_or("?"),
            form: text_of(unsafe { sys::firn_form_name(one.form) }).unwrap_or("?"),
            id: Id { raw: one.id, form: scheme.form },
            sure: Sure::from_raw(one.sure),
        }
    });
    readings.collect()
}

/// Returns the contents of the best reading of a text. Refuses a text that has no likely one: a number has none.
pub fn show(text: &str) -> Result<Shown> {
    match guess(text).first() {
        Some(best) if best.sure == Sure::Possible => Err(Error::new(
            sys::FIRN_ETEXT,
            format!("{text:.60?} may be an ID of {} or of another scheme", best.scheme),
            "name its scheme",
        )),
        Some(best) => {
            // A text of time-random shows how many digits follow its time.
            let is_dated = best.scheme == "time-random" && best.form == "dated";
            let digits = is_dated.then(|| text.len() as u32 - 17);
            Scheme::changed(best.scheme, Changes { digits, ..Changes::default() })?.show(&best.id)
        }
        None => {
            Err(Error::new(sys::FIRN_ETEXT, format!("{text:.60?} is not an ID that firn knows"), "name its scheme"))
        }
    }
}
