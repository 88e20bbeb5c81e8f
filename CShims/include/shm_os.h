/*
 * System calls, one thin wrapper each: the result, or -errno. No policy, no allocation, no logging.
 * EINTR is handled here where repeating is right, and is a result where the caller must look around first.
 * Times are in nanoseconds, names are those of shm_open ("/name").
 */
#ifndef SHM_OS_H
#define SHM_OS_H

#include "shm_base.h"

SHM_NONNULL_BEGIN

/* ---- Objects ---- */

typedef struct {
  uint64_t device;
  uint64_t inode;
  uint64_t links;     /* 0: unlinked behind our back */
  uint64_t size;      /* bytes */
  uint64_t allocated; /* bytes that have memory behind them */
  uint32_t owner;
  uint32_t group;
  uint32_t mode; /* permission bits only */
  uint32_t kind; /* the file type bits, S_IFMT */
} shmos_status;

/* O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR; the umask applies. A descriptor (close-on-exec), or -errno. */
int shmos_create(const char *name, uint32_t mode);
/* A new, empty object that has no name and can be given none, for this user alone: O_TMPFILE | O_EXCL in /dev/shm. */
int shmos_create_nameless(void);
/* Never O_CREAT. O_NONBLOCK, since a name squatted by a FIFO must not hang us. */
int shmos_open(const char *name, bool writable);
int shmos_unlink(const char *name);
int shmos_close(int fd);
int shmos_fstat(int fd, shmos_status *out);
/* What has the name, which is neither opened nor followed: for what cannot be opened. */
int shmos_look(const char *name, shmos_status *out);
int shmos_truncate(int fd, uint64_t size);
/*
 * Claims pages, extending the size if needed: -ENOSPC instead of a later SIGBUS. fallocate(2) and not
 * posix_fallocate(3), which would emulate by writing zero bytes where the file system lacks the call:
 * that races with other processes' stores. Repeats on EINTR, for which the kernel has undone everything:
 * keep `count` bounded.
 */
int shmos_allocate(int fd, uint64_t offset, uint64_t count);
/* Gives the pages of a range back; the size stays, and the range reads as zeros. Whoever touches it later claims a page
 * again, or gets SIGBUS: fallocate(2), FALLOC_FL_PUNCH_HOLE. */
int shmos_punch(int fd, uint64_t offset, uint64_t count);
/*
 * MAP_SHARED from offset 0. `count` may exceed the object's size: pages beyond it are SIGBUS until it grows.
 * Aligned to SHMOS_HUGE_BYTES where address space allows, as huge pages need it.
 */
int shmos_map(int fd, size_t count, bool writable, void *_Nullable *_Nonnull base);
#define SHMOS_HUGE_BYTES ((size_t)2 << 20)
/* How many of `count` bytes of a mapping, from a multiple of SHMOS_HUGE_BYTES on, are backed by huge pages now: madvise(2),
 * MADV_COLLAPSE (Linux 6.1). Takes the kernel some 100 us for each 2 MiB. */
size_t shmos_collapse(void *from, size_t count);
int shmos_unmap(void *base, size_t count);
/* flock without waiting: -EWOULDBLOCK when another open file description holds it. */
int shmos_try_flock(int fd, bool exclusive);
int shmos_funlock(int fd);
/* A lock of the whole object by its open file description, apart from flock's: fcntl(2), F_OFD_SETLK, without waiting.
 * The exclusive one needs a descriptor to write by. -EAGAIN when another description holds it. */
int shmos_try_ofd_lock(int fd, bool exclusive);
int shmos_fchmod(int fd, uint32_t mode);
/* UINT32_MAX leaves that one as it is. */
int shmos_fchown(int fd, uint32_t owner, uint32_t group);

/* ---- Futexes: shared between processes (no PRIVATE flag) ---- */

/*
 * Sleeps while *word == expected, at most timeout_ns. 0: woken, or spuriously; -EAGAIN: it did not equal;
 * -ETIMEDOUT; -EINTR: a signal handler ran. The word may lie in a read-only mapping.
 */
int shmos_futex_wait(const void *word, uint32_t expected, int64_t timeout_ns);
#define SHMOS_FUTEX_MANY 128
/*
 * The same for several words at once: sleeps while each equals what is expected of it. At most SHMOS_FUTEX_MANY;
 * futex_waitv(2), Linux 5.16. -ENOSYS or -EPERM where it is missing or a sandbox denies it.
 */
int shmos_futex_wait_many(
    const void *_Nonnull const *_Nonnull words, const uint32_t *expected, int count, int64_t timeout_ns);
/* Number of waiters woken, at most `count`. */
int shmos_futex_wake(const void *word, int count);

/* ---- Memory barriers in other processes ---- */

/* Bit mask of the supported commands. */
int shmos_membarrier_query(void);
/* Makes this process one that shmos_membarrier_global_expedited reaches. Survives fork, not exec. */
int shmos_membarrier_register_global_expedited(void);
/* A full fence on every running thread of every registered process; the caller need not be registered. */
int shmos_membarrier_global_expedited(void);

/* ---- Time ---- */

uint64_t shmos_realtime_ns(void);
uint64_t shmos_monotonic_ns(void);
/* As of the last tick: some milliseconds old, a fraction of the price. */
uint64_t shmos_monotonic_coarse_ns(void);
/* May return early when a signal handler runs. */
void shmos_sleep(uint64_t ns);

/* ---- Processes ---- */

int32_t shmos_pid(void);
int32_t shmos_tid(void);
/* Is there another processor, on which what a thread spins for can come to pass? */
bool shmos_has_several_processors(void);
/* Names the calling thread, at most 15 bytes: for people. */
void shmos_name_thread(const char *name);
/* Inode of /proc/self/ns/pid. */
int shmos_pid_namespace(uint64_t *inode);
/* When the process began, in clock ticks since boot: with the pid, a name that is not reused until reboot. */
int shmos_process_start_time(int32_t pid, uint64_t *ticks);
/* Command name (that of the main thread), NUL-padded to 16 bytes. */
void shmos_command_name(void *out16);
int shmos_command_name_of(int32_t pid, void *out16);
/* kill(pid, 0); a process we may not signal is alive too, and so is a zombie. */
bool shmos_process_is_alive(int32_t pid);

/* ---- What two processes must agree on to share pthread objects ---- */

uint32_t shmos_mutex_size(void);
uint32_t shmos_rwlock_size(void);
const char *shmos_libc_version(void); /* "2.36" */
const char *shmos_architecture(void); /* "x86_64" */

/* ---- Errors, for people; static strings, not translated; NULL for a number nobody knows ---- */

const char *_Nullable shmos_errno_name(int number);        /* "EACCES" */
const char *_Nullable shmos_errno_description(int number); /* "Permission denied" */

SHM_NONNULL_END
#endif
