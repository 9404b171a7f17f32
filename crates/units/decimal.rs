//! Exact conversion of decimal numbers: `"0.3"` times 10^9 is exactly 300,000,000.

use core::fmt;

/// A number and the unit text behind it, as written by a user: `"5.5 Mbit/s"` is `("5.5", "Mbit/s")`.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| !(c.is_ascii_digit() || matches!(c, '.' | '_') || (i == 0 && matches!(c, '+' | '-'))))
        .map_or(text.len(), |(i, _)| i);
    let (number, rest) = text.split_at(end);
    // An exponent belongs to the number ("1e-3 s"); a unit that starts with e does not follow a digit directly.
    let bytes = rest.as_bytes();
    if matches!(bytes.first(), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(1), Some(b'+' | b'-')));
        let digits = bytes[1 + sign..].iter().take_while(|b| b.is_ascii_digit()).count();
        if digits > 0 {
            let cut = end + 1 + sign + digits;
            return Some((&text[..cut], text[cut..].trim_start()));
        }
    }
    if number.bytes().any(|b| b.is_ascii_digit()) { Some((number, rest.trim_start())) } else { None }
}

/// True if an underscore of the number is not between two digits, as TOML asks for in its own numbers.
pub(crate) fn has_stray_underscore(number: &str) -> bool {
    let bytes = number.as_bytes();
    let is_digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    bytes
        .iter()
        .enumerate()
        .any(|(at, &c)| c == b'_' && !(is_digit(at.checked_sub(1)) && is_digit(Some(at + 1))))
}

/// The decimal `number`, without a sign, times `10^power`, if that is an integer that fits; `None` otherwise.
pub(crate) fn scaled(number: &str, power: u32) -> Option<u64> {
    let (mantissa, exponent) = match number.find(['e', 'E']) {
        Some(i) => (&number[..i], number[i + 1..].parse::<i32>().ok()?),
        None => (number, 0),
    };
    if !(-40..=40).contains(&exponent) {
        return None;
    }
    let mut digits: u128 = 0;
    let mut after_point = 0i32;
    let mut seen_point = false;
    for c in mantissa.bytes() {
        match c {
            b'0'..=b'9' => {
                digits = digits.checked_mul(10)?.checked_add(u128::from(c - b'0'))?;
                after_point += i32::from(seen_point);
            }
            b'.' if !seen_point => seen_point = true,
            b'_' => {}
            _ => return None,
        }
    }
    let mut shift = exponent.checked_add(i32::try_from(power).ok()?)?.checked_sub(after_point)?;
    while shift > 0 {
        digits = digits.checked_mul(10)?;
        shift -= 1;
    }
    while shift < 0 {
        if !digits.is_multiple_of(10) {
            return None;
        }
        digits /= 10;
        shift += 1;
    }
    u64::try_from(digits).ok()
}

/// `value / 10^power` as a short exact decimal: `(1500, 3)` is printed as `1.5`. It allocates nothing, since it prints long lists of times.
pub(crate) struct Unscaled(pub u64, pub u32);

impl fmt::Display for Unscaled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self(value, power) = self;
        let divisor = 10u64.pow(power);
        let (mut whole, mut part, mut places) = (value / divisor, value % divisor, power);
        while part > 0 && part.is_multiple_of(10) {
            part /= 10;
            places -= 1;
        }
        // From the last digit to the first.
        let (mut digits, mut at) = ([b'0'; 41], 41);
        if part > 0 {
            for _ in 0..places {
                at -= 1;
                digits[at] += (part % 10) as u8;
                part /= 10;
            }
            at -= 1;
            digits[at] = b'.';
        }
        loop {
            at -= 1;
            digits[at] += (whole % 10) as u8;
            whole /= 10;
            if whole == 0 {
                break;
            }
        }
        f.write_str(core::str::from_utf8(&digits[at..]).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn numbers_are_split_from_units() {
        assert_eq!(split("5.5 Mbit/s"), Some(("5.5", "Mbit/s")));
        assert_eq!(split("20us"), Some(("20", "us")));
        assert_eq!(split(" -3 dBm "), Some(("-3", "dBm")));
        assert_eq!(split("1e-3 s"), Some(("1e-3", "s")));
        assert_eq!(split("7"), Some(("7", "")));
        assert_eq!(split("fast"), None);
        assert_eq!(split(""), None);
    }

    #[test]
    fn scaling_is_exact_or_refused() {
        assert_eq!(scaled("0.3", 9), Some(300_000_000));
        assert_eq!(scaled("0.0000000003", 9), None, "finer than the unit");
        assert_eq!(scaled("1e3", 0), Some(1000));
        assert_eq!(scaled("1.50e-1", 2), Some(15));
        assert_eq!(scaled("18446744073709551616", 0), None, "does not fit");
        assert_eq!(scaled("-1", 0), None);
        assert_eq!(scaled("+1", 0), None);
        assert_eq!(scaled("1e+3", 0), Some(1000));
        assert_eq!(scaled("1.2.3", 0), None);
    }

    /// The examples of TOML 1.0, "Integer".
    #[test]
    fn underscores_stand_between_digits() {
        for number in ["1_000", "5_349_221", "1_2_3_4_5", "1_0.0_1e-3", "7"] {
            assert!(!has_stray_underscore(number), "{number}");
        }
        for number in ["_1", "1_", "1__0", "1_.5", "1._5", "-_1", "1_e3"] {
            assert!(has_stray_underscore(number), "{number}");
        }
    }

    #[test]
    fn printing_is_the_inverse() {
        assert_eq!(Unscaled(1500, 3).to_string(), "1.5");
        assert_eq!(Unscaled(2_000_000, 6).to_string(), "2");
        assert_eq!(Unscaled(1, 3).to_string(), "0.001");
        assert_eq!(Unscaled(0, 3).to_string(), "0");
        assert_eq!(Unscaled(7, 0).to_string(), "7");
        assert_eq!(Unscaled(1_000_000_010, 9).to_string(), "1.00000001");
        assert_eq!(Unscaled(u64::MAX, 0).to_string(), "18446744073709551615");
        assert_eq!(Unscaled(u64::MAX, 19).to_string(), "1.8446744073709551615");
    }
}
