"""The layers of the tree: which crate and which folder may use which, and how large a part may grow.

What is allowed stands in `docs/architecture.md`; what is used is read from manifests and Rust files.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support import ROOT

MOST_FIELDS = 30
MOST_FILES = {"sim": 3, "host": 3, "transport": 3}
"""Files with methods of one type, by crate."""
MOST_METHODS = {"sim": 60, "host": 60, "transport": 60}
"""Methods of one type, by crate."""
MOST_EXCEPTIONS = 2

REST = "the rest"
"""A place in the order for every module of a crate that is not named."""

CRATES = ROOT / "crates"
Module = tuple[str, ...]


PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def rows(header: str) -> list[list[str]]:
    """The cells of the table of `docs/architecture.md` whose first row begins so, if there is one."""
    lines = PAGE.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(header)), len(lines))
    table = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


# ---- Crates ----


@cache
def house() -> dict[str, set[str]]:
    """The crates that each folder with a manifest may use, by the table of the house, bottom to top."""
    uses = {}
    for names, used, *_ in rows("| crate or folder | uses |"):
        folder = names.split(",")[0].strip("` ").removeprefix("crates/")
        uses[folder] = set(re.findall(r"\w+", used))
    crates = {folder for folder in uses if (CRATES / folder).is_dir()}
    return {folder: used & crates for folder, used in uses.items()}


def manifest(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "Cargo.toml").read_text(encoding="utf-8"))


def used_by(folder: Path, table: str) -> set[str]:
    """The crates of the tree in a table of a manifest."""
    names: dict[str, Any] = manifest(folder).get(table, {})
    return {name.removeprefix("airfair-") for name in names if name.startswith("airfair-")}


MANIFESTS = [
    *sorted(file.parent for file in CRATES.glob("*/Cargo.toml")),
    ROOT / "benches",
    ROOT / "examples" / "scheme-crate",
    ROOT / "no_std",
]


@pytest.mark.parametrize("folder", MANIFESTS, ids=lambda folder: str(folder.name))
def test_a_crate_uses_what_the_table_of_the_house_says(folder: Path) -> None:
    name = folder.name if folder.name in house() else folder.parent.name
    assert used_by(folder, "dependencies") == house()[name]


def test_arrows_between_crates_point_down() -> None:
    order = [name for name in house() if (CRATES / name).is_dir()]
    assert len(order) == len(list(CRATES.glob("*/Cargo.toml")))
    for i, name in enumerate(order):
        for table in ("dependencies", "dev-dependencies", "build-dependencies"):
            upward = used_by(CRATES / name, table) - set(order[:i])
            assert not upward, f"{name} uses {upward}, which the table of the house has above it"


def test_what_stands_below_the_simulator_needs_no_standard_library() -> None:
    order = [name for name in house() if (CRATES / name).is_dir()]
    below = order[: order.index("sim")]
    for name in below:
        assert "#![no_std]" in (CRATES / name / "lib.rs").read_text(encoding="utf-8").splitlines(), name
    assert used_by(ROOT / "no_std", "dependencies") == set(below)


# ---- Folders ----


OTHER_TEXT = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\[^\n]*?|[^\\'\n])'""", re.DOTALL
)
USE = re.compile(r"\buse\s+([^;]+);")


def closing(text: str, start: int) -> int:
    """Just behind the brace that closes the one at `start`."""
    depth = 0
    for match in re.finditer(r"[{}]", text[start:]):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return start + match.end()
    return len(text)


def code(text: str) -> str:
    """Rust without comments, literals and what is compiled for tests only."""
    text = OTHER_TEXT.sub(lambda match: " " if match[0].startswith("/") else '""', text)
    while (at := text.find("#[cfg(test)]")) >= 0:
        item = re.compile(r"[;{]").search(text, at)
        if item is None:
            return text[:at]
        end = item.end() if item[0] == ";" else closing(text, item.start())
        text = text[:at] + text[end:]
    return text


def parts(text: str) -> Iterator[str]:
    """The parts of a list at its commas, those within brackets left alone."""
    text, depth, start = text.replace("->", "  ").replace("=>", "  "), 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "({[<") - (letter in ")}]>")
        if letter == "," and depth == 0:
            yield text[start:i].strip()
            start = i + 1
    yield text[start:].strip()


def imports(tree: str) -> Iterator[tuple[list[str], str]]:
    """Each path of a `use` and the name that it gives."""
    head, brace, inner = tree.partition("{")
    if brace:
        before = [segment.strip() for segment in head.split("::") if segment.strip()]
        for part in parts(inner.rpartition("}")[0]):
            for path, name in imports(part):
                if path == ["self"] and before:
                    yield before, before[-1] if name == "self" else name
                else:
                    yield before + path, name
    elif tree.strip():
        written, _, alias = tree.partition(" as ")
        segments = [segment.strip() for segment in written.split("::") if segment.strip()]
        yield segments, alias.strip() or segments[-1]


