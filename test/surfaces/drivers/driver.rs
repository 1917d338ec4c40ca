// SPDX-License-Identifier: MIT
//! Answers the requests of test/surfaces/compare.py with the crate for Rust: see class Program in surfaces.py.
use std::collections::HashMap;
use std::io::{stdin, BufRead};

use firn::{forms, parse_time, Changes, Fields, Generator, Id, Result, Scheme};

type Settings<'a> = HashMap<&'a str, &'a str>;

fn changed(name: &str, settings: &Settings) -> Result<Scheme> {
    let digits = settings.get("digits").map(|digits| digits.parse().expect("digits are a number"));
    Scheme::changed(
        name,
        Changes { epoch: settings.get("epoch").copied(), bits: settings.get("bits").copied(), digits },
    )
}

fn written(id: &Id, form: Option<&&str>, prefix: Option<&str>) -> Result<String> {
    match (form, prefix) {
        (None, Some(prefix)) => id.prefixed(prefix),
        (None, None) => Ok(id.to_string()),
        (Some(form), _) => id.format(form),
    }
}

fn parse(scheme: &Scheme, text: &str, form: Option<&&str>) -> Result<Id> {
    form.map_or_else(|| scheme.parse(text), |form| scheme.parse_as(text, form))
}

fn show(text: &str, settings: &Settings) -> Result<Vec<String>> {
    let shown = match settings.get("scheme") {
        None => firn::show(text)?,
        Some(name) => {
            let scheme = changed(name, settings)?;
            scheme.show(&parse(&scheme, text, settings.get("from"))?)?
        }
    };
    Ok(vec![shown.scheme, shown.id.to_string(), shown.time_text.unwrap_or_default()])
}

fn convert(text: &str, settings: &Settings) -> Result<String> {
    let (scheme, to) = (Scheme::new(settings["scheme"])?, settings["to"]);
    let id = parse(&scheme, text, settings.get("from"))?;
    if forms().contains(&to) {
        return id.format(to);
    }
    Ok(scheme.convert(&id, &Scheme::new(to)?)?.to_string())
}

fn answer(verb: &str, name: &str, settings: &Settings, mut fields: Vec<(&str, &str)>) -> Result<Vec<String>> {
    let form = settings.get("as");
    let mut prefix = None;
    if let Some(at) = fields.iter().position(|(field, _)| *field == "prefix") {
        if changed(name, settings)?.form() == "typeid" {
            prefix = Some(fields.remove(at).1);
        }
    }
    let fields: Fields = fields.into_iter().collect();
    match verb {
        "pack" => Ok(vec![written(&changed(name, settings)?.pack(&fields)?, form, prefix)?]),
        "span" => {
            let times = parse_time(settings["from"])?..parse_time(settings["to"])?;
            let (least, greatest) = changed(name, settings)?.range_with(times, &fields)?;
            Ok(vec![written(&least, form, prefix)?, written(&greatest, form, prefix)?])
        }
        "show" => show(name, settings),
        "convert" => Ok(vec![convert(name, settings)?]),
        "schemes" => {
            let scheme = changed(name, settings)?;
            Ok(vec![scheme.layout(), scheme.bits().to_string(), scheme.form().to_string()])
        }
        "digest" => Ok(vec![Scheme::new(name)?.digest(settings["namespace"], settings["name"])?.to_string()]),
        _ => Ok(vec![Generator::open(name)?.next()?.to_string()]),
    }
}

fn main() {
    for line in stdin().lock().lines() {
        let line = line.expect("a request");
        let mut words = line.split('\t');
        let (verb, name) = (words.next().unwrap(), words.next().unwrap());
        let settings =
            words.by_ref().take_while(|word| !word.is_empty()).filter_map(|word| word.split_once('=')).collect();
        let fields = words.filter_map(|word| word.split_once('=')).collect();
        match answer(verb, name, &settings, fields) {
            Ok(values) => println!("good\t{}", values.join("\t")),
            Err(error) => println!("bad\t{}\t{}", error.name(), error.text()),
        }
    }
}
