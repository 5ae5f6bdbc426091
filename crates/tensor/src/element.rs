//! Host types that tensors are made from and read into.

use aludel_ir::DType;

/// A number on the host. `f64` is rounded to f32, `i64` wraps to i32, `u8` becomes u32.
pub trait Element: Copy {
    /// The element type that a tensor of such numbers has.
    const DTYPE: DType;
    /// The 32-bit word that a device keeps.
    fn to_word(self) -> u32;
    /// Reads the word of an element of any type, converted as Rust's `as` does.
    fn from_word(word: u32, dtype: DType) -> Self;
}

fn wide(word: u32, dtype: DType) -> f64 {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => f32::from_bits(word) as f64,
        DType::I32 => word as i32 as f64,
        DType::U32 => word as f64,
        DType::Bool => (word != 0) as u8 as f64,
    }
}

macro_rules! element {
    ($($t:ty, $d:ident, $to:expr, $from:expr);* $(;)?) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$d;
            fn to_word(self) -> u32 {
                let f: fn($t) -> u32 = $to;
                f(self)
            }
            fn from_word(word: u32, dtype: DType) -> Self {
                let f: fn(f64) -> $t = $from;
                f(wide(word, dtype))
            }
        }
    )*};
}
element! {
    f32, F32, |x| x.to_bits(), |x| x as f32;
    f64, F32, |x| (x as f32).to_bits(), |x| x;
    i32, I32, |x| x as u32, |x| x as i32;
    i64, I32, |x| x as i32 as u32, |x| x as i64;
    u32, U32, |x| x, |x| x as u32;
    u8, U32, |x| x as u32, |x| x as u8;
    bool, Bool, |x| x as u32, |x| x != 0.0;
}
