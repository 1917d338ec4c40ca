// SPDX-License-Identifier: MIT
//! Types, errors, threads.
use std::collections::HashSet;
use std::error::Error as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use firn::{
    Builder, ErrorKind, Fields, Generator, Id, Job, JobBuilder, Mask, Order, Result, Scheme, Segment, Series, Uuid,
};

fn memory(scheme: &str) -> Builder {
    Generator::builder(scheme).store("memory:")
}

mod common;
use common::Folder;

#[test]
fn ids_of_every_kind_keep_their_order() -> Result<()> {
    let gen = memory("snowflake").key("nodes", 1).open()?;
    let mut out = vec![gen.next_u64()?, gen.next()?.try_into()?];
    out.extend(gen.many::<u64>(100)?);
    gen.extend(&mut out, 100)?;
    let mut array = [0; 100];
    gen.fill(&mut array)?;
    out.extend(array);
    out.extend(gen.many::<Id>(10)?.into_iter().map(|id| u64::try_from(id).unwrap()));
    for id in gen.ids(Duration::from_secs(1))?.take(1000) {
        out.push(id?);
    }
    for id in gen.ids::<Id>(Duration::from_secs(1))?.take(100) {
        out.push(id?.try_into()?);
    }
    assert_eq!(out.len(), 1412);
    assert!(out.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(gen.many::<u64>(0)?.is_empty());
    gen.close()
}

#[test]
fn ids_of_every_width() -> Result<()> {
    for (scheme, bits, length) in [("uuid7", 128, 36), ("ulid", 128, 26), ("ksuid", 160, 27), ("objectid", 96, 24)] {
        let gen = memory(scheme).open()?;
        let mut all = gen.many::<Id>(3)?;
        all.push(gen.next()?);
        all.extend(gen.ids(Duration::from_millis(1))?.take(300).collect::<Result<Vec<Id>>>()?);
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 304);
        for id in all {
            assert_eq!((id.bits(), id.to_string().len(), id.to_bytes().len()), (bits, length, bits as usize / 8));
            assert_eq!(gen.scheme().parse(&id.to_string())?, id);
            assert_eq!(gen.scheme().from_bytes(&id.to_bytes())?, id);
            assert_eq!(Uuid::try_from(id).is_ok(), bits == 128);
            assert_eq!(u64::try_from(id).unwrap_err().kind(), ErrorKind::Range);
        }
    }
    Ok(())
}

#[test]
fn uuids() -> Result<()> {
    let gen = Generator::open("uuid7")?;
    let (first, second) = (gen.next_uuid()?, gen.ids::<Uuid>(Duration::from_millis(1))?.next().unwrap()?);
    assert!(first < second);
    assert_eq!(first.as_bytes()[6] >> 4, 7);
    assert_eq!(first.to_string().parse::<Uuid>()?, first);
    assert_eq!(Uuid::from(<[u8; 16]>::from(first)), first);
    assert_eq!(Id::from(first).to_string(), first.to_string());
    assert_eq!(Uuid::try_from(Id::from(first))?, first);
    assert_eq!(u128::try_from(Id::from(first))?.to_be_bytes(), *first.as_bytes());
    assert_eq!(format!("{:?}", Uuid::default()), "Uuid(00000000-0000-0000-0000-000000000000)");
    assert_eq!("x".parse::<Uuid>().unwrap_err().kind(), ErrorKind::Text);
    Ok(())
}

#[test]
fn old_blocks_are_dropped() -> Result<()> {
    let gen = Generator::open("uuid7")?;
    let mut ids = gen.ids::<Id>(Duration::from_millis(1))?;
    for _ in 0..20 {
        ids.next().unwrap()?;
    }
    let start = SystemTime::now();
    let until = Instant::now() + Duration::from_millis(100);
    while Instant::now() < until {
        thread::yield_now();
    }
    let time = gen.scheme().time(&ids.next().unwrap()?)?.unwrap();
    assert!(time + Duration::from_millis(1) >= start, "{time:?} {start:?}");
    Ok(())
}

