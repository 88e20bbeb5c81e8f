#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_robust_mutex.h"
#include "shm_clock.h"
#include "shm_futex.h"
#include "shm_process.h"

#include <limits.h>
#include <time.h>

int shm_mutex_init(void *mutex) {
  pthread_mutexattr_t attributes;
  int e = pthread_mutexattr_init(&attributes);
  if (e != 0) return -e;
  e = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  if (e == 0) e = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  if (e == 0) e = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  if (e == 0) e = pthread_mutex_init((pthread_mutex_t *)mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return -e;
}

/*
 * glibc 2.36's trylock (not its lock) takes a mutex that is not recoverable, says so, and does not give it back:
 * to everyone else it is busy from then on, held by a thread that does not know. So it is given back here.
 */
int shm_mutex_trylock_failed(void *mutex, int error) {
#ifdef __GLIBC__
  if (error == ENOTRECOVERABLE) {
    int *const word = &((pthread_mutex_t *)mutex)->__data.__lock;
    /* The word holds the owner's thread number below two flag bits. Only its owner changes that: no race. */
    if ((__atomic_load_n(word, __ATOMIC_RELAXED) & 0x3fffffff) == shmos_tid()) {
      __atomic_store_n(word, 0, __ATOMIC_RELEASE);
      shmos_futex_wake(word, INT_MAX);
    }
  }
#endif
  return shm_lock_result(error);
}

/*
 * A wake-up can be lost: the owner unlocks and wakes A; B, who was not waiting, takes the lock, without the mark
 * that says "waiters"; A is killed before it comes back to the lock. The kernel passes A's wake-up on only if the
 * lock is free at that moment, so the waiter C behind A sleeps though B's unlock frees the lock. The same happens
 * when the owner is killed between its unlock and its wake. Therefore nobody sleeps longer than a slice: a waiter
 * that returns to the lock looks at it afresh.
 */
#define SLICE_NS 50000000

int shm_mutex_lock(void *mutex, int64_t timeout_ns) {
  int r = shm_mutex_trylock(mutex);
  if (r != SHM_LOCK_BUSY || timeout_ns <= 0) return r == SHM_LOCK_BUSY ? SHM_LOCK_TIMED_OUT : r;

  const uint64_t deadline = shmos_monotonic_ns() + (uint64_t)timeout_ns; /* cannot wrap: both are below 2^63 */
  for (;;) {
    const uint64_t now = shmos_monotonic_ns();
    if (now >= deadline) {
      r = shm_mutex_trylock(mutex);
      return r == SHM_LOCK_BUSY ? SHM_LOCK_TIMED_OUT : r;
    }
    const uint64_t until = deadline - now > SLICE_NS ? now + SLICE_NS : deadline;
    const struct timespec t = {.tv_sec = (time_t)(until / 1000000000u), .tv_nsec = (long)(until % 1000000000u)};
    /* clocklock and not timedlock: a step of the wall clock must not end or prolong a wait. */
    r = shm_lock_result(pthread_mutex_clocklock((pthread_mutex_t *)mutex, CLOCK_MONOTONIC, &t));
    if (r != SHM_LOCK_TIMED_OUT) return r;
  }
}
