/*
 * Tells the thread sanitizer what Swift's Mutex does once it is contended.
 *
 * The quick halves of Synchronization.Mutex are compiled into its users, as atomics that the sanitizer sees. The slow ones
 * lie in a library that it does not instrument, and leave the handing over to the kernel (FUTEX_LOCK_PI, futex(2)): without
 * what is here, two threads that meet at a lock may be reported as a race in what they do under it. The functions below
 * take the names of the slow halves (Swift 6; LinuxImpl.swift of the Synchronization module), call them, and say what they did.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "csanitize.h"

#if __has_feature(thread_sanitizer)
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define HANDLE "$s15Synchronization12_MutexHandleV"
#define LOCK HANDLE "9_lockSlowyys6UInt32VF"
#define TRY_LOCK HANDLE "12_tryLockSlowSbyF"
#define UNLOCK HANDLE "11_unlockSlowyyF"
#define SELF __attribute__((swift_context)) void *mutex

typedef __attribute__((swiftcall)) void lock_function(uint32_t thread, SELF);
typedef __attribute__((swiftcall)) bool try_lock_function(SELF);
typedef __attribute__((swiftcall)) void unlock_function(SELF);

static lock_function *real_lock;
static try_lock_function *real_try_lock;
static unlock_function *real_unlock;

__attribute__((constructor)) static void find_real(void) {
  real_lock = (lock_function *)dlsym(RTLD_NEXT, LOCK);
  real_try_lock = (try_lock_function *)dlsym(RTLD_NEXT, TRY_LOCK);
  real_unlock = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK);
  /* A Swift whose Mutex is another: see what it does, and say that here. */
  if (real_lock == NULL || real_try_lock == NULL || real_unlock == NULL) abort();
}

__attribute__((swiftcall)) void lock_slowly(uint32_t thread, SELF) __asm__(LOCK);
__attribute__((swiftcall)) bool try_lock_slowly(SELF) __asm__(TRY_LOCK);
__attribute__((swiftcall)) void unlock_slowly(SELF) __asm__(UNLOCK);

__attribute__((swiftcall)) void lock_slowly(uint32_t thread, SELF) {
  real_lock(thread, mutex);
  __tsan_acquire(mutex);
}

__attribute__((swiftcall)) bool try_lock_slowly(SELF) {
  const bool is_locked = real_try_lock(mutex);
  if (is_locked) __tsan_acquire(mutex);
  return is_locked;
}

__attribute__((swiftcall)) void unlock_slowly(SELF) {
  __tsan_release(mutex);
  real_unlock(mutex);
}
#endif