#[test]
fn a_renewed_identity() -> Result<()> {
    let (gen, drawn) = (memory("snowflake").open()?, Generator::open("uuid1")?);
    let mut ids = gen.ids::<u64>(Duration::from_secs(1))?;
    let mut uuids = drawn.ids::<Uuid>(Duration::from_secs(1))?;
    let mut nodes = || -> Result<(u64, String)> {
        Ok(((ids.next().unwrap()? >> 12) & 1023, uuids.next().unwrap()?.to_string()[24..].to_string()))
    };
    let before = nodes()?;
    assert_eq!(nodes()?, before);
    firn::renew_identity();
    let after = nodes()?;
    assert!(after.0 != before.0 && after.1 != before.1, "{before:?} {after:?}");
    Ok(())
}

#[test]
fn back_dated_ids_have_their_time() -> Result<()> {
    let gen = memory("snowflake").open()?;
    let when = UNIX_EPOCH + Duration::from_millis(1_600_000_000_123);
    let ids = gen.at::<Id>(when, 3)?;
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 3);
    for id in &ids {
        assert_eq!(gen.scheme().time(id)?, Some(when));
    }
    assert!(gen.at::<u64>(when, 0)?.is_empty());
    let early = UNIX_EPOCH - Duration::from_millis(500);
    assert_eq!(memory("uuid7").open()?.at::<Uuid>(early, 1).unwrap_err().kind(), ErrorKind::Layout);
    Ok(())
}

/// Many old records need no write each: the store is gone in the meantime.
#[test]
fn many_back_dated_ids() -> Result<()> {
    let folder = Folder::new("many");
    let gen = Generator::builder("snowflake").store(folder.url()).key("history", "job").unsafe_store(true).open()?;
    let file = folder.url().trim_start_matches("sqlite:").to_owned();
    let mut ids = HashSet::new();
    for i in 0..=100_000 {
        if i == 1 {
            std::fs::rename(&file, format!("{file}-away")).unwrap();
        }
        let when = UNIX_EPOCH + Duration::from_nanos(1_546_300_800_000_000_000 + i * 1_000_003);
        ids.insert(gen.at::<u64>(when, 1)?[0]);
    }
    std::fs::rename(format!("{file}-away"), &file).unwrap();
    assert_eq!(ids.len(), 100_001);
    gen.close()
}

fn job_on(url: &str) -> JobBuilder {
    Job::builder("snowflake").name("orders").digest(7).store(url).unsafe_store(true)
}

/// Records out of order, some with the same time.
fn job_ids(job: &mut Job, n: u64) -> Result<Vec<Id>> {
    let start = UNIX_EPOCH + Duration::from_secs(1_556_971_200);
    (0..n).map(|i| job.next(start + Duration::from_millis(i * 7919 % 1000))).collect()
}

/// The test starts itself a second time, as the process that is killed.
#[test]
fn a_job_that_was_killed_continues_with_the_same_ids() -> Result<()> {
    if let Ok(url) = std::env::var("FIRN_JOB_CHILD") {
        for id in job_ids(&mut job_on(&url).open()?, 1001)? {
            println!("ID {id}");
        }
        Command::new("kill").args(["-9", &std::process::id().to_string()]).status().unwrap();
        loop {
            thread::park();
        }
    }
    let folder = Folder::new("job");
    let name = "a_job_that_was_killed_continues_with_the_same_ids";
    let child = Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--nocapture"])
        .env("FIRN_JOB_CHILD", folder.url())
        .output()
        .unwrap();
    assert_eq!(child.status.signal(), Some(9));
    let (mut again, mut beside) = (job_on(&folder.url()).open()?, job_on(&folder.url()).open()?);
    let mut others = job_on(&folder.url()).name("others").open()?;
    assert!(again.again() && beside.again() && !others.again());
    let ids = job_ids(&mut again, 3000)?;
    let out = String::from_utf8(child.stdout).unwrap();
    let written =
        out.lines().filter_map(|line| line.split_once("ID ").map(|(_, id)| id.to_string())).collect::<Vec<_>>();
    assert_eq!(written, ids[..1001].iter().map(Id::to_string).collect::<Vec<_>>());
    assert_eq!(job_ids(&mut beside, 3000)?, ids);
    let gen = Generator::builder("snowflake").store(folder.url()).unsafe_store(true).open()?;
    let all = ids.into_iter().chain(job_ids(&mut others, 3000)?).chain(gen.many::<Id>(10)?).collect::<HashSet<_>>();
    assert_eq!(all.len(), 6010);
    let url = folder.url();
    for other in [job_on(&url).digest(8), job_on(&url).seed("other"), job_on(&url).disorder(Duration::from_nanos(1))] {
        assert_eq!(other.open().unwrap_err().kind(), ErrorKind::Taken);
    }
    gen.close()
}

