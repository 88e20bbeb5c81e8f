#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_platform.h"

#include <gnu/libc-version.h>
#include <pthread.h>

uint32_t shmos_mutex_size(void) { return sizeof(pthread_mutex_t); }
uint32_t shmos_rwlock_size(void) { return sizeof(pthread_rwlock_t); }
const char *shmos_libc_version(void) { return gnu_get_libc_version(); }

const char *shmos_architecture(void) {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
#error "Only x86_64 and aarch64 are supported; another machine needs its name here and a look at shm_atomics.h."
#endif
}