@dataclass
class Source:
    """A module: its file, what it imports, and its code without that."""

    file: Path
    imports: list[tuple[list[str], str]]
    body: str


class Crate:
    """The modules of a crate by their path; the empty one is `lib.rs`."""

    def __init__(self, name: str) -> None:
        self.folder = CRATES / name
        self.modules: dict[Module, Source] = {}
        for file in sorted(self.folder.rglob("*.rs")):
            place = file.relative_to(self.folder)
            if place.parts[0] == "tests":
                continue
            module = place.with_suffix("").parts
            module = module[:-1] if module[-1] in ("mod", "lib") else module
            text = code(file.read_text(encoding="utf-8"))
            found = [each for use in USE.finditer(text) for each in imports(use[1])]
            self.modules[module] = Source(file, found, USE.sub("", text))
        for module, source in self.modules.items():
            # The compiler puts an exported macro at the root.
            for name in re.findall(r"#\[macro_export\]\s*macro_rules!\s*(\w+)", source.body):
                self.modules[()].imports.append((["crate", *module, name], name))

    def home(self, module: Module, path: list[str], seen: tuple[object, ...] = ()) -> Module | None:
        """The module that defines what `path` means in `module`; none where that is another crate's."""
        if (module, *path) in seen:
            return None
        at = module
        for i, name in enumerate(path):
            if name == "crate":
                at = ()
            elif name == "super":
                at = at[:-1]
            elif (*at, name) in self.modules:
                at = (*at, name)
            elif name != "self":
                for source, known in self.modules[at].imports:
                    if known == name and (source[-1] != name or len(source) > 1):
                        return self.home(at, source + path[i + 1 :], (*seen, (module, *path)))
                return at if i else None
        return at

    def paths(self, module: Module) -> Iterator[list[str]]:
        """Every path in a module that may lead into another."""
        source = self.modules[module]
        yield from (path for path, _ in source.imports)
        for match in re.finditer(r"(?<![\w:$])(\w+)((?:::\w+)+)", source.body):
            if match[1] in ("crate", "super") or (*module, match[1]) in self.modules:
                yield match[0].split("::")

    def arrows(self) -> Iterator[tuple[Module, Module, str]]:
        """Who uses whom, and how that is written."""
        for module in self.modules:
            for path in self.paths(module):
                home = self.home(module, path)
                if home is not None and home != module:
                    yield module, home, "::".join(path)


def order(name: str) -> list[str]:
    """The modules of a crate from bottom to top, by the list of `docs/architecture.md`."""
    (found,) = re.findall(rf"^- `{name}`: (.*(?:\n  .*)*)", PAGE, re.MULTILINE)
    return [name or REST for name in re.findall(rf"`([^`]+)`|{REST}", found)]


def place(module: Module, ranks: list[str]) -> str | None:
    """The entry of the order that a module belongs to; none where it has no place.

    A folder of which only parts are named stands with the topmost of them.
    """
    for length in range(len(module), 0, -1):
        if (entry := "/".join(module[:length])) in ranks:
            return entry
    inside = [entry for entry in ranks if module and entry.startswith("/".join(module) + "/")]
    return inside[-1] if inside else REST if REST in ranks else None


def upward(crate: Crate, ranks: list[str]) -> list[str]:
    """Imports that break the order, in words."""
    wrong = []
    for entry in ranks:
        if entry != REST and tuple(entry.split("/")) not in crate.modules:
            wrong.append(f"{entry} is in the order and not in the crate")
    for module, source in crate.modules.items():
        if module and place(module, ranks) is None:
            wrong.append(f"{source.file.relative_to(ROOT)} has no place in the order")
    for user, used, path in crate.arrows():
        above, below = place(user, ranks), place(used, ranks)
        if user and above is not None and below != above:
            if below is None:
                wrong.append(
                    f"{crate.modules[user].file.relative_to(ROOT)}: {path} has no place in the order"
                )
            elif ranks.index(below) > ranks.index(above):
                wrong.append(f"{crate.modules[user].file.relative_to(ROOT)}: {path} stands above `{above}`")
    return sorted(set(wrong))


WITH_FOLDERS = sorted(
    {file.relative_to(CRATES).parts[0] for file in CRATES.glob("*/*/*.rs") if file.parent.name != "tests"}
)


@pytest.mark.parametrize("name", WITH_FOLDERS)
def test_imports_between_folders_point_down(name: str) -> None:
    crate = Crate(name)
    assert next(crate.arrows(), None) is not None, "nothing was read"
    assert upward(crate, order(name)) == []


