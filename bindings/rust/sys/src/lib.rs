// SPDX-License-Identifier: MIT
//! The functions of `firn.h` and `recognize.h`, as they are in C. The headers, or `man 3 firn`, document each; the crate
//! `firn` is the safe interface.
//!
//! `tests/header.rs` proves that every declaration of this file agrees with the headers, and that none is missing. Names that
//! Rust reserves end with an underscore here.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_void};

/// The version that these declarations are for.
pub const FIRN_VERSION: &str = env!("CARGO_PKG_VERSION");

/* ---- error ---- */

/// Calls the macro `$each` with every error: its constant, code, and short sentence.
#[macro_export]
macro_rules! firn_errors {
    ($each:ident) => {
        $each! {
            Usage FIRN_EUSAGE = -1, "a key, name or argument is unknown or malformed";
            Range FIRN_ERANGE = -2, "a value is out of range";
            Layout FIRN_ELAYOUT = -3, "the time is outside the range of the layout";
            Text FIRN_ETEXT = -4, "the text is not an ID of this form";
            Mismatch FIRN_EMISMATCH = -5, "the ID does not belong to this scheme";
            Namespace FIRN_ENAMESPACE = -6, "the namespace belongs to another layout";
            Busy FIRN_EBUSY = -7, "the node is in use";
            Exhausted FIRN_EEXHAUSTED = -8, "no ID is left until the clock advances";
            Window FIRN_EWINDOW = -9, "the window is used up and could not be renewed";
            Clock FIRN_ECLOCK = -10, "the clock cannot be used";
            Store FIRN_ESTORE = -11, "the store is not available";
            Unknown FIRN_EUNKNOWN = -12, "the store did not report whether it carried out the request";
            Forked FIRN_EFORKED = -13, "this process is a child of the process that opened the handle";
            Cloned FIRN_ECLONED = -14, "another copy of this process image is running";
            Entropy FIRN_EENTROPY = -15, "the system provides no randomness";
            Memory FIRN_EMEMORY = -16, "out of memory";
            Io FIRN_EIO = -17, "input or output failed";
            Unsorted FIRN_EUNSORTED = -18, "IDs of this scheme do not sort by time";
            System FIRN_ESYSTEM = -19, "the system lacks a required feature";
            Back FIRN_EBACK = -20, "the store has lost reservations that it made before";
            Taken FIRN_ETAKEN = -21, "the node or name is taken, and waiting does not help";
            End FIRN_EEND = -22, "nothing is left, and waiting does not help";
            Full FIRN_EFULL = -23, "no ID is left at that time";
        }
    };
}

macro_rules! codes {
    ($($kind:ident $name:ident = $value:expr, $text:expr;)*) => {
        $(pub const $name: c_int = $value;)*
    };
}
pub const FIRN_OK: c_int = 0;
firn_errors!(codes);

