//! Users that may read a file of keys.
//!
//! Accepted is a file of root or of the process's own user that nobody else may write, and that a group may read only if it is one of the
//! process's own. A service manager may hand a file of root over by a list of access (POSIX ACL, as systemd's `LoadCredential=` does); the
//! mode's bits of the group are the mask of that list then, and its entries are judged one by one.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;

use rustix::io::Errno;

/// The right to read, in a mode and in an entry of a list.
const READ: u32 = 4;

/// The first number of a list of access, and the length of an entry.
const VERSION: [u8; 4] = 2_u32.to_le_bytes();
const ENTRY: usize = 8;

/// Most bytes of a list: 64 entries.
const LARGEST: usize = 4 + 64 * ENTRY;

/// The user and the groups of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    pub user: u32,
    pub groups: Vec<u32>,
}

impl Process {
    /// This one: effective user, effective and supplementary groups.
    pub(super) fn current() -> Self {
        let mut groups = vec![rustix::process::getegid().as_raw()];
        groups.extend(rustix::process::getgroups().unwrap_or_default().iter().map(|group| group.as_raw()));
        Self { user: rustix::process::geteuid().as_raw(), groups }
    }
}

/// Rights at a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rights {
    pub owner: u32,
    pub group: u32,
    pub mode: u32,
    /// The list of access, as the kernel gives it; none: the mode says all.
    pub list: Option<Vec<u8>>,
}

impl Rights {
    /// Those of an open file.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let data = file.metadata()?;
        let (owner, group, mode) = (data.uid(), data.gid(), data.mode() & 0o7777);
        // A list gives no more than these bits.
        let list = if mode & 0o070 == 0 { None } else { list_of(file)? };
        Ok(Self { owner, group, mode, list })
    }

    /// The fault of these rights, as the thing that was expected and the one that was found; none: the file is accepted.
    pub(super) fn fault(&self, process: &Process) -> Option<(&'static str, String)> {
        let Self { owner, group, mode, list } = self;
        if *owner != 0 && *owner != process.user {
            let expected = "a file of root or of the user that runs this program";
            return Some((expected, format!("one of user {owner}")));
        }
        if mode & 0o037 != 0 {
            let expected = "a file that only its owner may write, and no others may read";
            let remedy = "chmod 600, and replace the keys if others may have read them";
            return Some((expected, format!("mode {mode:04o}: {remedy}")));
        }
        let expected = "a file that, beside its owner, only a group of this process may read";
        let stranger =
            |group: &u32| (*mode & 0o040 != 0 && !process.groups.contains(group)).then_some(*group);
        let of_group = |group: u32| {
            let remedy = "chmod 600, or run this program as a member";
            (expected, format!("mode {mode:04o} of group {group}: {remedy}"))
        };
        match list {
            None => stranger(group).map(of_group),
            Some(list) => match readers(list) {
                None => Some((expected, "a list of access that is none".to_string())),
                Some(readers) => readers.iter().find_map(|reader| match reader {
                    Reader::Group => stranger(group).map(of_group),
                    Reader::NamedGroup(group) => stranger(group).map(of_group),
                    Reader::User(user) if *user == 0 || *user == process.user => None,
                    Reader::User(user) => {
                        Some((expected, format!("a list of access by which user {user} may")))
                    }
                }),
            },
        }
    }
}

fn list_of(file: &File) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; LARGEST];
    match rustix::fs::fgetxattr(file, "system.posix_acl_access", &mut bytes[..]) {
        Ok(length) => {
            bytes.truncate(length);
            Ok(Some(bytes))
        }
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A user or a group that may read by a list of access, beside owner and others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Group,
    User(u32),
    NamedGroup(u32),
}

