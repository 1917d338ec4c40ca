// SPDX-License-Identifier: MIT
//! Generators.
use std::ffi::CStr;
use std::fmt::Display;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};
use std::time::{Duration, SystemTime};
use std::{fmt, mem};

use firn_sys as sys;

use crate::error::{c_string, call, check_version, Error, Result};
use crate::id::{Id, Uuid};
use crate::scheme::Scheme;
use crate::time;

/// Issues the IDs of one scheme. Threads share it; dropping it gives its window back to the store.
///
/// ```
/// let generator = firn::Generator::open("uuid7")?;
/// let (first, second) = (generator.next()?, generator.next()?);
/// assert!(first < second);
/// # Ok::<(), firn::Error>(())
/// ```
pub struct Generator {
    pub(crate) raw: NonNull<sys::firn_gen>,
    pub(crate) form: u8,
    pub(crate) bits: u32,
}

// Any thread may call the functions of a generator, except firn_close, which needs `self` or `&mut self`.
unsafe impl Send for Generator {}
unsafe impl Sync for Generator {}

/// The settings of a [`Generator`]: see [`Generator::builder`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Builder {
    scheme: String,
    pub(crate) settings: Settings,
    note: Option<String>,
    renewer: bool,
}

/// Code that generators, segments and order numbers share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub keys: Vec<(String, String)>,
    pub store: Option<String>,
    pub module_dir: Option<PathBuf>,
    pub unsafe_store: bool,
}

impl Settings {
    pub fn keys(&self) -> Result<std::ffi::CString> {
        let mut keys = String::new();
        for (name, value) in &self.keys {
            if value.contains(char::is_whitespace) || name.contains(|c: char| c.is_whitespace() || c == '=') {
                return Err(Error::usage(format!("{name}={value:?} has a blank"), "remove it"));
            }
            keys.extend([name, "=", value, " "]);
        }
        c_string("a key", keys.trim_end())
    }

    /// Calls `open` with the URL and the options of a store.
    pub fn with_store<R>(
        &self,
        open: impl FnOnce(*const std::os::raw::c_char, &sys::firn_store_options) -> Result<R>,
    ) -> Result<R> {
        let store = self.store.as_deref().map(|store| c_string("the store", store)).transpose()?;
        let module_dir = module_dir(self.module_dir.as_deref())?;
        let options = sys::firn_store_options {
            failpoint: None,
            failpoint_self: ptr::null_mut(),
            vfs: ptr::null(),
            module_dir: pointer(&module_dir),
            unsafe_: self.unsafe_store,
            must_exist: false,
            wait_ms: 0,
            notice: None,
            notice_self: ptr::null_mut(),
            later: self.keys.iter().any(|(name, _)| name == "reserve"),
        };
        open(pointer(&store), &options)
    }
}

pub(crate) fn module_dir(path: Option<&Path>) -> Result<Option<std::ffi::CString>> {
    path.map(|path| c_string("the module folder", path.as_os_str().as_bytes())).transpose()
}

pub(crate) fn pointer(text: &Option<std::ffi::CString>) -> *const std::os::raw::c_char {
    text.as_ref().map_or(ptr::null(), |text| text.as_ptr())
}

macro_rules! store_settings {
    () => {
        /// A setting, as in `docs/reference/keys.md`: `key("node", 3)`.
        pub fn key(mut self, name: impl Into<String>, value: impl Display) -> Self {
            self.settings.keys.push((name.into(), value.to_string()));
            self
        }

        /// The URL of the store. Default: an SQLite file of this user.
        pub fn store(mut self, url: impl Into<String>) -> Self {
            self.settings.store = Some(url.into());
            self
        }

        /// The folder in which modules of stores are looked for first.
        pub fn module_dir(mut self, path: impl Into<PathBuf>) -> Self {
            self.settings.module_dir = Some(path.into());
            self
        }

        /// Accepts a store that may lose acknowledged writes. IDs may then be issued twice.
        pub fn unsafe_store(mut self, accept: bool) -> Self {
            self.settings.unsafe_store = accept;
            self
        }
    };
}
pub(crate) use store_settings;