#[test]
fn jobs_need_what_their_ids_need() -> Result<()> {
    let time = UNIX_EPOCH + Duration::from_secs(1_556_971_200);
    let node = || Job::builder("snowflake").key("node", 3);
    let (mut full, mut moves) = (node().max_shift(Duration::ZERO).open()?, node().open()?);
    for _ in 0..4096 {
        assert_eq!(full.next(time)?, moves.next(time)?);
    }
    assert_eq!(full.next(time).unwrap_err().kind(), ErrorKind::Full);
    moves.next(time)?;
    assert_eq!((moves.shift(), full.shift(), moves.again()), (Duration::from_millis(1), Duration::ZERO, false));
    let id = Job::builder("uuid7").seed("a secret of job").open()?.next(time)?;
    assert_eq!((Uuid::try_from(id).is_ok(), moves.scheme().name()), (true, "snowflake"));
    for wrong in [
        Job::builder("uuid7"),
        Job::builder("snowflake").name("orders"),
        Job::builder("snowflake").store("memory:").digest(1),
        node().key("window", "3s"),
    ] {
        assert_eq!(wrong.open().unwrap_err().kind(), ErrorKind::Usage);
    }
    assert_eq!(node().max_shift(Duration::from_secs(172_800)).open().unwrap_err().kind(), ErrorKind::Range);
    assert!(!format!("{:?}", Job::builder("uuid7").seed("a secret of job")).contains("secret"));
    Ok(())
}

#[test]
fn segments_and_order_numbers() -> Result<()> {
    let folder = Folder::new("segments");
    let open = || Segment::builder("orders").store(folder.url()).key("kind", "serial").unsafe_store(true).open();
    let orders = open()?;
    assert_eq!((orders.next()?, orders.block(3)?, orders.next()?, orders.increment()), (1, 2, 5, 1));
    assert_eq!((orders.advance(100)?, orders.peek()?, orders.next()?), (100, 100, 100));
    orders.close()?;
    assert_eq!(open()?.next()?, 101);
    let order = Order::builder([7; 16]).key("digits", 10).key("check", 1).open()?;
    assert_eq!(order.read(&order.write(123_456)?)?, 123_456);
    assert_eq!(order.read("1").unwrap_err().kind(), ErrorKind::Text);
    assert!(!format!("{order:?} {:?}", Order::builder([7; 16])).contains('7'));
    Ok(())
}

#[test]
fn series() -> Result<()> {
    let folder = Folder::new("series");
    let store = format!("sqlite:{}", folder.0.join("ids.db").display());
    let open = |keys: &str| Series::builder("invoices").store(&store).unsafe_store(true).key("template", keys).open();
    let mut invoices = open("INV{counter:4}")?;
    assert_eq!((invoices.peek(None)?, invoices.next(None)?), ("INV0001".into(), "INV0001".into()));
    assert_eq!(invoices.many(2, None)?, ["INV0002", "INV0003"]);
    assert_eq!(invoices.read("INV0003")?, 3);
    assert_eq!(invoices.definition(), "template=INV{counter:4} zone=UTC restart=never late=0 grow=0");
    assert_eq!(invoices.many(0, None).unwrap_err().kind(), ErrorKind::Range);
    assert_eq!(invoices.many(1_000_001, None).unwrap_err().kind(), ErrorKind::Range);
    assert_eq!(invoices.many(9999, None).unwrap_err().kind(), ErrorKind::End);
    assert_eq!(open("X{counter:4}")?.next(None).unwrap_err().kind(), ErrorKind::Namespace);
    invoices.close()?;
    let mut again = Series::builder("invoices").store(&store).unsafe_store(true).open()?;
    assert_eq!(again.next(Some(SystemTime::now()))?, "INV0004");
    Ok(())
}

