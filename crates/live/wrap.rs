//! Lines for a terminal of eighty columns. Lines of a log stay whole.

/// Most characters of a line.
const WIDTH: usize = 80;

/// Words that stay together at the beginning: the program, file and line, the key.
const HEAD: usize = 3;

/// A text with its long lines broken at spaces; continuations begin with two. Up to three words at the beginning that end in a colon
/// stay on the first line: programs find file, line and key there.
#[must_use]
pub fn wrapped(text: &str) -> String {
    text.lines().map(wrapped_line).collect::<Vec<_>>().join("\n")
}

fn wrapped_line(line: &str) -> String {
    if line.chars().count() <= WIDTH {
        return line.to_string();
    }
    let (mut found, mut used, mut in_head) = (String::new(), 0, true);
    for (at, word) in line.split(' ').enumerate() {
        let length = word.chars().count();
        in_head &= at < HEAD && word.ends_with(':');
        if used > 0 && !in_head && used + 1 + length > WIDTH {
            found.push_str("\n  ");
            used = 2;
        } else if !found.is_empty() {
            found.push(' ');
            used += 1;
        }
        found.push_str(word);
        used += length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_spaces() {
        let text = format!("short  one\n{}", ["twelve bytes"; 12].join(" "));
        let lines: Vec<String> = wrapped(&text).lines().map(str::to_string).collect();
        assert_eq!(lines[0], "short  one");
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:#?}");
        assert!(lines[2].starts_with("  twelve") || lines[2].starts_with("  bytes"));
        assert_eq!(lines[1..].join(" ").split_whitespace().count(), 24, "no word is lost");
        // A word that is longer than a line is not broken.
        let long = "x".repeat(100);
        assert_eq!(wrapped(&format!("a {long} b")), format!("a\n  {long}\n  b"));
    }

    #[test]
    fn file_line_and_key_stay_together() {
        let head = format!("airfaird: /etc/{}:12: radio.wlan0.rate:", "folder/".repeat(12));
        let text = wrapped(&format!("{head} 54: expected a rate such as 54 Mbit/s"));
        assert_eq!(text, format!("{head}\n  54: expected a rate such as 54 Mbit/s"));
    }
}
