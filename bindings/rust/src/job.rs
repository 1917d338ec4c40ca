// SPDX-License-Identifier: MIT
//! Jobs: IDs for records that have a time.
use std::fmt::Display;
use std::path::PathBuf;
use std::ptr::{self, NonNull};
use std::time::{Duration, SystemTime};
use std::{fmt, mem};

use firn_sys as sys;

use crate::error::{c_string, call, check_version, Error, Result};
use crate::generator::{pointer, store_settings, Settings};
use crate::id::Id;
use crate::scheme::Scheme;
use crate::time::to_firn;

/// Issues IDs for records that have a time but no ID: the same IDs at each run for the same records in the same order,
/// also in another process. Opening may wait for the store; issuing does not need it.
///
/// ```
/// let open = || firn::Job::builder("snowflake").name("orders-2019").digest(7).store("memory:").open();
/// let created = firn::parse_time("2019-05-04T12:00:00Z")?;
/// let mut job = open()?;
/// let (first, second) = (job.next(created)?, job.next(created)?);
/// assert!(first < second);
/// assert_eq!(open()?.next(created)?, first);
/// # Ok::<(), firn::Error>(())
/// ```
pub struct Job {
    raw: NonNull<sys::firn_job>,
    form: u8,
    shift_ns: i64,
}

// One thread at a time may use it, so it is not Sync.
unsafe impl Send for Job {}

/// The settings of a [`Job`].
#[derive(Clone)]
#[must_use]
pub struct JobBuilder {
    scheme: String,
    settings: Settings,
    name: Option<String>,
    digest: Option<u64>,
    seed: Option<String>,
    max_shift: Duration,
    disorder: Duration,
}

fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl JobBuilder {
    store_settings!();

    /// The name of the job, under which the store reserves a node for ever. Without a name and a store, set the node as a key.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// A digest of the input, such as 64 bits of a hash. A name belongs to one digest.
    pub fn digest(mut self, digest: u64) -> Self {
        self.digest = Some(digest);
        self
    }

    /// The seed of random bits, for schemes that have some: another one for each job.
    pub fn seed(mut self, seed: impl Into<String>) -> Self {
        self.seed = Some(seed.into());
        self
    }

    /// How far a record of a full tick may move ahead, up to one day. Default: 1 s.
    pub fn max_shift(mut self, most: Duration) -> Self {
        self.max_shift = most;
        self
    }

    /// By how much a record may be earlier than the latest one. Zero, the default: any order.
    pub fn disorder(mut self, most: Duration) -> Self {
        self.disorder = most;
        self
    }

    /// Opens the job. May wait for the store.
    pub fn open(&self) -> Result<Job> {
        check_version()?;
        let stored = self.name.is_some() || self.settings.store.is_some();
        if stored && self.digest.is_none() {
            let cure = "set digest, such as a hash of a file";
            return Err(Error::usage("a job with a name needs the digest of its input", cure));
        }
        let scheme = c_string("the scheme", self.scheme.as_str())?;
        let keys = self.settings.keys()?;
        let name = self.name.as_deref().map(|name| c_string("the name", name)).transpose()?;
        let seed = self.seed.as_deref().map(|seed| c_string("the seed", seed)).transpose()?;
        let mut store = ptr::null_mut();
        if stored {
            self.settings.with_store(|url, options| {
                call(|why| unsafe { sys::firn_store_open(&mut store, url, options, why) })
            })?;
        }
        let config = sys::firn_job_config {
            size: mem::size_of::<sys::firn_job_config>(),
            scheme: scheme.as_ptr(),
            keys: keys.as_ptr(),
            store,
            name: pointer(&name),
            digest: self.digest.unwrap_or(0),
            seed: pointer(&seed),
            shift_ms: ms(self.max_shift),
            disorder_ms: ms(self.disorder.saturating_add(Duration::from_nanos(999_999))), // 0 is any order
            notice: None,
            notice_self: ptr::null_mut(),
        };
        let mut raw = ptr::null_mut();
        let opened = call(|why| unsafe { sys::firn_job_open(&mut raw, &config, why) });
        if stored {
            unsafe { sys::firn_store_close(store) }; // only opening uses it
        }
        opened?;
        let raw = NonNull::new(raw).ok_or_else(|| Error::usage("libfirn opened no job", ""))?;
        let form = unsafe { (*sys::firn_job_scheme(raw.as_ptr())).form };
        Ok(Job { raw, form, shift_ns: 0 })
    }
}

impl Job {
    /// Settings for a job. `scheme` is a name, or a layout such as `"time:41/ms@@2024-01-01 node:10 sequence:12"`.
    pub fn builder(scheme: impl Into<String>) -> JobBuilder {
        JobBuilder {
            scheme: scheme.into(),
            settings: Settings::default(),
            name: None,
            digest: None,
            seed: None,
            max_shift: Duration::from_secs(1),
            disorder: Duration::ZERO,
        }
    }

    /// The ID of the next record. After an error the job is as before, so that you may skip the record.
    pub fn next(&mut self, time: SystemTime) -> Result<Id> {
        let time = to_firn(time)?;
        let mut raw = mem::MaybeUninit::uninit();
        let shift = &mut self.shift_ns;
        call(|why| unsafe { sys::firn_job_next(self.raw.as_ptr(), &time, raw.as_mut_ptr(), shift, why) })?;
        Ok(Id { raw: unsafe { raw.assume_init() }, form: self.form }) // written, since the call succeeded
    }

    /// By how much the ID of the last record is later than the record.
    pub fn shift(&self) -> Duration {
        Duration::from_nanos(u64::try_from(self.shift_ns).unwrap_or(0))
    }

    /// Whether the job was started before. False without a store.
    pub fn again(&self) -> bool {
        unsafe { sys::firn_job_again(self.raw.as_ptr()) }
    }

    /// The scheme with the job's keys applied.
    pub fn scheme(&self) -> Scheme {
        Scheme { raw: unsafe { *sys::firn_job_scheme(self.raw.as_ptr()) } }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        unsafe { sys::firn_job_close(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").finish_non_exhaustive()
    }
}

// Not derived: a seed is a secret.
impl fmt::Debug for JobBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobBuilder").field("scheme", &self.scheme).field("name", &self.name).finish_non_exhaustive()
    }
}
