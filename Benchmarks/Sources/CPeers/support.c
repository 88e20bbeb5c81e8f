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

void robust_lock_pairs(size_t count) {
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
  for (size_t i = 0; i < count; i++) {
    const int e = pthread_mutex_lock(&mutex);
    if (e != 0) peer_fail("robust mutex", strerror(e));
    pthread_mutex_unlock(&mutex);
  }
}
