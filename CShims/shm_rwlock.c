#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_rwlock.h"

int shm_rwlock_init(void *rwlock) {
  pthread_rwlockattr_t attributes;
  int e = pthread_rwlockattr_init(&attributes);
  if (e != 0) return -e;
  e = pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  if (e == 0) e = pthread_rwlock_init((pthread_rwlock_t *)rwlock, &attributes);
  pthread_rwlockattr_destroy(&attributes);
  return -e;
}