def test_an_upward_import_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\npub use b::{Deep as Known, inner::Other};",
        "a.rs": "use core::fmt;\n{}\n#[cfg(test)]\nmod tests {{\n    use crate::b::Deep;\n}}",
        "b/mod.rs": "pub mod inner;\npub use inner::Deep;\nuse crate::a;",
        "b/inner.rs": 'use super::super::a::Thing;\n// use crate::c::No;\nconst C: &str = "crate::c::No";',
    }
    monkeypatch.setattr("tests.test_layers.CRATES", tmp_path)
    monkeypatch.setattr("tests.test_layers.ROOT", tmp_path)

    def found(line: str) -> list[str]:
        for name, text in files.items():
            file = tmp_path / "c" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text.format(line) if name == "a.rs" else text)
        return upward(Crate("c"), ["a", "b"])

    assert found("fn f(_: &Deep) {}") == []
    for line in (
        "use crate::b;",
        "use crate::{b::inner::Deep, a};",
        "use crate::b::{self as other};",
        "use super::b::Deep as Short;",
        "use crate::Known;",
        "pub(crate) use crate::Other;",
        "fn f() -> crate::b::Deep { panic!() }",
        "fn f() { super::b::inner::call() }",
    ):
        (wrong,) = found(line)
        assert re.fullmatch(r"c/a\.rs: \S+ stands above `a`", wrong), line
    assert upward(Crate("c"), ["b", "a"]) == [
        "c/b/inner.rs: super::super::a::Thing stands above `b`",
        "c/b/mod.rs: crate::a stands above `b`",
    ]
    found("use crate::b;")
    assert upward(Crate("c"), [REST, "b"]) == [f"c/a.rs: crate::b stands above `{REST}`"]
    assert upward(Crate("c"), ["b"])[0] == "c/a.rs has no place in the order"


# ---- Sizes ----


def structs(crate: Crate) -> Iterator[tuple[str, int]]:
    """The structs of a crate, each with the number of its fields."""
    for source in crate.modules.values():
        for match in re.finditer(r"\bstruct\s+(\w+)[^;{(]*([{(])", source.body):
            start = match.end() - 1
            if match[2] == "{":
                inner = source.body[start + 1 : closing(source.body, start) - 1]
            else:
                inner = source.body[start + 1 :].partition(");")[0]
            yield match[1], sum(1 for part in parts(re.sub(r"#\[[^\]]*\]", "", inner)) if part)


def outer_functions(body: str) -> int:
    """The number of functions in a block, without those in other functions."""
    depth = functions = 0
    for match in re.finditer(r"[{}]|\bfn\s+\w", body):
        functions += depth == 1 and match[0].startswith("fn")
        depth += (match[0] == "{") - (match[0] == "}")
    return functions


def methods(crate: Crate) -> dict[tuple[Module, str], dict[Path, int]]:
    """How many methods each type of a crate has in which file; those of traits are not counted."""
    files: dict[tuple[Module, str], dict[Path, int]] = defaultdict(lambda: defaultdict(int))
    for module, source in crate.modules.items():
        for match in re.finditer(r"^\s*impl\b([^{;]*)\{", source.body, re.MULTILINE):
            head = re.sub(r"\bwhere\b.*", "", match[1], flags=re.DOTALL)
            if re.search(r"\bfor\s+(?!<)", head):
                continue
            while (plain := re.sub(r"<[^<>]*>", "", head.replace("->", ""))) != head:
                head = plain
            path = head.strip().split("::")
            for names, known in source.imports:
                if known == path[0]:
                    path = names + path[1:]
            home = crate.home(module, path) if len(path) > 1 else module
            block = source.body[match.end() - 1 : closing(source.body, match.end() - 1)]
            files[(module if home is None else home), path[-1]][source.file] += outer_functions(block)
    return dict(files)


def exceptions() -> list[str]:
    """Structs that may have more fields: a table `| struct of more than 30 fields | why |` names them."""
    return [re.findall(r"`(\w+)`", name)[0] for name, *_ in rows("| struct of more than 30 fields |")]


def test_no_struct_is_a_world_of_its_own() -> None:
    large = {
        name: fields for crate in MOST_FILES for name, fields in structs(Crate(crate)) if fields > MOST_FIELDS
    }
    assert len(exceptions()) <= MOST_EXCEPTIONS
    assert {name: fields for name, fields in large.items() if name not in exceptions()} == {}
    assert set(exceptions()) <= set(large), "an exception is not needed"