/// The readers of a list; none if it is not one.
fn readers(list: &[u8]) -> Option<Vec<Reader>> {
    const USER: u16 = 2;
    const GROUP_OF_FILE: u16 = 4;
    const GROUP: u16 = 8;
    let (entries, rest) = list.strip_prefix(&VERSION)?.as_chunks::<ENTRY>();
    let mut readers = Vec::new();
    for &[tag, tag_high, rights, _, a, b, c, d] in entries {
        let id = u32::from_le_bytes([a, b, c, d]);
        if u32::from(rights) & READ == 0 {
            continue;
        }
        match u16::from_le_bytes([tag, tag_high]) {
            USER => readers.push(Reader::User(id)),
            GROUP_OF_FILE => readers.push(Reader::Group),
            GROUP => readers.push(Reader::NamedGroup(id)),
            // Owner, mask and others are in the mode.
            _ => {}
        }
    }
    rest.is_empty().then_some(readers)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: u32 = 120;
    const OTHER: u32 = 121;

    /// The fault of a file for a service of user and group 120 that is a member of group 7, too; empty: accepted.
    fn fault(owner: u32, group: u32, mode: u32, list: Option<&[(u16, u16, u32)]>) -> String {
        let list = list.map(|entries| {
            let mut bytes = VERSION.to_vec();
            for (tag, rights, id) in entries {
                bytes.extend(tag.to_le_bytes());
                bytes.extend(rights.to_le_bytes());
                bytes.extend(id.to_le_bytes());
            }
            bytes
        });
        let process = Process { user: SERVICE, groups: vec![SERVICE, 7] };
        let rights = Rights { owner, group, mode, list };
        rights.fault(&process).map(|(expected, found)| format!("{expected}; {found}")).unwrap_or_default()
    }

    #[test]
    fn files_of_root_for_a_group_of_the_process_are_accepted() {
        for owner in [0, SERVICE] {
            for mode in [0o600, 0o400] {
                assert_eq!(fault(owner, OTHER, mode, None), "", "nobody else reads {mode:o}");
            }
            for (mode, group) in [(0o640, SERVICE), (0o440, SERVICE), (0o640, 7)] {
                assert_eq!(fault(owner, group, mode, None), "", "{mode:o}");
            }
        }
    }

    #[test]
    fn all_other_files_are_refused() {
        for mode in [0o600, 0o640] {
            assert!(fault(OTHER, SERVICE, mode, None).ends_with("one of user 121"));
        }
        for mode in [0o604, 0o602, 0o601, 0o620, 0o660, 0o650, 0o610, 0o644, 0o666, 0o777] {
            for owner in [0, SERVICE] {
                let found = fault(owner, SERVICE, mode, None);
                assert!(found.contains(&format!("mode {mode:04o}: chmod 600")), "{mode:o}: {found}");
            }
        }
        for mode in [0o640, 0o440] {
            for group in [OTHER, 0] {
                let expected = format!("mode {mode:04o} of group {group}: chmod 600");
                assert!(fault(0, group, mode, None).contains(&expected));
            }
        }
    }

    /// Entries: owner 1, user 2, the file's group 4, group 8, mask 16, others 32.
    #[test]
    fn lists_of_access_are_judged_by_their_entries() {
        let none = u32::MAX;
        let list = |more: (u16, u16, u32), of_group: u16| {
            [(1, 4, none), more, (4, of_group, none), (16, 4, none), (32, 0, none)]
        };
        // A credential of systemd: a file of root, and the user of the service may read it.
        assert_eq!(fault(0, 0, 0o440, Some(&list((2, 4, SERVICE), 0))), "");
        assert_eq!(fault(0, SERVICE, 0o440, Some(&list((8, 4, 7), 4))), "");
        assert_eq!(fault(0, 0, 0o440, Some(&list((2, 0, OTHER), 0))), "", "no right to read");
        for (entries, found) in [
            (list((2, 4, OTHER), 0), "a list of access by which user 121 may"),
            (list((8, 4, OTHER), 0), "mode 0440 of group 121: "),
            (list((2, 4, SERVICE), 4), "mode 0440 of group 0: "),
        ] {
            let fault = fault(0, 0, 0o440, Some(&entries));
            assert!(fault.contains(found), "{fault}");
        }
        assert!(
            fault(0, 0, 0o460, Some(&list((2, 6, SERVICE), 0))).contains("mode 0460"),
            "the mask has more"
        );
        let process = Process { user: SERVICE, groups: vec![SERVICE] };
        for bytes in [vec![], vec![1, 0, 0, 0], vec![2, 0, 0, 0, 1]] {
            let rights = Rights { owner: 0, group: SERVICE, mode: 0o440, list: Some(bytes) };
            assert!(rights.fault(&process).unwrap().1.contains("list of access that is none"));
        }
    }
}
