//! Files of keys.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::PathBuf;

use airfair_live::messages::Keys;

const A: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const B: &str = "FFeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";

fn error(text: &str) -> String {
    let error = Keys::parse(text, "keys.txt").expect_err("refused").to_string();
    assert!(!error.contains("0102") && !error.contains("eedd"), "{error}");
    error
}

#[test]
fn lines_of_keys() {
    let text = format!("# keys of the mesh\n\n2027 {A} # signs\r\n\t2026-b_.  {B}\n");
    let keys = Keys::parse(&text, "keys.txt").expect("two keys");
    assert_eq!(keys.names().collect::<Vec<_>>(), ["2027", "2026-b_."]);
    assert_eq!(format!("{keys:?}"), r#"["2027", "2026-b_."]"#);
}

#[test]
fn mistakes_are_named_by_line_and_quote_nothing() {
    assert_eq!(error(""), "keys.txt: expected 1 to 4 keys, found none");
    assert_eq!(error("# nothing"), "keys.txt: expected 1 to 4 keys, found none");
    let fields = "expected a name and hexadecimal digits, separated by a space, found";
    assert_eq!(error(&format!("\n{A}")), format!("keys.txt:2: {fields} 1 fields"));
    assert_eq!(error(&format!("a {A} {A}")), format!("keys.txt:1: {fields} 3 fields"));
    let name = "expected a name of 1 to 16 letters, digits, '-', '_' or '.', found";
    assert_eq!(error(&format!("{A} {A}")), format!("keys.txt:1: {name} 64 bytes that are not such a name"));
    assert_eq!(error(&format!("ä {A}")), format!("keys.txt:1: {name} 2 bytes that are not such a name"));
    let size = "expected a secret of 32 to 64 bytes (64 to 128 hexadecimal digits), found";
    assert_eq!(error(&format!("a {}", &A[..62])), format!("keys.txt:1: {size} 31"));
    assert_eq!(error(&format!("a {A}{A}00")), format!("keys.txt:1: {size} more"));
    assert_eq!(
        error(&format!("a {A}0")),
        "keys.txt:1: expected an even number of hexadecimal digits, found 65"
    );
    let digits = "keys.txt:1: expected hexadecimal digits behind the name, found other characters";
    assert_eq!(error(&format!("a {A}+x")), digits);
    assert_eq!(
        error(&format!("a {}", "00".repeat(32))),
        "keys.txt:1: expected random bytes, found the same byte throughout"
    );
    let repeated = error(&format!("a {A}\na {B}"));
    assert_eq!(repeated, "keys.txt:2: expected a name that no other key has, found that of key 1");
    let repeated = error(&format!("a {A}\nb {A}"));
    assert_eq!(repeated, "keys.txt:2: expected a secret that no other key has, found that of key 1");
    let five: String = (0..5).map(|at| format!("k{at} {A}{at}{at}\n")).collect();
    assert_eq!(error(&five), "keys.txt: expected 1 to 4 keys, found more");
    let four: String = (0..4).map(|at| format!("k{at} {A}{at}{at}\n")).collect();
    assert!(Keys::parse(&four, "").is_ok());
}

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!(
            "airfair-keys-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        fs::create_dir_all(&folder).expect("a folder for files");
        Self(folder)
    }

    fn file(&self, bytes: &[u8], mode: u32) -> PathBuf {
        let path = self.0.join("keys");
        fs::write(&path, bytes).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_that_others_can_read_are_refused() {
    let folder = Folder::new();
    let text = format!("one {A}\n");
    for mode in [0o600, 0o400] {
        assert!(Keys::read(&folder.file(text.as_bytes(), mode)).is_ok(), "{mode:o}");
        fs::remove_file(folder.0.join("keys")).expect("removed");
    }
    for mode in [0o604, 0o620, 0o602, 0o610, 0o644, 0o666] {
        let path = folder.file(text.as_bytes(), mode);
        let error = Keys::read(&path).expect_err("refused").to_string();
        let expected = format!(
            "{}: expected a file that only its owner may write, and no others may read, found mode {mode:04o}: chmod 600, and replace \
             the keys if others may have read them",
            path.display()
        );
        assert_eq!(error, expected);
    }
    let path = folder.file(text.as_bytes(), 0o640);
    assert!(Keys::read(&path).is_ok(), "a group of this process");
    if rustix::process::geteuid().is_root() && chown(&path, None, Some(12_345)).is_ok() {
        let error = Keys::read(&path).expect_err("refused").to_string();
        let expected = "expected a file that, beside its owner, only a group of this process may read, found mode 0640 of group 12345: ";
        assert!(error.contains(expected), "{error}");
    }
    fs::remove_file(&path).expect("removed");
    let path = folder.file(text.as_bytes(), 0o600);
    let link = folder.0.join("link");
    symlink(&path, &link).expect("a link");
    assert!(Keys::read(&link).is_ok(), "the file behind a link counts");
    let error = Keys::read(&folder.0).expect_err("refused").to_string();
    assert!(error.ends_with("expected a regular file, found another kind of file"), "{error}");
    let error = Keys::read(&folder.0.join("none")).expect_err("refused").to_string();
    assert!(error.contains("none: expected a file of keys that can be read, found No such file"), "{error}");
    let mut bytes = b"# comment\n".to_vec();
    bytes.extend([b'\n', 0xff]);
    let error = Keys::read(&folder.file(&bytes, 0o600)).expect_err("refused").to_string();
    assert!(error.ends_with("keys:3: expected text in UTF-8, found other bytes"), "{error}");
    let mut bytes = text.into_bytes();
    bytes.resize(65_536, b'\n');
    assert!(Keys::read(&folder.file(&bytes, 0o600)).is_ok());
    bytes.push(b'\n');
    let error = Keys::read(&folder.file(&bytes, 0o600)).expect_err("refused").to_string();
    assert!(error.ends_with("expected at most 65536 bytes, found more"), "{error}");
    // Only root can give files away; root would read them, and another user could change them.
    let path = folder.file(format!("one {A}\n").as_bytes(), 0o600);
    if rustix::process::geteuid().is_root() && chown(&path, Some(12_345), None).is_ok() {
        let error = Keys::read(&path).expect_err("refused").to_string();
        let expected =
            "expected a file of root or of the user that runs this program, found one of user 12345";
        assert!(error.ends_with(expected), "{error}");
    }
}

/// A list of access (POSIX ACL) as a service manager sets one: owner, a user, the file's group, mask, others.
#[test]
fn a_list_of_access_of_a_file_is_judged() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED a_list_of_access_of_a_file_is_judged: it needs root");
        return;
    }
    let folder = Folder::new();
    let path = folder.file(format!("one {A}\n").as_bytes(), 0o400);
    for (user, found) in [(0, None), (12_345_u32, Some("a list of access by which user 12345 may"))] {
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, rights, id) in
            [(1_u16, 4_u16, u32::MAX), (2, 4, user), (4, 0, u32::MAX), (16, 4, u32::MAX), (32, 0, u32::MAX)]
        {
            list.extend(tag.to_le_bytes());
            list.extend(rights.to_le_bytes());
            list.extend(id.to_le_bytes());
        }
        let flags = rustix::fs::XattrFlags::empty();
        if let Err(error) = rustix::fs::setxattr(&path, "system.posix_acl_access", &list, flags) {
            eprintln!(
                "SKIPPED a_list_of_access_of_a_file_is_judged: the file system has no such lists: {error}"
            );
            return;
        }
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o440, "the mask is in the place of the group");
        let error = Keys::read(&path).err().map(|error| error.to_string());
        assert_eq!(error.is_some(), found.is_some(), "{error:?}");
        assert!(error.unwrap_or_default().ends_with(found.unwrap_or_default()));
    }
}