#[test]
fn masks() -> Result<()> {
    let folder = Folder::new("masks");
    let file = folder.0.join("mask.key");
    std::fs::write(&file, format!("1 {:064}\n", 0)).unwrap();
    let open = |width: &str| Mask::builder("orders", &file).key("width", width).key("fingerprint", "78555f0c").open();
    assert_eq!(open("uuid").unwrap_err().kind(), ErrorKind::Usage); // others can read the file
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let orders = open("uuid")?;
    let (id, masked) = ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "ee4010b4-ae5e-47e1-b9da-ad69663a79d9");
    assert_eq!((orders.mask(id)?.as_str(), orders.unmask(masked)?.as_str()), (masked, id));
    assert_eq!(orders.fingerprint(), "78555f0c");
    assert_eq!(orders.mask("x").unwrap_err().kind(), ErrorKind::Text);
    assert_eq!(open("63").unwrap_err().kind(), ErrorKind::Usage);
    Ok(())
}

#[test]
fn states() -> Result<()> {
    let gen = memory("snowflake").key("node", 33).note("a test").renewer(true).open()?;
    assert!(gen.step()? > Duration::ZERO);
    gen.next()?;
    let status = gen.status();
    assert!(status.reserved && status.held && status.node == 33 && status.claims == 1, "{status:?}");
    assert_eq!((gen.scheme().name(), gen.scheme().bits(), gen.scheme().form()), ("snowflake", 64, "dec"));
    assert!(Scheme::all().any(|scheme| scheme.name() == "typeid"));
    assert!(firn::forms().contains(&"base62"));
    assert_eq!(firn::version(), env!("CARGO_PKG_VERSION"));
    Ok(())
}

fn kind<T>(result: Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("it must be refused"),
        Err(error) => {
            assert!(error.text().len() > 10 && error.code() < 0 && error.name() != "?", "{error:?}");
            assert_eq!(error.to_string(), error.text());
            error.kind()
        }
    }
}

#[test]
fn errors_have_code_kind_and_cure() -> Result<()> {
    let error = Generator::open("snowflak").unwrap_err();
    assert_eq!((error.code(), error.kind(), error.name()), (-1, ErrorKind::Usage, "USAGE"));
    assert!(error.cure().contains("did you mean") && error.source().is_none(), "{error}");
    assert_eq!((error.cure_name(), error.value(), error.limit()), ("SPELLING", "snowflak", ""));
    let error = memory("snowflake").key("nodes", 65).open().unwrap_err();
    assert_eq!((error.kind(), error.cure(), error.cure_code()), (ErrorKind::Range, "", 0), "{error}");
    assert_eq!((error.value(), error.limit().split(' ').next()), ("65", Some("1")), "{error}");
    assert_eq!(kind(memory("snowflake").key("nonsense", 1).open()), ErrorKind::Usage);
    assert_eq!(kind(memory("snowflake").key("node", "1 worker=2").open()), ErrorKind::Usage);
    assert_eq!(kind(Generator::builder("snowflake").store("nonsense:x").open()), ErrorKind::Usage);
    assert_eq!(kind(Generator::builder("snowflake").store("sqlite:/no/such/folder/x").open()), ErrorKind::Store);
    assert_eq!(kind(Segment::builder("").store("memory:").open()), ErrorKind::Range);

    let gen = memory("snowflake").open()?;
    for huge in [usize::MAX, usize::MAX / 8, 1 << 60] {
        assert_eq!(kind(gen.many::<u64>(huge)), ErrorKind::Memory);
        assert_eq!(kind(gen.many::<Id>(huge)), ErrorKind::Memory);
        assert_eq!(kind(gen.at::<Id>(UNIX_EPOCH, huge)), ErrorKind::Memory);
    }
    for age in [Duration::ZERO, Duration::from_nanos(999), Duration::from_secs(2), Duration::MAX] {
        assert_eq!(kind(gen.ids::<u64>(age)), ErrorKind::Range);
    }
    assert_eq!(kind(gen.next_uuid()), ErrorKind::Usage);
    assert_eq!(kind(gen.many::<Uuid>(1)), ErrorKind::Usage);
    let uuid7 = memory("uuid7").open()?;
    assert_eq!(kind(uuid7.next_u64()), ErrorKind::Usage);
    assert_eq!(kind(uuid7.fill(&mut [0; 3])), ErrorKind::Usage);
    assert_eq!(kind(uuid7.ids::<u64>(Duration::from_millis(1))), ErrorKind::Usage);
    Ok(())
}

