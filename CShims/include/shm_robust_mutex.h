/*
 * The robust mutex in shared memory, given as a raw pointer, aligned to 8 bytes: process-shared, error-checking, not
 * priority-inheriting (PI mutexes break across PID namespaces: a waiter hung there). The kernel marks it when the
 * thread that holds it ends, however it ends.
 */
#ifndef SHM_ROBUST_MUTEX_H
#define SHM_ROBUST_MUTEX_H

#include "shm_lock_result.h"
#include <pthread.h>

SHM_NONNULL_BEGIN

#define SHM_MUTEX_BYTES 64
_Static_assert(sizeof(pthread_mutex_t) <= SHM_MUTEX_BYTES, "a mutex must fit into the place the layout gives it");
_Static_assert(_Alignof(pthread_mutex_t) <= 8, "places are aligned to 8 bytes");

int shm_mutex_init(void *mutex);
/* Waits at most timeout_ns (CLOCK_MONOTONIC), asleep: who hopes to wait for less has spun before. 0 or less: one
 * attempt. */
int shm_mutex_lock(void *mutex, int64_t timeout_ns);
/* Does nobody alive seem to hold it? It may change at any time. A look leaves the lock's line to its owner, as an
 * attempt does not. With a C library whose mutex is not known: always. */
SHM_INLINE bool shm_mutex_looks_free(const void *mutex) {
#ifdef __GLIBC__
  /* The owner's thread number, which the kernel wipes when the thread dies, below two flag bits. */
  return (__atomic_load_n(&((const pthread_mutex_t *)mutex)->__data.__lock, __ATOMIC_RELAXED) & 0x3fffffff) == 0;
#else
  (void)mutex;
  return true;
#endif
}

int shm_mutex_trylock_failed(void *mutex, int error);
SHM_INLINE int shm_mutex_trylock(void *mutex) {
  const int e = pthread_mutex_trylock((pthread_mutex_t *)mutex);
  return e == 0 ? SHM_LOCK_ACQUIRED : shm_mutex_trylock_failed(mutex, e);
}
/* 0 or -errno: -EPERM if this thread does not hold it. */
SHM_INLINE int shm_mutex_unlock(void *mutex) { return -pthread_mutex_unlock((pthread_mutex_t *)mutex); }
/* Only after SHM_LOCK_OWNER_DIED; -EINVAL otherwise. */
SHM_INLINE int shm_mutex_consistent(void *mutex) { return -pthread_mutex_consistent((pthread_mutex_t *)mutex); }

SHM_NONNULL_END
#endif
