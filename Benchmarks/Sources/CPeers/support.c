#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CPeers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void peer_fail(const char *what, const char *why) {
  fprintf(stderr, "bench: %s: %s\n", what, why);
  exit(2);
}

static pthread_mutex_t *robust_mutex(void) {
  static pthread_mutex_t mutex;
  static int made;
  if (!made) {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &a);
    made = 1;
  }
  return &mutex;
}

static void lock_robust(pthread_mutex_t *mutex) {
  const int e = pthread_mutex_lock(mutex);
  if (e != 0) peer_fail("robust mutex", strerror(e));
}

void robust_lock_pairs(size_t count) {
  pthread_mutex_t *mutex = robust_mutex();
  for (size_t i = 0; i < count; i++) {
    lock_robust(mutex);
    pthread_mutex_unlock(mutex);
  }
}

uint64_t floor_set_all_locked(floor_table *t, const void *keys, size_t count, const void *value) {
  pthread_mutex_t *mutex = robust_mutex();
  const unsigned char *key = keys;
  uint64_t sum = 0;
  for (size_t i = 0; i < count; i++, key += FLOOR_KEY_BYTES) {
    lock_robust(mutex);
    sum += floor_set_all(t, key, 1, value);
    pthread_mutex_unlock(mutex);
  }
  return sum;
}