pub const FIRN_CURE_NONE: c_int = 0;
pub const FIRN_CURE_OTHER: c_int = 1;
pub const FIRN_CURE_SPELLING: c_int = 2;
pub const FIRN_CURE_LISTED: c_int = 3;
pub const FIRN_CURE_SMALLER: c_int = 4;
pub const FIRN_CURE_LEAVE_OUT: c_int = 5;
pub const FIRN_CURE_SET_FIELD: c_int = 6;
pub const FIRN_CURE_NAME_SCHEME: c_int = 7;
pub const FIRN_CURE_LIST_SCHEMES: c_int = 8;
pub const FIRN_CURE_LIST_KEYS: c_int = 9;
pub const FIRN_CURE_OTHER_SCHEME: c_int = 10;
pub const FIRN_CURE_SET_UNSIGNED: c_int = 11;
pub const FIRN_CURE_RAISE_SHIFT: c_int = 12;
pub const FIRN_CURE_RAISE_DISORDER: c_int = 13;
pub const FIRN_CURE_RAISE_LEAD: c_int = 14;
pub const FIRN_CURE_RAISE_WAIT: c_int = 15;
pub const FIRN_CURE_FEWER_IDS: c_int = 16;
pub const FIRN_CURE_SLOW_DOWN: c_int = 17;
pub const FIRN_CURE_TRY_AGAIN: c_int = 18;
pub const FIRN_CURE_SEND_AGAIN: c_int = 19;
pub const FIRN_CURE_WAIT: c_int = 20;
pub const FIRN_CURE_OTHER_NODE: c_int = 21;
pub const FIRN_CURE_NODE_OUT: c_int = 22;
pub const FIRN_CURE_SET_NODE: c_int = 23;
pub const FIRN_CURE_MORE_NODES: c_int = 24;
pub const FIRN_CURE_UNUSED_NODE: c_int = 25;
pub const FIRN_CURE_OTHER_NAMESPACE: c_int = 26;
pub const FIRN_CURE_SAME_KIND: c_int = 27;
pub const FIRN_CURE_OTHER_NAME: c_int = 28;
pub const FIRN_CURE_ADVANCE: c_int = 29;
pub const FIRN_CURE_OTHER_SERIES: c_int = 30;
pub const FIRN_CURE_NAME_JOB: c_int = 31;
pub const FIRN_CURE_OTHER_JOB: c_int = 32;
pub const FIRN_CURE_SET_SEED: c_int = 33;
pub const FIRN_CURE_ORDER_KEY: c_int = 34;
pub const FIRN_CURE_CHECK_DUPLICATES: c_int = 35;
pub const FIRN_CURE_OPEN_OWN: c_int = 36;
pub const FIRN_CURE_END_COPY: c_int = 37;
pub const FIRN_CURE_FIX_CLOCK: c_int = 38;
pub const FIRN_CURE_CHECK_STORE: c_int = 39;
pub const FIRN_CURE_OTHER_STORE: c_int = 40;
pub const FIRN_CURE_KNOWN_STORE: c_int = 41;
pub const FIRN_CURE_LOCAL_DISK: c_int = 42;
pub const FIRN_CURE_MOVING: c_int = 43;
pub const FIRN_CURE_REOPEN: c_int = 44;
pub const FIRN_CURE_INSTALL: c_int = 45;
pub const FIRN_CURE_MEMORY: c_int = 46;
pub const FIRN_CURE_NUMBER_OR_JOB: c_int = 47;
pub const FIRN_CURE_JOB_OR_NO_NODE: c_int = 48;
pub const FIRN_CURE_OTHER_PLACE: c_int = 49;
pub const FIRN_CURE_RAISE_END: c_int = 50;
pub const FIRN_CURE_NEW_NAMES: c_int = 51;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_span {
    pub at: u16,
    pub length: u16,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_error {
    pub code: i32,
    pub cure: u16,
    pub cure_at: u16,
    pub value: firn_span,
    pub limit: firn_span,
    pub reserved: [u8; 16],
    pub text: [c_char; 480],
}

/* ---- id ---- */

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_id {
    pub low: u64,
    pub high: u64,
    pub top: u32,
    pub bits: u32,
}

/* ---- time ---- */

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_time {
    pub sec: i64,
    pub ns: i32,
}

pub const FIRN_TIME_SIZE: usize = 48;

/* ---- scheme ---- */

pub const FIRN_SLICES_MAX: usize = 12;
pub const FIRN_NAME_SIZE: usize = 24;
pub const FIRN_ROLE_CONST: c_int = 0;
pub const FIRN_ROLE_TIME: c_int = 1;
pub const FIRN_ROLE_SEQUENCE: c_int = 2;
pub const FIRN_ROLE_COUNTER: c_int = 3;
pub const FIRN_ROLE_RANDOM: c_int = 4;
pub const FIRN_ROLE_NODE: c_int = 5;
pub const FIRN_ROLE_ADDRESS: c_int = 6;
pub const FIRN_ROLE_PROCESS: c_int = 7;
pub const FIRN_ROLE_USER: c_int = 8;
pub const FIRN_ROLE_DIGEST: c_int = 9;
pub const FIRN_FORM_DEC: c_int = 0;
pub const FIRN_FORM_HEX: c_int = 1;
pub const FIRN_FORM_UUID: c_int = 2;
pub const FIRN_FORM_URN: c_int = 3;
pub const FIRN_FORM_BRACED: c_int = 4;
pub const FIRN_FORM_BASE32: c_int = 5;
pub const FIRN_FORM_BASE32HEX: c_int = 6;
pub const FIRN_FORM_BASE36: c_int = 7;
pub const FIRN_FORM_BASE58: c_int = 8;
pub const FIRN_FORM_BASE62: c_int = 9;
pub const FIRN_FORM_BIN: c_int = 10;
pub const FIRN_FORM_UNSIGNED: c_int = 11;
pub const FIRN_FORM_FLAKE: c_int = 12;
pub const FIRN_FORM_TYPEID: c_int = 13;
pub const FIRN_FORM_DATED: c_int = 14;
pub const FIRN_FORM_BASE32SORT: c_int = 15;
pub const FIRN_FORM_BASE36LOWER: c_int = 16;
pub const FIRN_FORM_BASE64SORT: c_int = 17;
pub const FIRN_FORM_BASE64: c_int = 18;
pub const FIRN_FORM_BASE64URL: c_int = 19;
pub const FIRN_FORM_NCNAME32: c_int = 20;
pub const FIRN_FORM_NCNAME58: c_int = 21;
pub const FIRN_FORM_NCNAME64: c_int = 22;
pub const FIRN_FORM_COUNT: c_int = 23;
pub const FIRN_SORTS_NO: c_int = 0;
pub const FIRN_SORTS_PER_NODE: c_int = 1;
pub const FIRN_SORTS_BY_TICK: c_int = 2;
pub const FIRN_SORTS_YES: c_int = 3;
pub const FIRN_NODE_NONE: c_int = 0;
pub const FIRN_NODE_OPTIONAL: c_int = 1;
pub const FIRN_NODE_REQUIRED: c_int = 2;
pub const FIRN_START_ZERO: c_int = 0;
pub const FIRN_START_RANDOM: c_int = 1;
pub const FIRN_START_ROLLING: c_int = 2;
pub const FIRN_HASH_NONE: c_int = 0;
pub const FIRN_HASH_MD5: c_int = 1;
pub const FIRN_HASH_SHA1: c_int = 2;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_slice {
    pub name: [c_char; 16],
    pub role: u8,
    pub bits: u8,
    pub from: u8,
    pub group: u8,
    pub value: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_scheme {
    pub name: [c_char; FIRN_NAME_SIZE],
    pub bits: u32,
    pub tick_ns: u32,
    pub epoch: firn_time,
    pub slice_count: u32,
    pub slices: [firn_slice; FIRN_SLICES_MAX],
    pub form: u8,
    pub sorts: u8,
    pub node_rule: u8,
    pub start: u8,
    pub hash: u8,
    pub start_below: u64,
    pub counter_step: u64,
    pub read_only: bool,
    pub monotonic: bool,
    pub keyed: bool,
    pub packer: i16,
    pub node_fields: *const c_char,
    pub ns: *const c_char,
    pub note: *const c_char,
    pub source: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_value {
    pub low: u64,
    pub high: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_fields {
    pub given: u32,
    pub value: [firn_value; FIRN_SLICES_MAX],
}

pub const FIRN_LAYOUT_SIZE: usize = 512;
pub const FIRN_VALUE_SIZE: usize = 48;

/* ---- text ---- */

pub const FIRN_TEXT_SIZE: usize = 168;
pub const FIRN_PREFIX_SIZE: usize = 64;

// enum firn_sure
pub const FIRN_POSSIBLE: c_int = 0;
pub const FIRN_LIKELY: c_int = 1;
pub const FIRN_CERTAIN: c_int = 2;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_reading {
    pub scheme: *const firn_scheme,
    pub form: c_int,
    pub sure: c_int,
    pub id: firn_id,
}

pub const FIRN_READINGS_MAX: usize = 64;

/* ---- formats of others ---- */

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_text_format {
    pub name: *const c_char,
    pub title: *const c_char,
    pub shape: *const c_char,
    pub sure: *const c_char,
    pub source: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_owner {
    pub name: *const c_char,
    pub title: *const c_char,
    pub prevalence: *const c_char,
    pub source: *const c_char,
}

pub const FIRN_MATCHES_MAX: usize = 8;
pub const FIRN_MATCH_FIELDS: usize = 6;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_match_field {
    pub name: *const c_char,
    pub value: [c_char; 72],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_match {
    pub format: *const firn_text_format,
    pub sure: c_int,
    pub leads: bool,
    pub subset: bool,
    pub timed: bool,
    pub digits: c_int,
    pub time: firn_time,
    pub reason: [c_char; 160],
    pub count: u32,
    pub fields: [firn_match_field; 6],
}

/* ---- clock and entropy ---- */

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_clock {
    pub version: u32,
    pub self_: *mut c_void,
    pub wall: Option<unsafe extern "C" fn(self_: *mut c_void, now: *mut firn_time) -> c_int>,
    pub steady: Option<unsafe extern "C" fn(self_: *mut c_void, ns: *mut i64) -> c_int>,
    pub pause: Option<unsafe extern "C" fn(self_: *mut c_void, ns: i64) -> c_int>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_entropy {
    pub version: u32,
    pub self_: *mut c_void,
    pub fill: Option<unsafe extern "C" fn(self_: *mut c_void, out: *mut c_void, size: usize) -> c_int>,
}

/* ---- store ---- */

pub const FIRN_SLOT_MAX: i64 = 1 << 62;
pub const FIRN_KEY_SIZE: usize = 64;
pub const FIRN_NS_SIZE: usize = 256;
pub const FIRN_NOTE_SIZE: usize = 128;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_request {
    pub ns: *const c_char,
    pub layout: *const c_char,
    pub key: *const c_char,
    pub count: i64,
    pub earliest: i64,
    pub latest: i64,
    pub grant: u64,
    pub note: *const c_char,
    pub guard: i64,
    pub guard_ms: i64,
    pub guard_tick_ns: u64,
    pub guard_shift: u32,
    pub guard_known_ms: i64,
    pub guard_more: i64,
    pub own: firn_mark,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_mark {
    pub high: i64,
    pub grant: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_holding {
    pub ns: *const c_char,
    pub layout: *const c_char,
    pub key: *const c_char,
    pub note: *const c_char,
    pub mark: firn_mark,
    pub floor: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_relabel {
    pub ns: *const c_char,
    pub from: *const c_char,
    pub to: *const c_char,
    pub floor: i64,
    pub lowers: bool,
}

pub type firn_visit = Option<unsafe extern "C" fn(context: *mut c_void, holding: *const firn_holding) -> c_int>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_store_options {
    pub failpoint: Option<unsafe extern "C" fn(self_: *mut c_void, name: *const c_char)>,
    pub failpoint_self: *mut c_void,
    pub vfs: *const c_char,
    pub module_dir: *const c_char,
    pub unsafe_: bool,
    pub must_exist: bool,
    pub wait_ms: i64,
    pub notice: Option<unsafe extern "C" fn(self_: *mut c_void, text: *const c_char)>,
    pub notice_self: *mut c_void,
    pub later: bool,
}

pub const FIRN_STORE_OPS_VERSION: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_store_ops {
    pub version: u32,
    pub scheme: *const c_char,
    pub reserve: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            request: *const firn_request,
            first: *mut i64,
            held: *mut firn_mark,
            error: *mut firn_error,
        ) -> c_int,
    >,
    pub give_back: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            ns: *const c_char,
            key: *const c_char,
            mine: *const firn_mark,
            high: i64,
            error: *mut firn_error,
        ) -> c_int,
    >,
    pub list: Option<
        unsafe extern "C" fn(
            self_: *mut c_void,
            ns: *const c_char,
            visit: firn_visit,
            context: *mut c_void,
            error: *mut firn_error,
        ) -> c_int,
    >,
    pub now: Option<unsafe extern "C" fn(self_: *mut c_void, now: *mut firn_time, error: *mut firn_error) -> c_int>,
    pub caution: Option<unsafe extern "C" fn(self_: *mut c_void) -> *const c_char>,
    pub close: Option<unsafe extern "C" fn(self_: *mut c_void)>,
}

#[repr(C)]
pub struct firn_store {
    _opaque: [u8; 0],
}

/* ---- generator ---- */

#[repr(C)]
pub struct firn_gen {
    _opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_config {
    pub size: usize,
    pub scheme: *const c_char,
    pub keys: *const c_char,
    pub store: *mut firn_store,
    pub store_url: *const c_char,
    pub store_options: *const firn_store_options,
    pub clock: *const firn_clock,
    pub entropy: *const firn_entropy,
    pub notice: Option<unsafe extern "C" fn(self_: *mut c_void, text: *const c_char)>,
    pub notice_self: *mut c_void,
    pub note: *const c_char,
    pub has_renewer: bool,
    pub shared: *mut c_void,
    pub shared_size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_status {
    pub size: usize,
    pub reserved: bool,
    pub held: bool,
    pub node: u64,
    pub first: i64,
    pub next: i64,
    pub end: i64,
    pub lead_ns: i64,
    pub claims: u64,
    pub renewals: u64,
    pub give_backs: u64,
    pub store_errors: u64,
    pub steps_back_absorbed: u64,
    pub steps_back_left: u64,
    pub jumps_ahead: u64,
    pub unsafe_: bool,
    pub max_count: i64,
    pub stays: bool,
    pub contended: u64,
    pub reserve_ms: i64,
    pub reserve_refills: u64,
    pub reserve_failures: u64,
}

/* ---- block ---- */

pub const FIRN_BLOCK_MAX: usize = 256;

#[repr(C)]
pub struct firn_block {
    _opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_page {
    pub next: u32,
    pub count: u32,
    pub until_ns: i64,
    pub stride: u32,
    pub reserved: u32,
}

/* ---- job ---- */

#[repr(C)]
pub struct firn_job {
    _opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct firn_job_config {
    pub size: usize,
    pub scheme: *const c_char,
    pub keys: *const c_char,
    pub store: *mut firn_store,
    pub name: *const c_char,
    pub digest: u64,
    pub seed: *const c_char,
    pub shift_ms: i64,
    pub disorder_ms: i64,
    pub notice: Option<unsafe extern "C" fn(self_: *mut c_void, text: *const c_char)>,
    pub notice_self: *mut c_void,
}

/* ---- segment ---- */

#[repr(C)]
pub struct firn_segment {
    _opaque: [u8; 0],
}

/* ---- order ---- */

pub const FIRN_ORDER_SIZE: usize = 24;

#[repr(C)]
pub struct firn_order {
    _opaque: [u8; 0],
}

/* ---- mask ---- */

pub const FIRN_MASK_KEY_SIZE: usize = 32;

#[repr(C)]
pub struct firn_mask {
    _opaque: [u8; 0],
}

/* ---- zone ---- */

#[repr(C)]
pub struct firn_zone {
    _opaque: [u8; 0],
}

/* ---- series ---- */

pub const FIRN_MASK_FRAME_SIZE: usize = 40;
pub const FIRN_SERIES_SIZE: usize = 80;

#[repr(C)]
pub struct firn_series {
    _opaque: [u8; 0],
}

extern "C" {
    pub fn firn_version() -> *const c_char;
    pub fn firn_strerror(code: c_int) -> *const c_char;
    pub fn firn_errname(code: c_int) -> *const c_char;
    pub fn firn_curename(cure: c_int) -> *const c_char;
    pub fn firn_error_set(error: *mut firn_error, code: c_int, cure: c_int, format: *const c_char, ...) -> c_int;
    pub fn firn_nearest(name: *const c_char, names: *const *const c_char) -> *const c_char;
    pub fn firn_id_cmp(a: *const firn_id, b: *const firn_id) -> c_int;
    pub fn firn_id_bytes(out: *mut u8, id: *const firn_id) -> usize;
    pub fn firn_id_from_bytes(id: *mut firn_id, from: *const u8, bits: u32, error: *mut firn_error) -> c_int;
    pub fn firn_time_parse(time: *mut firn_time, text: *const c_char, length: usize, error: *mut firn_error) -> c_int;
    pub fn firn_time_format(text: *mut c_char, time: *const firn_time, digits: c_int) -> *mut c_char;
    pub fn firn_time_unix_ns(text: *mut c_char, time: *const firn_time) -> *mut c_char;
    pub fn firn_time_cmp(a: *const firn_time, b: *const firn_time) -> c_int;
    pub fn firn_scheme_at(i: usize) -> *const firn_scheme;
    pub fn firn_scheme_find(name: *const c_char) -> *const firn_scheme;
    pub fn firn_scheme_make(
        scheme: *mut firn_scheme,
        text: *const c_char,
        epoch: *const c_char,
        bits: *const c_char,
        digits: *const c_char,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_scheme_layout(text: *mut c_char, scheme: *const firn_scheme) -> *mut c_char;
    pub fn firn_scheme_field(scheme: *const firn_scheme, name: *const c_char) -> c_int;
    pub fn firn_scheme_first(scheme: *const firn_scheme, i: u32) -> u32;
    pub fn firn_scheme_width(scheme: *const firn_scheme, i: u32) -> u32;
    pub fn firn_scheme_max(scheme: *const firn_scheme, i: u32) -> firn_value;
    pub fn firn_scheme_end(scheme: *const firn_scheme, whole: bool, end: *mut firn_time) -> bool;
    pub fn firn_scheme_tick(
        scheme: *const firn_scheme,
        time: *const firn_time,
        tick: *mut u64,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_scheme_time(scheme: *const firn_scheme, tick: u64, time: *mut firn_time);
    pub fn firn_scheme_digits(scheme: *const firn_scheme) -> c_int;
    pub fn firn_fields_set(
        fields: *mut firn_fields,
        scheme: *const firn_scheme,
        name: *const c_char,
        value: *const c_char,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_fields_get(
        text: *mut c_char,
        fields: *const firn_fields,
        scheme: *const firn_scheme,
        i: u32,
    ) -> *mut c_char;
    pub fn firn_pack(
        id: *mut firn_id,
        scheme: *const firn_scheme,
        fields: *const firn_fields,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_unpack(
        fields: *mut firn_fields,
        scheme: *const firn_scheme,
        id: *const firn_id,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_range(
        least: *mut firn_id,
        greatest: *mut firn_id,
        scheme: *const firn_scheme,
        pinned: *const firn_fields,
        from: *const firn_time,
        to: *const firn_time,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_convert(
        out: *mut firn_id,
        to: *const firn_scheme,
        id: *const firn_id,
        from: *const firn_scheme,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_digest(
        id: *mut firn_id,
        scheme: *const firn_scheme,
        space: *const c_char,
        name: *const c_void,
        length: usize,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_locality_start(time: *const firn_time) -> u32;
    pub fn firn_form_name(form: c_int) -> *const c_char;
    pub fn firn_form_find(name: *const c_char) -> c_int;
    pub fn firn_form_width(form: c_int, bits: u32) -> usize;
    pub fn firn_format(text: *mut c_char, id: *const firn_id, form: c_int) -> *mut c_char;
    pub fn firn_parse(
        id: *mut firn_id,
        form: c_int,
        bits: u32,
        text: *const c_char,
        length: usize,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_scheme_seen(scheme: *const firn_scheme, id: *const firn_id) -> *const firn_scheme;
    pub fn firn_prefix_check(prefix: *const c_char, length: usize, error: *mut firn_error) -> c_int;
    pub fn firn_prefix_read(prefix: *mut c_char, text: *const c_char, length: usize) -> usize;
    pub fn firn_prefix_format(text: *mut c_char, prefix: *const c_char, id: *const firn_id) -> *mut c_char;
    pub fn firn_guess(readings: *mut firn_reading, text: *const c_char, length: usize, form: c_int) -> usize;
    pub fn firn_guess_all(
        readings: *mut firn_reading,
        plausible: *mut usize,
        text: *const c_char,
        length: usize,
        form: c_int,
    ) -> usize;
    pub fn firn_text_format_at(i: usize) -> *const firn_text_format;
    pub fn firn_owner_at(i: usize) -> *const firn_owner;
    pub fn firn_sure_name(sure: c_int) -> *const c_char;
    pub fn firn_recognize(
        matches: *mut firn_match,
        best: *const firn_reading,
        text: *const c_char,
        length: usize,
    ) -> usize;
    pub fn firn_store_open(
        store: *mut *mut firn_store,
        url: *const c_char,
        options: *const firn_store_options,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_store_wrap(
        store: *mut *mut firn_store,
        ops: *const firn_store_ops,
        self_: *mut c_void,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_store_reserve(
        store: *mut firn_store,
        request: *const firn_request,
        first: *mut i64,
        held: *mut firn_mark,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_store_give_back(
        store: *mut firn_store,
        ns: *const c_char,
        key: *const c_char,
        mine: *const firn_mark,
        high: i64,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_store_list(
        store: *mut firn_store,
        ns: *const c_char,
        visit: firn_visit,
        context: *mut c_void,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_store_others(
        store: *mut firn_store,
        visit: firn_visit,
        context: *mut c_void,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_store_now(store: *mut firn_store, now: *mut firn_time, error: *mut firn_error) -> c_int;
    pub fn firn_store_relabel(
        store: *mut firn_store,
        change: *const firn_relabel,
        floor: *mut i64,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_store_caution(store: *const firn_store) -> *const c_char;
    pub fn firn_store_close(store: *mut firn_store);
    pub fn firn_shared_size() -> usize;
    pub fn firn_open(
        gen: *mut *mut firn_gen,
        scheme: *const c_char,
        keys: *const c_char,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_open_with(gen: *mut *mut firn_gen, config: *const firn_config, error: *mut firn_error) -> c_int;
    pub fn firn_next(gen: *mut firn_gen, id: *mut firn_id, error: *mut firn_error) -> c_int;
    pub fn firn_next_n(gen: *mut firn_gen, ids: *mut firn_id, n: usize, error: *mut firn_error) -> c_int;
    pub fn firn_next_u64(gen: *mut firn_gen, ids: *mut u64, n: usize, error: *mut firn_error) -> c_int;
    pub fn firn_at(
        gen: *mut firn_gen,
        at: *const firn_time,
        ids: *mut firn_id,
        n: usize,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_gen_step(gen: *mut firn_gen, wait_ms: *mut i64, error: *mut firn_error) -> c_int;
    pub fn firn_gen_scheme(gen: *const firn_gen) -> *const firn_scheme;
    pub fn firn_gen_prefix(gen: *const firn_gen) -> *const c_char;
    pub fn firn_gen_status(gen: *mut firn_gen, status: *mut firn_status);
    pub fn firn_reserve_give_back(gen: *mut firn_gen, error: *mut firn_error) -> c_int;
    pub fn firn_reserve_list(
        path: *const c_char,
        visit: firn_visit,
        context: *mut c_void,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_close(gen: *mut firn_gen, error: *mut firn_error) -> c_int;
    pub fn firn_renew_identity();
    pub fn firn_block_open(
        block: *mut *mut firn_block,
        gen: *mut firn_gen,
        age_us: i64,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_block_page(block: *const firn_block) -> *mut firn_page;
    pub fn firn_block_fill(block: *mut firn_block, error: *mut firn_error) -> c_int;
    pub fn firn_block_next(block: *mut firn_block, id: *mut c_void, error: *mut firn_error) -> c_int;
    pub fn firn_block_close(block: *mut firn_block);
    pub fn firn_job_open(job: *mut *mut firn_job, config: *const firn_job_config, error: *mut firn_error) -> c_int;
    pub fn firn_job_next(
        job: *mut firn_job,
        time: *const firn_time,
        id: *mut firn_id,
        shift_ns: *mut i64,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_job_scheme(job: *const firn_job) -> *const firn_scheme;
    pub fn firn_job_again(job: *const firn_job) -> bool;
    pub fn firn_job_close(job: *mut firn_job);
    pub fn firn_segment_open(
        segment: *mut *mut firn_segment,
        key: *const c_char,
        keys: *const c_char,
        store: *mut firn_store,
        clock: *const firn_clock,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_segment_next(segment: *mut firn_segment, value: *mut i64, error: *mut firn_error) -> c_int;
    pub fn firn_segment_block(segment: *mut firn_segment, count: i64, first: *mut i64, error: *mut firn_error)
        -> c_int;
    pub fn firn_segment_take(
        segment: *mut firn_segment,
        most: i64,
        first: *mut i64,
        count: *mut i64,
        due: *mut bool,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_segment_exact(
        segment: *mut firn_segment,
        count: i64,
        fetch_more: bool,
        first: *mut i64,
        due: *mut bool,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_segment_give_back(segment: *mut firn_segment, error: *mut firn_error) -> c_int;
    pub fn firn_segment_reserve(
        segment: *mut firn_segment,
        left: *mut i64,
        lasts_ms: *mut i64,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_segment_left(segment: *const firn_segment) -> i64;
    pub fn firn_segment_increment(segment: *const firn_segment) -> i64;
    pub fn firn_segment_peek(segment: *mut firn_segment, next: *mut i64, error: *mut firn_error) -> c_int;
    pub fn firn_segment_advance(segment: *mut firn_segment, from: i64, next: *mut i64, error: *mut firn_error)
        -> c_int;
    pub fn firn_segment_step(segment: *mut firn_segment, wait_ms: *mut i64, error: *mut firn_error) -> c_int;
    pub fn firn_segment_close(segment: *mut firn_segment, error: *mut firn_error) -> c_int;
    pub fn firn_order_open(
        order: *mut *mut firn_order,
        keys: *const c_char,
        key: *const u8,
        module_dir: *const c_char,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_order_write(order: *mut firn_order, text: *mut c_char, integer: u64, error: *mut firn_error) -> c_int;
    pub fn firn_order_read(
        order: *mut firn_order,
        integer: *mut u64,
        text: *const c_char,
        length: usize,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_order_series(
        order: *const firn_order,
        segment: *mut *mut firn_segment,
        series: *const c_char,
        start: i64,
        store: *mut firn_store,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_order_close(order: *mut firn_order);
    pub fn firn_mask_load(
        mask: *mut *mut firn_mask,
        keys: *const c_char,
        key_file: *const c_char,
        module_dir: *const c_char,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_mask_form(mask: *const firn_mask, masked: bool) -> c_int;
    pub fn firn_mask_fingerprint(mask: *const firn_mask) -> *const c_char;
    pub fn firn_mask_frame(mask: *const firn_mask, before: *mut c_char, after: *mut c_char, masked: *const firn_id);
    pub fn firn_mask_write(
        mask: *mut firn_mask,
        text: *mut c_char,
        id: *const c_char,
        length: usize,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_mask_read(
        mask: *mut firn_mask,
        text: *mut c_char,
        masked: *const c_char,
        length: usize,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_mask_open(
        mask: *mut *mut firn_mask,
        keys: *const c_char,
        key: *const u8,
        module_dir: *const c_char,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_mask_bits(mask: *const firn_mask) -> u32;
    pub fn firn_mask_apply(
        mask: *mut firn_mask,
        masked: *mut firn_id,
        ids: *const firn_id,
        count: usize,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_mask_undo(
        mask: *mut firn_mask,
        ids: *mut firn_id,
        masked: *const firn_id,
        count: usize,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_mask_close(mask: *mut firn_mask);
    pub fn firn_zone_open(zone: *mut *mut firn_zone, name: *const c_char, error: *mut firn_error) -> c_int;
    pub fn firn_zone_offset(zone: *const firn_zone, sec: i64) -> i32;
    pub fn firn_zone_close(zone: *mut firn_zone);
    pub fn firn_series_open(
        series: *mut *mut firn_series,
        name: *const c_char,
        keys: *const c_char,
        store: *mut firn_store,
        clock: *const firn_clock,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_series_next(
        series: *mut firn_series,
        at: *const firn_time,
        texts: *mut [c_char; FIRN_SERIES_SIZE],
        n: usize,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_series_peek(
        series: *mut firn_series,
        at: *const firn_time,
        text: *mut c_char,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_series_read(
        series: *const firn_series,
        counter: *mut i64,
        text: *const c_char,
        length: usize,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_series_advance(
        series: *mut firn_series,
        at: *const firn_time,
        from: i64,
        error: *mut firn_error,
    ) -> c_int;
    pub fn firn_series_prune(series: *mut firn_series, before: *const firn_time, error: *mut firn_error) -> c_int;
    pub fn firn_series_definition(series: *const firn_series) -> *const c_char;
    pub fn firn_series_mark(text: *mut c_char, layout: *const c_char, slot: i64) -> *mut c_char;
    pub fn firn_series_close(series: *mut firn_series, error: *mut firn_error) -> c_int;
}