impl Builder {
    store_settings!();

    /// Stored with each reservation, for people. Default: program, host and process ID.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Calls that issue IDs then never ask the store: a thread of yours calls [`Generator::step`].
    pub fn renewer(mut self, mine: bool) -> Self {
        self.renewer = mine;
        self
    }

    /// Opens the generator. May wait for the store.
    pub fn open(&self) -> Result<Generator> {
        check_version()?;
        let scheme = c_string("the scheme", self.scheme.as_str())?;
        let keys = self.settings.keys()?;
        let note = self.note.as_deref().map(|note| c_string("the note", note)).transpose()?;
        let mut gen = ptr::null_mut();
        self.settings.with_store(|store_url, options| {
            let config = sys::firn_config {
                size: mem::size_of::<sys::firn_config>(),
                scheme: scheme.as_ptr(),
                keys: keys.as_ptr(),
                store: ptr::null_mut(),
                store_url,
                store_options: options,
                clock: ptr::null(),
                entropy: ptr::null(),
                notice: None,
                notice_self: ptr::null_mut(),
                note: pointer(&note),
                has_renewer: self.renewer,
                shared: ptr::null_mut(),
                shared_size: 0,
            };
            call(|why| unsafe { sys::firn_open_with(&mut gen, &config, why) })
        })?;
        let raw = NonNull::new(gen).ok_or_else(|| Error::usage("libfirn opened no generator", ""))?;
        let scheme = unsafe { &*sys::firn_gen_scheme(raw.as_ptr()) };
        Ok(Generator { raw, form: scheme.form, bits: scheme.bits })
    }
}

/// The state of a generator at one moment.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Status {
    /// It reserves its IDs in a store.
    pub reserved: bool,
    /// It has a window now.
    pub held: bool,
    /// The store or a key allows the loss of acknowledged writes.
    pub may_lose: bool,
    /// its node
    pub node: u64,
    /// nanoseconds from the clock to the time of the last ID
    pub lead_ns: i64,
    /// windows of a new node
    pub claims: u64,
    /// windows of the same node
    pub renewals: u64,
    /// windows given back
    pub give_backs: u64,
    /// calls of the store that failed
    pub store_errors: u64,
    /// the most IDs that one call can issue
    pub max_count: i64,
    /// After a clock rollback, the time of IDs stays until the clock catches up.
    pub stays: bool,
    /// How long the reserve of the machine lasts without the store, in ms; 0: none.
    pub reserve_ms: i64,
}

/// The type of the IDs that a generator issues: [`Id`], [`Uuid`], or `u64` for IDs of up to 64 bits.
pub trait Output: Sized + private::Output {}
impl Output for u64 {}
impl Output for Id {}
impl Output for Uuid {}

pub(crate) mod private {
    use super::*;

    pub trait Output: Sized {
        /// Whether IDs of so many bits fit.
        fn fits(bits: u32) -> bool;
        fn from_raw(raw: &sys::firn_id, form: u8) -> Self;
        /// # Safety
        /// `bytes` are those of an ID in the page of a block.
        unsafe fn read(bytes: *const u8, bits: u32, form: u8) -> Self;

        fn many(gen: &Generator, out: &mut Vec<Self>, n: usize) -> Result<()> {
            let mut raw = with_capacity(n)?;
            call(|why| unsafe { sys::firn_next_n(gen.raw.as_ptr(), raw.as_mut_ptr(), n, why) })?;
            unsafe { raw.set_len(n) }; // the call has written all
            out.extend(raw.iter().map(|raw| Self::from_raw(raw, gen.form)));
            Ok(())
        }
    }

