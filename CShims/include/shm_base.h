/*
 * Common ground of the shims: how functions are inlined, and what other compilers lack.
 *
 * No feature macro here: Swift's importer builds the C library's modules without _GNU_SOURCE, and a header that
 * defines it sees an fd_set that differs from theirs. Sources that need it define it before their first include.
 */
#ifndef SHM_BASE_H
#define SHM_BASE_H

#ifndef __linux__
#error "SharedTable needs Linux: robust process-shared mutexes, membarrier and futexes are Linux interfaces."
#endif

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHM_INLINE static inline __attribute__((always_inline))

/* What a system call returned, as a result or -errno. */
SHM_INLINE int shm_result(int returned) { return returned < 0 ? -errno : returned; }

/*
 * SHM_OUTLINE=1 (given to C and to Swift's importer alike: -Xcc -DSHM_OUTLINE=1) is for the sanitizers. They do not
 * see plain accesses in functions that Swift inlined from a header. They see __atomic_* there, so only the few
 * functions that access memory plainly move out of line, into shm_outline.c.
 */
#if defined(SHM_OUTLINE) && !defined(SHM_PORTABLE)
#define SHM_PORTABLE 1 /* the vector load of a bucket races on purpose; the portable form loads atomically */
#endif

/* Nullability is for Swift's importer; other compilers do not know the words. */
#ifdef __clang__
#define SHM_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define SHM_NONNULL_END _Pragma("clang assume_nonnull end")
#else
#define SHM_NONNULL_BEGIN
#define SHM_NONNULL_END
#ifndef _Nullable
#define _Nullable
#define _Nonnull
#endif
#endif

#endif
