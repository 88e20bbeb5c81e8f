/* Sleeping on a word and waking who sleeps there, between processes (no PRIVATE flag): the result, or -errno. Times
 * are in nanoseconds. */
#ifndef SHM_FUTEX_H
#define SHM_FUTEX_H

#include "shm_base.h"

SHM_NONNULL_BEGIN

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

SHM_NONNULL_END
#endif
