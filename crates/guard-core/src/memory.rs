//! Memory that is given back to the system.

/// Gives memory back that was freed, but that the allocator of the C library keeps for itself. Takes milliseconds.
///
/// Models are loaded and run by ONNX Runtime, which takes memory with `malloc`. glibc keeps most of what was freed behind blocks that are
/// still in use (`malloc_trim` in its manual, <https://man7.org/linux/man-pages/man3/malloc_trim.3.html>); other systems are left to
/// themselves.
pub(crate) fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}
