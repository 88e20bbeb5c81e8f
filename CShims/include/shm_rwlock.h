/*
 * The process-shared rwlock in shared memory, given as a raw pointer, aligned to 8 bytes: only try and unlock.
 *
 * The blocking and timed forms are absent on purpose: they wait for what a peer promised to do next, and spin for ever
 * if it was killed in between (22 of 352 kill points; the try forms, none of 324). Whoever must wait does so on an
 * event of its own, looks for dead holders, and tries again.
 */
#ifndef SHM_RWLOCK_H
#define SHM_RWLOCK_H

#include "shm_lock_result.h"
#include <pthread.h>

SHM_NONNULL_BEGIN

#define SHM_RWLOCK_BYTES 64
_Static_assert(sizeof(pthread_rwlock_t) <= SHM_RWLOCK_BYTES, "a rwlock must fit into the place the layout gives it");
_Static_assert(_Alignof(pthread_rwlock_t) <= 8, "places are aligned to 8 bytes");

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