@pytest.mark.parametrize(("crate", "most"), MOST_FILES.items())
def test_methods_of_a_type_stand_in_few_files(crate: str, most: int) -> None:
    scattered = {
        name: sorted(str(file.relative_to(ROOT)) for file in files)
        for (_, name), files in methods(Crate(crate)).items()
        if len(files) > most
    }
    assert scattered == {}


def hooks(file: str, head: str) -> set[str]:
    """The functions of the trait, or of its implementation, that begins so in a file of `crates/schemes`."""
    text = code((CRATES / "schemes" / file).read_text(encoding="utf-8"))
    start = text.index(head)
    return set(re.findall(r"\bfn (\w+)", text[start : closing(text, start)]))


@pytest.mark.parametrize(
    ("trait", "declared", "decorator"),
    [
        ("Agent", "agent.rs", "agent.rs"),
        ("Queue", "queue.rs", "queue.rs"),
        ("LabelledQueue", "labelled.rs", "queue.rs"),
        ("Scheme", "../scheme.rs", "mod.rs"),
    ],
)
def test_a_decorator_passes_every_hook_on(trait: str, declared: str, decorator: str) -> None:
    """A hook that has a default and is missing in the decorator would be silent."""
    wanted = hooks(f"places/{declared}", f"pub trait {trait}")
    assert len(wanted) > 5
    assert wanted - hooks(f"faulty/{decorator}", f"impl {trait} for Faulty") == set()


MOST_HOOKS_OF_A_QUEUE = 9


def test_a_queue_is_a_queue() -> None:
    """A plain queue has few hooks: those that few queues need belong to `LabelledQueue`."""
    text = code((CRATES / "schemes" / "places" / "queue.rs").read_text(encoding="utf-8"))
    start = text.index("pub trait Queue")
    hooks = re.findall(r"\bfn (\w+)", text[start : closing(text, start)])
    assert {"enqueue", "peek", "commit"} <= set(hooks)
    assert len(hooks) <= MOST_HOOKS_OF_A_QUEUE, hooks


@pytest.mark.parametrize(("crate", "most"), MOST_METHODS.items())
def test_a_type_has_few_methods(crate: str, most: int) -> None:
    counted = {name: sum(files.values()) for (_, name), files in methods(Crate(crate)).items()}
    assert max(counted.values()) > most // 2, "nothing was read"
    assert {name: count for name, count in counted.items() if count > most} == {}


@pytest.mark.parametrize("crate", MOST_METHODS)
def test_no_type_passes_for_another(crate: str) -> None:
    """`Deref` to a part, and macros that write methods, would hide what the limits count. A value that is
    shared behind a count may be read through it."""
    for source in Crate(crate).modules.values():
        assert "DerefMut" not in source.body, source.file
        for target in re.findall(r"\bDeref\s+for\s+(\w+)", source.body):
            assert re.search(rf"\bstruct\s+{target}\(Arc<\w+>\);", source.body), target
        for macro in re.finditer(r"macro_rules!\s*\w+\s*\{", source.body):
            block = source.body[macro.end() - 1 : closing(source.body, macro.end() - 1)]
            assert not re.search(r"\bfn\s+\$", block), source.file


SIZES = {
    "lib.rs": "mod a;\npub use a::Wide;\nimpl<T: Fn() -> u8> Wide<T> { fn one() {} }",
    "a/mod.rs": """
        mod more;
        struct Unit;
        struct Pair(u8, (u8, u8));
        #[derive(Debug, Clone)]
        pub struct Wide<T> where T: Copy {
            /// One, two: three.
            #[doc(a, b)]
            pub one: BTreeMap<u8, [u8; 2]>,
            two: fn(u8, u8) -> u8, // three: 3,
        }
        impl<T> Wide<T> where T: Copy { fn two() { fn inner() {} } const fn three() {} }
        impl<T> Clone for Wide<T> { fn clone() {} }
        struct Other { a: u8 }
        """,
    "a/more.rs": """
        use super::Wide as W;
        impl W<u8> { fn three() {} }
        impl From<u8> for W<u8> {}
        struct Other { a: u8 }
        impl Other {}
        #[cfg(test)]
        mod tests { struct Test { a: u8 } impl Other {} }
        """,
}


def test_fields_files_and_methods_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_layers.CRATES", tmp_path)
    for name, text in SIZES.items():
        file = tmp_path / "c" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    crate = Crate("c")
    assert sorted(structs(crate)) == [("Other", 1), ("Other", 1), ("Pair", 2), ("Wide", 2)]
    counted = {(*module, name): list(files.values()) for (module, name), files in methods(crate).items()}
    assert {name: sorted(counts) for name, counts in counted.items()} == {
        ("a", "Wide"): [1, 1, 2],
        ("a", "more", "Other"): [0],
    }
