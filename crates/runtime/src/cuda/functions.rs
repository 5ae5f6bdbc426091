//! Libraries that are found when the program runs, as tables of their functions.

/// Declares the table of functions and how it is filled.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($arg:ty),*) -> $out:ty;)*) => {
        pub struct Library {
            $(pub $field: unsafe extern "C" fn($($arg),*) -> $out,)*
            /// Holds the code.
            _library: libloading::Library,
        }

        impl Library {
            fn of(library: libloading::Library) -> Option<Self> {
                // SAFETY: the symbols have these signatures in every version of the library that is looked for; the pointers live as
                // long as the library, which is kept beside them.
                unsafe {
                    Some(Library {
                        $($field: *library.get($symbol).ok()?,)*
                        _library: library,
                    })
                }
            }
        }
    };
}

pub(super) use functions;