    impl Output for u64 {
        fn fits(bits: u32) -> bool {
            bits <= 64
        }
        fn from_raw(raw: &sys::firn_id, _: u8) -> Self {
            raw.low
        }
        #[inline]
        unsafe fn read(bytes: *const u8, _: u32, _: u8) -> Self {
            bytes.cast::<u64>().read()
        }
        fn many(gen: &Generator, out: &mut Vec<Self>, n: usize) -> Result<()> {
            let free = out.spare_capacity_mut().as_mut_ptr().cast();
            call(|why| unsafe { sys::firn_next_u64(gen.raw.as_ptr(), free, n, why) })?;
            unsafe { out.set_len(out.len() + n) }; // `extend` reserved the capacity; the call has written all
            Ok(())
        }
    }

    impl Output for Id {
        fn fits(_: u32) -> bool {
            true
        }
        fn from_raw(raw: &sys::firn_id, form: u8) -> Self {
            Id { raw: *raw, form }
        }
        #[inline]
        unsafe fn read(bytes: *const u8, bits: u32, form: u8) -> Self {
            let mut raw = sys::firn_id { low: 0, high: 0, top: 0, bits };
            if bits <= 64 {
                raw.low = bytes.cast::<u64>().read();
            } else {
                sys::firn_id_from_bytes(&mut raw, bytes, bits, ptr::null_mut());
            }
            Id { raw, form }
        }
    }

    impl Output for Uuid {
        fn fits(bits: u32) -> bool {
            bits == 128
        }
        fn from_raw(raw: &sys::firn_id, _: u8) -> Self {
            Uuid::from_raw(raw)
        }
        #[inline]
        unsafe fn read(bytes: *const u8, _: u32, _: u8) -> Self {
            Uuid::from(bytes.cast::<[u8; 16]>().read())
        }
    }
}

fn with_capacity<T>(n: usize) -> Result<Vec<T>> {
    let mut out = Vec::new();
    reserve(&mut out, n)?;
    Ok(out)
}

fn reserve<T>(out: &mut Vec<T>, n: usize) -> Result<()> {
    out.try_reserve(n).map_err(|_| Error::new(sys::FIRN_EMEMORY, format!("no memory for {n} IDs"), "ask for fewer"))
}

impl Generator {
    /// Opens a generator with default settings.
    pub fn open(scheme: &str) -> Result<Generator> {
        Generator::builder(scheme).open()
    }

    /// Settings for a generator. `scheme` is a name, or a layout such as `"time:41/ms@@2024-01-01 node:10 sequence:12"`.
    ///
    /// ```
    /// let generator = firn::Generator::builder("snowflake").store("memory:").key("node", 3).open()?;
    /// assert_eq!(generator.status().node, 3);
    /// # Ok::<(), firn::Error>(())
    /// ```
    pub fn builder(scheme: impl Into<String>) -> Builder {
        Builder { scheme: scheme.into(), ..Builder::default() }
    }

    pub(crate) fn check<T: Output>(&self, type_name: &str) -> Result<()> {
        if T::fits(self.bits) {
            return Ok(());
        }
        let text = format!("IDs of {} bits are no {type_name}", self.bits);
        Err(Error::usage(text, "ask for firn::Id"))
    }

    /// One ID: strict order, fresh time.
    #[inline]
    #[allow(clippy::should_implement_trait)] // an iterator needs `&mut self`, and would end
    pub fn next(&self) -> Result<Id> {
        let mut raw = mem::MaybeUninit::uninit();
        call(|why| unsafe { sys::firn_next(self.raw.as_ptr(), raw.as_mut_ptr(), why) })?;
        Ok(Id { raw: unsafe { raw.assume_init() }, form: self.form }) // written, since the call succeeded
    }

    /// The same as a number, for IDs of up to 64 bits.
    #[inline]
    pub fn next_u64(&self) -> Result<u64> {
        let mut out = 0;
        call(|why| unsafe { sys::firn_next_u64(self.raw.as_ptr(), &mut out, 1, why) })?;
        Ok(out)
    }

    /// The same as a UUID, for IDs of 128 bits.
    #[inline]
    pub fn next_uuid(&self) -> Result<Uuid> {
        self.check::<Uuid>("UUIDs")?;
        self.next().map(|id| Uuid::from_raw(&id.raw))
    }

