// SPDX-License-Identifier: MIT
//! Proves that src/lib.rs agrees with the headers: it is translated to C, and the C compiler compares each declaration with
//! the header's. No name of the header may be missing.
use std::{collections::HashSet, env, fs, path::Path, process::Command};

/// Without comments, on one line.
fn plain(text: &str, comment: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split("/*").enumerate() {
        let code = if i == 0 { part } else { part.split_once("*/").expect("a comment ends").1 };
        for line in code.lines() {
            out.push_str(line.split(comment).next().unwrap_or(""));
            out.push('\n');
        }
    }
    let one_line = out.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line.replace("( ", "(").replace("< ", "<").replace(", )", ")").replace(", >", ">")
}

/// The C declaration of `name` with a type of Rust.
fn declared(of: &str, name: &str, constant: bool) -> String {
    let qualifier = if constant { "const " } else { "" };
    if let Some(inner) = of.strip_prefix("*mut ") {
        return declared(inner, &format!("*{qualifier}{name}"), false);
    }
    if let Some(inner) = of.strip_prefix("*const ") {
        return declared(inner, &format!("*{qualifier}{name}"), true);
    }
    if let Some(array) = of.strip_prefix('[') {
        let (item, count) = array.trim_end_matches(']').split_once("; ").expect("an array has a length");
        let name = if name.starts_with('*') { format!("({name})") } else { name.to_string() };
        return declared(item, &format!("{name}[{count}]"), constant);
    }
    if let Some(function) = of.strip_prefix("Option<unsafe extern \"C\" fn") {
        return signature(function.trim_end_matches('>'), &format!("(*{name})"));
    }
    let base = match of {
        "c_char" => "char",
        "c_int" => "int",
        "c_void" => "void",
        "usize" => "size_t",
        "bool" => "bool",
        "i16" | "i32" | "i64" => return format!("{qualifier}{}_t {name}", of.replace('i', "int")),
        "u8" | "u16" | "u32" | "u64" => return format!("{qualifier}{}_t {name}", of.replace('u', "uint")),
        "firn_visit" => "firn_visit *",
        _ => of,
    };
    format!("{qualifier}{base} {name}")
}

/// The C prototype of "(a: T, b: T) -> R".
fn signature(of: &str, name: &str) -> String {
    let (arguments, result) = of.split_once(')').expect("a list of arguments ends");
    let arguments: Vec<_> = arguments
        .trim_matches(|c| c == '(' || c == ' ')
        .split(',')
        .filter(|one| !one.trim().is_empty())
        .map(|one| one.trim().split_once(": ").map_or("...".to_string(), |(_, of)| declared(of, "", false)))
        .collect();
    let arguments = if arguments.is_empty() { "void".to_string() } else { arguments.join(", ") };
    let result = result.trim_start_matches(" ->").trim();
    declared(if result.is_empty() { "c_void" } else { result }, &format!("{name}({arguments})"), false)
}

/// The texts after each `mark`, up to `end`.
fn each<'a>(text: &'a str, mark: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(mark).skip(1).map(move |part| part.split(end).next().unwrap_or(""))
}

fn names(text: &str) -> HashSet<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.to_ascii_lowercase().starts_with("firn_"))
        .collect()
}

