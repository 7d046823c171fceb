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

/// Lets the allocator of the C library have at most so many heaps, for a program that has only just begun.
///
/// glibc gives nearly every thread a heap of its own, up to eight for each processor (`M_ARENA_MAX` in the manual of `mallopt`,
/// <https://man7.org/linux/man-pages/man3/mallopt.3.html>), each of which keeps room of its own between blocks that are in use: a server with
/// two processors had 30 MB of such room after a load. Other systems are left to themselves.
pub fn limit_heaps(most: u16) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time, from any thread. Heaps that are there already stay.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, i32::from(most));
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = most;
}
