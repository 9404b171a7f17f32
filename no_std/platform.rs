//! All that a program has to bring along where there is no operating system: memory, and an end for panics. The only `unsafe` code of
//! the tree.
//!
//! Whatever links the standard library does not link with this: two panic handlers are "duplicate lang items".

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::fmt::{self, Write};
use core::panic::PanicInfo;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of memory that the program has.
const MEMORY: usize = 64 << 20;

/// Hands out memory from the front to the back and takes nothing back.
struct Arena {
    memory: UnsafeCell<[u8; MEMORY]>,
    used: AtomicUsize,
}

// SAFETY: `used` gives each byte to one caller only.
unsafe impl Sync for Arena {}

// SAFETY: what is handed out lies in `memory`, is aligned, and overlaps nothing that was handed out before.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = self.memory.get().cast::<u8>();
        let place = |used: usize| {
            let gap = (start as usize + used).wrapping_neg() & (layout.align() - 1);
            let end = used.checked_add(gap)?.checked_add(layout.size())?;
            (end <= MEMORY).then_some(end)
        };
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, place) {
            // SAFETY: `place` has checked that the end lies within the memory; the layout fits before it.
            Ok(used) => unsafe { start.add(place(used).unwrap_or(MEMORY) - layout.size()) },
            Err(_) => null_mut(),
        }
    }

    unsafe fn dealloc(&self, _memory: *mut u8, _layout: Layout) {}
}

#[global_allocator]
static ARENA: Arena = Arena { memory: UnsafeCell::new([0; MEMORY]), used: AtomicUsize::new(0) };

#[link(name = "c")]
unsafe extern "C" {
    safe fn abort() -> !;
    fn write(file: c_int, bytes: *const c_void, count: usize) -> isize;
}

/// The standard error of the host on which the proof runs.
struct StandardError;

impl Write for StandardError {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: pointer and length are those of `text`.
        let written = unsafe { write(2, text.as_ptr().cast(), text.len()) };
        if written < 0 { Err(fmt::Error) } else { Ok(()) }
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // Where nobody reads it there is nothing more to be done.
    let _unread = writeln!(StandardError, "{info}");
    abort()
}

/// The `alloc` that comes with the compiler was made to unwind, and names this and the next. Panics abort, so neither is ever called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    abort()
}

/// The entry point that the C library calls.
#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    crate::run();
    0
}
