// SPDX-License-Identifier: MIT
//! serde, with the feature `serde`. Formats for people, such as JSON, get text; binary formats get bytes.
//!
//! [`Id`] and [`Uuid`] are `Serialize`; [`Uuid`] is `Deserialize`. The text of another ID does not say its scheme, so a
//! [`Scheme`] reads it: it is a `DeserializeSeed`. For numbers there is [`decimal`].
use std::fmt;

use ::serde::de::{DeserializeSeed, Deserializer, Error as _, Visitor};
use ::serde::ser::Serializer;
use ::serde::{Deserialize, Serialize};

use crate::{Id, Scheme, Uuid};

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(&self.to_bytes())
        }
    }
}

impl Serialize for Uuid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_bytes(self.as_bytes())
        }
    }
}

/// Text, or the bytes of an ID.
struct Read<T, B> {
    of_text: T,
    of_bytes: B,
}

impl<O, T, B> Visitor<'_> for Read<T, B>
where
    T: FnOnce(&str) -> crate::Result<O>,
    B: FnOnce(&[u8]) -> crate::Result<O>,
{
    type Value = O;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an ID as text or bytes")
    }
    fn visit_str<E: ::serde::de::Error>(self, text: &str) -> Result<O, E> {
        (self.of_text)(text).map_err(E::custom)
    }
    fn visit_bytes<E: ::serde::de::Error>(self, bytes: &[u8]) -> Result<O, E> {
        (self.of_bytes)(bytes).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Uuid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let human = deserializer.is_human_readable();
        let of_bytes = |bytes: &[u8]| {
            let size = || crate::Error::new(firn_sys::FIRN_ERANGE, format!("{} bytes", bytes.len()), "a UUID has 16");
            <[u8; 16]>::try_from(bytes).map(Uuid::from).map_err(|_| size())
        };
        let visitor = Read { of_text: str::parse::<Uuid>, of_bytes };
        if human {
            deserializer.deserialize_str(visitor)
        } else {
            deserializer.deserialize_bytes(visitor)
        }
    }
}

/// Reads an ID of this scheme, from text or bytes.
impl<'de> DeserializeSeed<'de> for &Scheme {
    type Value = Id;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Id, D::Error> {
        let human = deserializer.is_human_readable();
        let visitor = Read { of_text: |text: &str| self.parse(text), of_bytes: |bytes: &[u8]| self.from_bytes(bytes) };
        if human {
            deserializer.deserialize_str(visitor)
        } else {
            deserializer.deserialize_bytes(visitor)
        }
    }
}

/// A `u64` as a string of digits in formats for people: readers such as JavaScript round greater numbers than 2^53.
/// For `#[serde(with = "firn::serde::decimal")]`.
pub mod decimal {
    use super::*;

    /// Writes a string of digits, or a number in a binary format.
    pub fn serialize<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(number)
        } else {
            serializer.serialize_u64(*number)
        }
    }

    /// Reads what `serialize` writes.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        if !deserializer.is_human_readable() {
            return u64::deserialize(deserializer);
        }
        let text = String::deserialize(deserializer)?;
        if text.starts_with('+') {
            return Err(D::Error::custom("a number of digits only is expected"));
        }
        text.parse().map_err(D::Error::custom)
    }
}