#[test]
fn odd_texts_are_refused() -> Result<()> {
    let uuid7 = Scheme::new("uuid7")?;
    let long = "x".repeat(100_000);
    for text in ["\0", "a\0b", "", &long, "é", "😀", " ", "\n"] {
        for result in [
            memory(text).open().map(drop),
            memory("snowflake").key("ns", format!("{text}\0")).open().map(drop),
            memory("snowflake").key(text, 1).open().map(drop),
            Generator::builder("snowflake").store(format!("x{text}")).open().map(drop),
            Scheme::new(text).map(drop),
            uuid7.parse(text).map(drop),
            uuid7.parse_as(text, text).map(drop),
            uuid7.next_text(text),
            uuid7.pack(&Fields::new().set("time", text)).map(drop),
            uuid7.pack(&Fields::new().set(text, 1)).map(drop),
            uuid7.digest("dns", text).map(drop),
            firn::show(text).map(drop),
            Order::builder([0; 16]).key(text, text).open().map(drop),
            text.parse::<Uuid>().map(drop),
        ] {
            assert_ne!(kind(result), ErrorKind::Other, "{text:.20?}");
        }
        assert!(firn::guess(text).is_empty());
        assert!(firn::recognize(text).iter().all(|one| !one.leads));
    }
    for number in [4096, u64::MAX] {
        let fields =
            Fields::new().time(SystemTime::now()).set("datacenter", 1).set("worker", 1).set("sequence", number);
        assert_eq!(kind(Scheme::new("snowflake")?.pack(&fields)), ErrorKind::Range);
    }
    assert_eq!(kind(Scheme::new("snowflake")?.from_u64(u64::MAX)), ErrorKind::Mismatch);
    assert_eq!(kind(uuid7.from_bytes(&[0; 15])), ErrorKind::Range);
    let small = Scheme::new("time:41/ms@@2025-01-01 node:6 sequence:6")?;
    assert_eq!(kind(small.from_u64(1 << 53)), ErrorKind::Range);
    assert_eq!(small.from_u64((1 << 53) - 1)?.to_bytes(), [0x1f, 255, 255, 255, 255, 255, 255]);
    let now = SystemTime::now();
    assert_eq!(kind(uuid7.range(now..now)), ErrorKind::Usage);
    assert_eq!(kind(Scheme::new("uuid4")?.range(now - Duration::from_secs(1)..now)), ErrorKind::Unsorted);
    Ok(())
}

/// The other needs of the list above from a scheme.
trait NextText {
    fn next_text(&self, form: &str) -> Result<()>;
}
impl NextText for Scheme {
    fn next_text(&self, form: &str) -> Result<()> {
        self.parse("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")?.format(form).map(drop)
    }
}

