// SPDX-License-Identifier: MIT
//! The crate uuid, asked by check.py. The first argument is its version.
use std::io::{stdin, BufRead};
use uuid::{Uuid, Variant};

const SCHEMES: [&str; 9] = ["nil", "uuid1", "max", "uuid3", "uuid4", "uuid5", "uuid6", "uuid7", "uuid8"];

fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digits = |i| text.get(i..i + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
    (0..text.len()).step_by(2).map(|i| digits(i).ok_or_else(|| "not hex".to_string())).collect()
}

fn answer(words: &[&str]) -> Result<String, String> {
    let text = |i: usize| String::from_utf8(bytes(words[i])?).map_err(|error| error.to_string());
    let parse = |text: &str| text.parse::<Uuid>().map_err(|error| error.to_string());
    match words[1] {
        "read" => {
            let id = parse(&text(3)?)?;
            let right = match words[2] {
                "nil" => id.is_nil(),
                "max" => id.as_bytes() == &[255; 16],
                scheme => scheme == format!("uuid{}", id.get_version_num()) && id.get_variant() == Variant::RFC4122,
            };
            if right { Ok(id.simple().to_string()) } else { Err("version or variant".into()) }
        }
        "write" => Uuid::from_slice(&bytes(&text(3)?)?).map(|id| id.to_string()).map_err(|error| error.to_string()),
        "time" if words[2] == "uuid1" => match parse(&text(3)?)?.get_timestamp() {
            Some(time) => Ok((time.to_unix().0 * 1000 + u64::from(time.to_unix().1) / 1_000_000).to_string()),
            None => Err("no time".into()),
        },
        "digest" => {
            let (name, space) = (bytes(&text(3)?)?, parse(&text(4)?)?);
            let digest = if words[2] == "uuid3" { Uuid::new_v3 } else { Uuid::new_v5 };
            Ok(digest(&space, &name).to_string())
        }
        _ => Ok("-".into()),
    }
}

fn main() {
    std::panic::set_hook(Box::new(|_| {})); // a panic is an answer
    println!("uuid (crate)|{}|{}", std::env::args().nth(1).unwrap_or_default(), SCHEMES.join(","));
    for line in stdin().lock().lines().flatten() {
        let words: Vec<_> = line.split('\t').collect();
        let got = std::panic::catch_unwind(|| answer(&words)).unwrap_or_else(|_| Err("panics".into()));
        println!("{}", got.unwrap_or_else(|error| format!("!{error}")));
    }
}
