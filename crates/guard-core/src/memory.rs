//! Returns freed memory to the system.

/// Returns memory that was freed, but that the C library's allocator still holds. Takes milliseconds.
///
/// ONNX Runtime allocates with `malloc`, and glibc holds most freed blocks below blocks that are still in use
/// (`malloc_trim`, <https://man7.org/linux/man-pages/man3/malloc_trim.3.html>). Other systems are left alone.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `malloc_trim` may be called at any time, from any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Limits the number of heaps of the C library's allocator. Call it when the program starts.
///
/// glibc gives nearly every thread a heap of its own, up to eight per processor (`M_ARENA_MAX`,
/// <https://man7.org/linux/man-pages/man3/mallopt.3.html>), each with unused room between its blocks. A server on two
/// processors held 30 MB of such room after a load. Other systems are left alone.
pub fn limit_heaps(most: u16) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `mallopt` may be called at any time, from any thread. Existing heaps stay.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, i32::from(most));
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = most;
}