#[test]
fn ten_thousand_generators() -> Result<()> {
    let all = (0..10_000).map(|_| memory("uuid7").open()).collect::<Result<Vec<_>>>()?;
    let ids = all.iter().map(Generator::next).collect::<Result<HashSet<_>>>()?;
    assert_eq!(ids.len(), all.len());
    Ok(())
}

#[test]
#[allow(clippy::needless_collect)] // all threads start before the first is joined
fn threads_share_a_generator() -> Result<()> {
    let gen = memory("snowflake").open()?;
    let work = || -> Result<Vec<u64>> {
        let mut out = gen.many(500)?;
        let mut ids = gen.ids(Duration::from_millis(1))?;
        for _ in 0..500 {
            out.push(gen.next_u64()?);
            out.push(ids.next().unwrap()?);
        }
        Ok(out)
    };
    let mut all = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|one| one.join().unwrap()).collect::<Result<Vec<_>>>()
    })?
    .concat();
    assert_eq!(all.len(), 8 * 1500);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    all.push(all[7]); // a duplicate would be found
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len() - 1);
    let moved = thread::spawn(move || gen.next().map(drop));
    moved.join().unwrap()
}

#[test]
fn a_generator_may_be_open_when_the_process_ends() -> Result<()> {
    static LEFT: Mutex<Vec<Generator>> = Mutex::new(Vec::new());
    let gen = memory("snowflake").open()?;
    gen.ids::<u64>(Duration::from_millis(1))?.next().unwrap()?;
    LEFT.lock().unwrap().push(gen);
    Ok(())
}

#[cfg(feature = "uuid")]
#[test]
fn uuids_of_the_crate_uuid() -> Result<()> {
    let mine = Generator::open("uuid7")?.next_uuid()?;
    let its = uuid::Uuid::from(mine);
    assert_eq!((its.to_string(), Uuid::from(its)), (mine.to_string(), mine));
    assert_eq!(its.get_version_num(), 7);
    Ok(())
}

#[cfg(feature = "serde")]
mod serde {
    use super::*;
    use ::serde::de::value::{BytesDeserializer, Error as ValueError};
    use ::serde::{de::DeserializeSeed, Deserialize};
    use serde_json::{from_str, json, to_value, Deserializer};

    #[test]
    fn ids_are_strings_in_json() -> Result<()> {
        let snowflake = Scheme::new("snowflake")?;
        let id = snowflake.from_u64(4_073_488_449_103_396_596)?;
        assert_eq!(to_value(id).unwrap(), json!("4073488449103396596"));
        let read = |text: &str| (&snowflake).deserialize(&mut Deserializer::from_str(text));
        assert_eq!(read("\"4073488449103396596\"").unwrap(), id);
        for wrong in ["4073488449103396596", "\"x\"", "null", "1.5", "[]"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let uuid: Uuid = from_str("\"017F22E2-79B0-7CC3-98C4-DC0C0C07398F\"").unwrap();
        assert_eq!(to_value(uuid).unwrap(), json!("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"));
        assert!(from_str::<Uuid>("\"x\"").is_err());
        type Bytes<'a> = BytesDeserializer<'a, ValueError>;
        assert_eq!(Uuid::deserialize(Bytes::new(uuid.as_bytes())).unwrap(), uuid);
        assert!(Uuid::deserialize(Bytes::new(&[0; 15])).is_err());
        assert_eq!((&snowflake).deserialize(Bytes::new(&id.to_bytes())).unwrap(), id);
        Ok(())
    }

    #[test]
    fn numbers_as_decimal_strings() {
        let written = firn::serde::decimal::serialize(&u64::MAX, serde_json::value::Serializer).unwrap();
        assert_eq!(written, json!("18446744073709551615"));
        assert_eq!(firn::serde::decimal::deserialize(written).unwrap(), u64::MAX);
        for wrong in [json!(1), json!("-1"), json!("+1"), json!(""), json!("18446744073709551616"), json!(null)] {
            assert!(firn::serde::decimal::deserialize(wrong).is_err());
        }
    }
}
