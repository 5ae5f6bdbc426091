//! What a client's message will take in memory, known before it does: numbers of an order are one byte each on the wire, and four here.
//!
//! The same fields as in [`crate::remote`], read without keeping anything.

use crate::Pane;
use aludel_ir::DType;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;

#[derive(Deserialize)]
enum Message<'a> {
    Hello,
    #[serde(borrow)]
    Create(Job<'a>),
}

/// As [`crate::remote::Job`].
#[expect(dead_code, reason = "read to get past them")]
#[derive(Deserialize)]
struct Job<'a>(&'a str, u32, Pane, &'a str, #[serde(borrow)] Count<Feed<'a>>, u32, #[serde(borrow)] Count<Tensor<'a>>, Count<u32>, u32);

/// As [`crate::remote::Feed`].
#[expect(dead_code, reason = "read to get past them")]
#[derive(Deserialize)]
enum Feed<'a> {
    #[serde(borrow)]
    State(Tensor<'a>),
    Constant(Tensor<'a>),
    Rows(u32),
}

/// As [`crate::remote::TensorData`].
#[expect(dead_code, reason = "read to get past them")]
#[derive(Deserialize)]
struct Tensor<'a>(DType, Count<u32>, &'a [u8]);

/// How many elements a list has.
struct Count<T>(u64, PhantomData<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Count<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Counting<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Counting<T> {
            type Value = u64;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<u64, A::Error> {
                let mut count = 0;
                while list.next_element::<T>()?.is_some() {
                    count += 1;
                }
                Ok(count)
            }
        }
        deserializer.deserialize_seq(Counting(PhantomData::<T>)).map(|n| Count(n, PhantomData))
    }
}

/// Bytes that a [`crate::remote::ClientMessage`] takes beside those that it comes in; 0 for what is none.
pub fn unpacked(bytes: &[u8]) -> u64 {
    match postcard::from_bytes(bytes) {
        // A list grows by doubling.
        Ok(Message::Create(Job(.., order, _))) => order.0.saturating_mul(2 * size_of::<u32>() as u64),
        Ok(Message::Hello) | Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode;
    use crate::remote::{ClientMessage, Feed, Job, REMOTE_VERSION, TensorData};

    #[test]
    fn orders_are_weighed_before_they_are_read() {
        let tensor = || TensorData { dtype: DType::F32, shape: vec![2, 300], bytes: vec![1; 2400] };
        let job = |order| Job {
            name: "a job".into(),
            device: 300,
            pane: Pane::Compiled,
            graph: "graph g() {}".into(),
            feeds: vec![Feed::State(tensor()), Feed::Rows { column: 1 }, Feed::Constant(tensor())],
            loss: 200,
            columns: vec![tensor(), tensor()],
            order,
            batch: 1000,
        };
        for n in [0, 1, 1000] {
            let bytes = encode(&ClientMessage::Create(Box::new(job(vec![700; n])))).unwrap();
            assert_eq!(unpacked(&bytes), 8 * n as u64);
            assert_eq!(unpacked(&bytes[..bytes.len() - 1]), 0, "it is no message");
        }
        for other in [ClientMessage::Hello { version: REMOTE_VERSION, token: None, resume: None }, ClientMessage::Run { steps: Some(7) }] {
            assert_eq!(unpacked(&encode(&other).unwrap()), 0);
        }
    }
}