    /// Fills a slice with IDs of up to 64 bits, in order. On an error the slice may hold zeros.
    pub fn fill(&self, out: &mut [u64]) -> Result<()> {
        self.check::<u64>("u64")?;
        if out.is_empty() {
            return Ok(());
        }
        call(|why| unsafe { sys::firn_next_u64(self.raw.as_ptr(), out.as_mut_ptr(), out.len(), why) })
    }

    /// Exactly n IDs, in order, or an error.
    ///
    /// ```
    /// let generator = firn::Generator::open("uuid7")?;
    /// let ids: Vec<firn::Uuid> = generator.many(1000)?;
    /// # assert_eq!(ids.len(), 1000);
    /// # Ok::<(), firn::Error>(())
    /// ```
    pub fn many<T: Output>(&self, n: usize) -> Result<Vec<T>> {
        let mut out = Vec::new();
        self.extend(&mut out, n)?;
        Ok(out)
    }

    /// Appends exactly n IDs, in order, or none.
    pub fn extend<T: Output>(&self, out: &mut Vec<T>, n: usize) -> Result<()> {
        self.check::<T>(std::any::type_name::<T>())?;
        reserve(out, n)?;
        if n == 0 {
            return Ok(());
        }
        T::many(self, out, n)
    }

    /// n IDs of a past time, from a node that issues no others.
    pub fn at<T: Output>(&self, time: SystemTime, n: usize) -> Result<Vec<T>> {
        self.check::<T>(std::any::type_name::<T>())?;
        let time = time::to_firn(time)?;
        let mut raw: Vec<sys::firn_id> = with_capacity(n)?;
        if n > 0 {
            call(|why| unsafe { sys::firn_at(self.raw.as_ptr(), &time, raw.as_mut_ptr(), n, why) })?;
            unsafe { raw.set_len(n) }; // the call has written all
        }
        Ok(raw.iter().map(|raw| T::from_raw(raw, self.form)).collect())
    }

    /// The scheme with the generator's keys applied.
    pub fn scheme(&self) -> Scheme {
        Scheme { raw: unsafe { *sys::firn_gen_scheme(self.raw.as_ptr()) } }
    }

    /// The prefix of TypeIDs, the key `prefix`; `""`: none. For [`Id::prefixed`](crate::Id::prefixed).
    pub fn prefix(&self) -> &str {
        unsafe { CStr::from_ptr(sys::firn_gen_prefix(self.raw.as_ptr())) }.to_str().unwrap_or("")
    }

    /// The state.
    pub fn status(&self) -> Status {
        let mut now: sys::firn_status = unsafe { mem::zeroed() }; // integers and booleans
        now.size = mem::size_of_val(&now);
        unsafe { sys::firn_gen_status(self.raw.as_ptr(), &mut now) };
        Status {
            reserved: now.reserved,
            held: now.held,
            may_lose: now.unsafe_,
            node: now.node,
            lead_ns: now.lead_ns,
            claims: now.claims,
            renewals: now.renewals,
            give_backs: now.give_backs,
            store_errors: now.store_errors,
            max_count: now.max_count,
            stays: now.stays,
            reserve_ms: now.reserve_ms,
        }
    }

    /// Claims or renews a window if necessary, and says when to call it again: see [`Builder::renewer`].
    pub fn step(&self) -> Result<Duration> {
        let mut wait_ms = 0;
        call(|why| unsafe { sys::firn_gen_step(self.raw.as_ptr(), &mut wait_ms, why) })?;
        Ok(Duration::from_millis(u64::try_from(wait_ms).unwrap_or(0)))
    }

    /// Gives the window back to the store, and reports if that fails. Dropping does the same without a report.
    pub fn close(self) -> Result<()> {
        let raw = mem::ManuallyDrop::new(self).raw;
        call(|why| unsafe { sys::firn_close(raw.as_ptr(), why) })
    }
}

impl Drop for Generator {
    fn drop(&mut self) {
        unsafe { sys::firn_close(self.raw.as_ptr(), ptr::null_mut()) };
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Generator").field(&self.scheme()).finish()
    }
}