#[test]
fn every_declaration_agrees_with_the_header() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = env::var("FIRN_INCLUDE").map_or_else(|_| here.join("../../../include"), |folder| folder.into());
    let header: String = ["firn/firn.h", "firn/recognize.h"]
        .map(|name| plain(&fs::read_to_string(include.join(name)).expect("the header is readable"), "//"))
        .concat();
    let source = plain(&fs::read_to_string(here.join("src/lib.rs")).expect("lib.rs is readable"), "//");
    assert!(header.contains(&format!("#define FIRN_VERSION \"{}\"", firn_sys::FIRN_VERSION)));

    let mut missing: Vec<_> = names(&header).difference(&names(&source)).copied().collect();
    missing.sort_unstable();
    let no_declarations = "FIRN_API FIRN_CURES FIRN_CURE_ FIRN_E FIRN_ERRORS FIRN_FIRN_H FIRN_RECOGNIZE_H FIRN_X \
                           firn_form firn_hash firn_node_rule firn_role firn_sorts firn_start firn_sure";
    assert_eq!(missing.join(" "), no_declarations, "names of the headers that src/lib.rs lacks");

    let mut c = vec!["#include <firn/recognize.h>\n#include <string.h>".to_string()];
    let mut counts = [0; 4];
    let functions = source.replace("[c_char; ", "[c_char@"); // the only arrays in arguments
    for one in each(&functions, "pub fn ", ";") {
        let one = one.replace('@', "; ");
        let (name, rest) = one.split_once('(').expect("a function has arguments");
        c.push(format!("{};", signature(rest, name)));
        counts[0] += 1;
    }
    assert_eq!(each(&source, "#[repr(C)]", "{").count(), each(&source, "pub struct ", "{").count());
    for one in each(&source, "pub struct ", "}") {
        let (name, body) = one.split_once(" {").expect("a struct has a body");
        let fields: Vec<_> = each(body, "pub ", ", pub ")
            .filter_map(|field| field.trim().trim_end_matches(',').split_once(": "))
            .map(|(field, of)| (field.trim_end_matches('_'), of))
            .collect();
        let body =
            fields.iter().map(|(field, of)| format!("{}; ", declared(of, field, false))).collect::<Vec<_>>().concat();
        if fields.is_empty() {
            c.push(format!("typedef struct {name} {name};")); // opaque
            continue;
        }
        c.push(format!("struct rust_{name} {{ {body}}};"));
        c.push(format!("_Static_assert(sizeof(struct rust_{name}) == sizeof({name}), \"size of {name}\");"));
        for (field, _) in fields {
            c.push(format!(
                "_Static_assert(offsetof(struct rust_{name}, {field}) == offsetof({name}, {field}) && \
                 __builtin_types_compatible_p(__typeof__(((struct rust_{name} *)0)->{field}), \
                 __typeof__((({name} *)0)->{field})), \"{name}.{field}\");"
            ));
            counts[1] += 1;
        }
    }
    for one in each(&source, "pub const ", ";").filter(|one| one.starts_with("FIRN_") && !one.contains('"')) {
        let (name, rest) = one.split_once(": ").expect("a constant has a type");
        let (of, value) = rest.split_once(" = ").expect("a constant has a value");
        c.push(format!("_Static_assert({name} == (({}){value}), \"{name}\");", declared(of, "", false)));
        counts[2] += 1;
    }
    c.push("int main(void) { return 0".into());
    macro_rules! check {
        ($($kind:ident $name:ident = $value:expr, $text:expr;)*) => {$(
            c.push(format!(" | ({} != {}) | (strcmp(firn_strerror({}), {:?}) != 0)", stringify!($name), $value, $value, $text));
            counts[3] += 1;
        )*};
    }
    firn_sys::firn_errors!(check);
    c.push("; }".into());
    let cures = names(&source).iter().filter(|name| name.starts_with("FIRN_CURE_")).count() - 1; // without NONE
    assert_eq!(header.matches("X(").count() - 2, counts[3] + cures, "errors and cures of firn.h");
    assert!(counts[0] > 80 && counts[1] > 100 && counts[2] > 40, "{counts:?}");

    let folder = env::temp_dir().join(format!("firn-sys-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    let (file, program) = (folder.join("check.c"), folder.join("check"));
    fs::write(&file, c.join("\n")).expect("a file can be written");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut command = Command::new(compiler);
    command
        .args(["-std=gnu17", "-Wall", "-Werror", "-Wno-array-parameter"])
        .arg(&file)
        .arg("-o")
        .arg(&program)
        .arg("-I")
        .arg(&include);
    if let Ok(library) = env::var("FIRN_LIB") {
        command.arg("-L").arg(&library).arg(format!("-Wl,-rpath,{library}"));
    }
    let compiled = command.arg("-lfirn").output().expect("a C compiler runs");
    let matching = compiled.status.success() && Command::new(&program).status().expect("it runs").success();
    fs::remove_dir_all(&folder).expect("the folder can be removed");
    assert!(matching, "{}", String::from_utf8_lossy(&compiled.stderr));
}
