//! As much of Tcl as a list of commands needs: commands, words, and variables without computed names.

/// The commands of a line: between semicolons, without a comment. Semicolons in quotes, brackets and braces separate nothing.
pub(crate) fn commands(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() || rest.starts_with('#') {
            return out;
        }
        let end = ends(rest, |c| c == ';').next().unwrap_or(rest.len());
        let (command, tail) = rest.split_at(end);
        let command = command.trim_end();
        if !command.is_empty() {
            out.push(command);
        }
        rest = tail.strip_prefix(';').unwrap_or(tail);
    }
}

/// The words of a command. A text in quotes, brackets or braces is one word.
pub(crate) fn words(command: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let spaces = ends(command, char::is_whitespace).map(Some).chain([None]);
    for end in spaces {
        let word = command.get(start..end.unwrap_or(command.len())).unwrap_or_default().trim();
        if !word.is_empty() {
            out.push(word);
        }
        start = end.unwrap_or(command.len());
    }
    out
}

/// The places of characters outside of quotes, brackets and braces. A bracket that nothing opens closes nothing.
fn ends(text: &str, separates: impl Fn(char) -> bool) -> impl Iterator<Item = usize> {
    let (mut depth, mut quoted, mut escaped) = (0u32, false, false);
    text.char_indices().filter_map(move |(at, c)| {
        let inside = depth > 0 || quoted;
        let plain = !escaped;
        escaped = c == '\\' && plain;
        match c {
            '"' if plain && depth == 0 => quoted = !quoted,
            '[' | '{' if plain && !quoted => depth += 1,
            ']' | '}' if plain && !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        (!inside && separates(c)).then_some(at)
    })
}

/// A word without the quotes or braces around it.
pub(crate) fn inside(word: &str) -> &str {
    let between = |open, close| word.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
    between('"', '"').or_else(|| between('{', '}')).unwrap_or(word).trim()
}

/// The command in brackets of a word such as `[new Agent/TCP]`, in words.
pub(crate) fn bracket(word: &str) -> Vec<&str> {
    words(word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or_default())
}

/// The name of a variable in a word such as `$n0` or `$udp_(3)`; `None` if the word is none, or if a variable is in its name.
pub(crate) fn variable(word: &str) -> Option<&str> {
    word.strip_prefix('$').filter(|name| is_name(name))
}

/// True if a text is the name of a variable, computed from nothing.
pub(crate) fn is_name(name: &str) -> bool {
    let (plain, index) = name.split_once('(').map_or((name, None), |(plain, index)| (plain, Some(index)));
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let index = index.is_none_or(|index| {
        index
            .strip_suffix(')')
            .is_some_and(|i| !i.is_empty() && i.chars().all(|c| word(c) || "-.,".contains(c)))
    });
    !plain.is_empty() && plain.chars().all(word) && index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_end_at_semicolons() {
        assert_eq!(commands("  $n0 set X_ 1; $n0 set Y_ 2 ;# left"), ["$n0 set X_ 1", "$n0 set Y_ 2"]);
        assert_eq!(commands("$ns at 1 \"$a start; $b start\""), ["$ns at 1 \"$a start; $b start\""]);
        assert_eq!(commands("# all; of it"), [""; 0]);
        assert_eq!(commands("}; ]; x"), ["}", "]", "x"]);
        assert_eq!(commands(";;"), [""; 0]);
    }

    #[test]
    fn words_are_whole_in_quotes_and_brackets() {
        assert_eq!(words("set tcp [new  Agent/TCP]"), ["set", "tcp", "[new  Agent/TCP]"]);
        assert_eq!(words("$ns at 1.0 \"$n0 setdest 1 2 3\""), ["$ns", "at", "1.0", "\"$n0 setdest 1 2 3\""]);
        assert_eq!(words("a {b {c d}} \"e \\\" f\" g"), ["a", "{b {c d}}", "\"e \\\" f\"", "g"]);
        assert_eq!(inside("\" x y \""), "x y");
        assert_eq!(bracket("[$ns node]"), ["$ns", "node"]);
        assert_eq!(words("[ open"), ["[ open"]);
    }

    #[test]
    fn a_variable_has_a_name_that_stands() {
        for (word, name) in [
            ("$n0", Some("n0")),
            ("$node_(3)", Some("node_(3)")),
            ("$n(a,b)", Some("n(a,b)")),
            ("$node_($i)", None),
            ("$", None),
            ("n0", None),
            ("$n()", None),
            ("$n(1", None),
            ("$[x]", None),
        ] {
            assert_eq!(variable(word), name, "{word}");
        }
    }
}
