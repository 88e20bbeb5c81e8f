/*
 * pthread locks in shared memory, given as raw pointers, aligned to 8 bytes.
 *
 * The robust mutex: process-shared, error-checking, not priority-inheriting (PI mutexes break across PID
 * namespaces: a waiter hung there). The kernel marks it when the thread that holds it ends, however it ends.
 *
 * The rwlock: only try and unlock. The blocking and timed forms are absent on purpose: they wait for what a peer
 * promised to do next, and spin for ever if it was killed in between (22 of 352 kill points; the try forms, none
 * of 324). Whoever must wait does so on an event of its own, looks for dead holders, and tries again.
 */
#ifndef SHM_LOCK_H
#define SHM_LOCK_H

#include "shm_base.h"
#include <errno.h>
#include <pthread.h>

SHM_NONNULL_BEGIN

#define SHM_MUTEX_BYTES 64
#define SHM_RWLOCK_BYTES 64
_Static_assert(sizeof(pthread_mutex_t) <= SHM_MUTEX_BYTES, "a mutex must fit into the place the layout gives it");
_Static_assert(sizeof(pthread_rwlock_t) <= SHM_RWLOCK_BYTES, "a rwlock must fit into the place the layout gives it");
_Static_assert(_Alignof(pthread_mutex_t) <= 8 && _Alignof(pthread_rwlock_t) <= 8, "places are aligned to 8 bytes");

/* What an attempt came to; a negative number is any other -errno (a damaged lock, too many readers). */
enum {
  SHM_LOCK_ACQUIRED = 0,
  SHM_LOCK_OWNER_DIED = 1,      /* acquired: repair what it protects, then shm_mutex_consistent, then unlock */
  SHM_LOCK_BUSY = 2,
  SHM_LOCK_TIMED_OUT = 3,
  SHM_LOCK_NOT_RECOVERABLE = 4, /* someone unlocked it without shm_mutex_consistent */
  SHM_LOCK_WOULD_DEADLOCK = 5,  /* this thread holds it */
};

static inline int shm_lock_result(int error) {
  switch (error) {
  case 0: return SHM_LOCK_ACQUIRED;
  case EOWNERDEAD: return SHM_LOCK_OWNER_DIED;
  case EBUSY: return SHM_LOCK_BUSY;
  case ETIMEDOUT: return SHM_LOCK_TIMED_OUT;
  case ENOTRECOVERABLE: return SHM_LOCK_NOT_RECOVERABLE;
  case EDEADLK: return SHM_LOCK_WOULD_DEADLOCK;
  default: return -error;
  }
}

int shm_mutex_init(void *mutex);
/* Waits at most timeout_ns (CLOCK_MONOTONIC), asleep: who hopes to wait for less has spun before. 0 or less: one attempt. */
int shm_mutex_lock(void *mutex, int64_t timeout_ns);
/* Does nobody alive seem to hold it? It may change at any time. A look leaves the lock's line to its owner, as an attempt
 * does not. With a C library whose mutex is not known: always. */
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

int shm_rwlock_init(void *rwlock);
SHM_INLINE int shm_rwlock_tryrdlock(void *rwlock) {
  const int e = pthread_rwlock_tryrdlock((pthread_rwlock_t *)rwlock);
  return e == 0 ? SHM_LOCK_ACQUIRED : shm_lock_result(e);
}
SHM_INLINE int shm_rwlock_trywrlock(void *rwlock) {
  return shm_lock_result(pthread_rwlock_trywrlock((pthread_rwlock_t *)rwlock));
}
/* Only what this thread holds: glibc does not check, and an unlock too many corrupts the lock. */
SHM_INLINE int shm_rwlock_unlock(void *rwlock) { return -pthread_rwlock_unlock((pthread_rwlock_t *)rwlock); }

SHM_NONNULL_END
#endif
