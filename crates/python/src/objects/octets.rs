//! What `bytes` holds: bytes that are counted.

use super::memory;
use std::ops::Deref;
use std::rc::Rc;

/// What an object takes beside its bytes.
const HEAD: usize = 40;

/// Bytes that do not change.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Octets(Vec<u8>);

impl Octets {
    pub fn new(bytes: Vec<u8>) -> Rc<Octets> {
        memory::charge(bytes.capacity() + HEAD);
        Rc::new(Octets(bytes))
    }
}

impl Deref for Octets {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl Drop for Octets {
    fn drop(&mut self) {
        memory::release(self.0.capacity() + HEAD);
    }
}
