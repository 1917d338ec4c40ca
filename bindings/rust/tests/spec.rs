// SPDX-License-Identifier: MIT
//! Every case of spec/, which the variable FIRN_SPEC or ../../spec has.
use std::{env, fs, path::PathBuf};

use firn::{parse_time, Changes, Fields, Order, Result, Scheme};
use serde_json::Value;

fn text<'a>(case: &'a Value, name: &str) -> &'a str {
    case[name].as_str().unwrap_or_else(|| panic!("{name} is text in {case}"))
}

fn folder() -> PathBuf {
    env::var_os("FIRN_SPEC").map_or_else(|| "../../spec".into(), PathBuf::from)
}

fn each<'a>(file: &'a Value, group: &str) -> std::slice::Iter<'a, Value> {
    file[group].as_array().map_or([].iter(), |cases| cases.iter())
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

/// The scheme of a case, whose layout may be its own.
fn scheme_of(file: &Value, case: &Value) -> Result<Scheme> {
    let name = text(file, "scheme");
    match case["layout"].as_str() {
        None => Scheme::new(name),
        Some(layout) if name == "time-random" => (1..=18)
            .map(|digits| Scheme::changed(name, Changes { digits: Some(digits), ..Changes::default() }))
            .find(|scheme| scheme.as_ref().map_or(true, |scheme| scheme.layout() == layout))
            .expect("one of 18 layouts"),
        Some(layout) => Scheme::new(layout),
    }
}

/// The outer result says whether firn accepted the case, the assertions whether its answers are right.
fn check(file: &Value, case: &Value) -> Result<()> {
    let scheme = scheme_of(file, case)?;
    let form = case["form"].as_str().unwrap_or_else(|| text(file, "form"));
    let fields = match case["fields"].as_object() {
        None => return scheme.parse_as(text(case, "text"), form).map(drop),
        Some(fields) => fields,
    };
    let packed: Fields = fields.iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect();
    let id = scheme.pack(&packed)?;
    let written = id.format(form)?;
    if let Some(expected) = case["text"].as_str() {
        let shown = scheme.parse_as(case["also"].as_str().unwrap_or(expected), form)?;
        let prefix = if form == "typeid" { expected.rfind('_').map_or(0, |at| at + 1) } else { 0 };
        assert_eq!(written, expected[prefix..], "{case}");
        assert_eq!(id.to_bytes(), hex(text(case, "bytes")), "{case}");
        assert_eq!(shown, id, "{case}");
        assert_eq!(scheme.from_bytes(&id.to_bytes())?, id, "{case}");
        if let Some(tick) = case["tick"].as_str() {
            assert_eq!(scheme.show(&shown)?.field("time"), Some(tick), "{case}");
        }
    }
    Ok(())
}

#[test]
fn every_text_of_another_format() {
    let mut answers = 0;
    for path in fs::read_dir(folder().join("../test/vectors/formats")).unwrap() {
        let path = path.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        for line in fs::read_to_string(&path).unwrap().lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<_> = line.split('\t').collect();
            if let [text, time, facts] = words[..] {
                let found = firn::recognize(text);
                let one = found.iter().find(|one| one.format == name).unwrap_or_else(|| panic!("{line}"));
                assert_eq!(one.time_text.as_deref().unwrap_or("-"), time, "{line}");
                for (field, value) in &one.fields {
                    let value = value.split(" (").next().unwrap();
                    assert!(
                        !facts.contains(&format!("{field}=")) || facts.contains(&format!("{field}={value}")),
                        "{line}"
                    );
                }
                answers += 1;
            }
        }
    }
    assert!(answers > 500, "{answers}");
}

#[test]
fn every_case_of_spec() -> Result<()> {
    let folder = folder();
    let mut counts = [0; 6];
    for entry in fs::read_dir(folder).expect("spec/ is readable") {
        let path = entry.unwrap().path();
        if path.extension().map_or(true, |extension| extension != "json") {
            continue;
        }
        let file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        for case in each(&file, "valid") {
            check(&file, case).unwrap_or_else(|error| panic!("{path:?} {case}: {error}"));
            counts[0] += 1;
        }
        for case in each(&file, "invalid") {
            assert!(check(&file, case).is_err(), "{path:?} {case}");
            counts[1] += 1;
        }
        for case in each(&file, "ranges") {
            let scheme = Scheme::new(text(&file, "scheme"))?;
            let times = parse_time(text(case, "from"))?..parse_time(text(case, "to"))?;
            let (least, greatest) = scheme.range(times)?;
            assert_eq!([least.to_string(), greatest.to_string()], [text(case, "least"), text(case, "greatest")]);
            counts[2] += 1;
        }
        for pair in each(&file, "pairs") {
            let scheme = Scheme::new(text(&file, "scheme"))?;
            let (first, second) = (scheme.parse(pair[0].as_str().unwrap())?, scheme.parse(pair[1].as_str().unwrap())?);
            assert!(first < second, "{pair}");
        }
        for case in each(&file, "convert") {
            let all = ["uuid1", "uuid6", "uuid1-swapped"].map(|name| (Scheme::new(name).unwrap(), case[name].as_str()));
            for (from, given) in &all {
                for (to, expected) in &all {
                    if let (Some(given), Some(expected)) = (given, expected) {
                        assert_eq!(&from.convert(&from.parse(given)?, to)?.to_string(), expected);
                        counts[3] += 1;
                    }
                }
            }
        }
        for case in each(&file, "digest") {
            for version in ["uuid3", "uuid5"] {
                let digest = Scheme::new(version)?.digest(text(case, "namespace"), hex(text(case, "name_hex")))?;
                assert_eq!(digest.to_string(), text(case, version));
                counts[4] += 1;
            }
        }
        for case in each(&file, "guess") {
            let best = firn::guess(text(case, "text")).first().map(|reading| reading.scheme);
            assert_eq!(best, case["scheme"].as_str(), "{case}");
        }
        for case in each(&file, "order") {
            let secret = hex(text(case, "key")).try_into().unwrap();
            let mut builder = Order::builder(secret);
            for name in ["digits", "key_id", "check", "tweak"] {
                match &case[name] {
                    Value::String(value) if !value.is_empty() => builder = builder.key(name, value),
                    Value::Number(value) => builder = builder.key(name, value),
                    _ => {}
                }
            }
            let order = builder.open()?;
            let integer = text(case, "integer").parse().unwrap();
            assert_eq!(order.write(integer)?, text(case, "text"));
            assert_eq!(order.read(text(case, "text"))?, integer);
            counts[5] += 1;
        }
    }
    assert!(counts[0] + counts[1] > 2300 && counts.iter().all(|count| *count > 40), "{counts:?}");
    Ok(())
}
