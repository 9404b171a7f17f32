/// A small integer whose type keeps it inside its field, so that a header holding it is always encodable.
macro_rules! bounded {
    ($(#[$meta:meta])* $name:ident($inner:ty) <= $max:expr) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($inner);

        impl $name {
            /// The largest value that the field can carry.
            pub const MAX: Self = Self($max);

            /// `None` where `value` is larger than [`Self::MAX`].
            pub const fn new(value: $inner) -> Option<Self> {
                if value <= Self::MAX.0 { Some(Self(value)) } else { None }
            }

            /// `value`, or [`Self::MAX`] where it is larger.
            pub const fn saturating(value: $inner) -> Self {
                if value <= Self::MAX.0 { Self(value) } else { Self::MAX }
            }

            /// The value, in the unit of the type.
            pub const fn get(self) -> $inner {
                self.0
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&self.0, f)
            }
        }
    };
}
