#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_futex.h"
#include "shm_clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int shmos_futex_wait(const void *word, uint32_t expected, int64_t timeout_ns) {
  if (timeout_ns < 0) timeout_ns = 0;
  struct timespec t = {.tv_sec = (time_t)(timeout_ns / 1000000000), .tv_nsec = (long)(timeout_ns % 1000000000)};
  return shm_result((int)syscall(SYS_futex, word, FUTEX_WAIT, expected, &t, NULL, 0));
}

int shmos_futex_wait_many(const void *const *words, const uint32_t *expected, int count, int64_t timeout_ns) {
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
  /* struct futex_waitv and FUTEX_32 of <linux/futex.h>, which older systems' headers lack. */
  struct {
    uint64_t value, address;
    uint32_t flags, reserved;
  } waiters[SHMOS_FUTEX_MANY];
  if (count < 1 || count > SHMOS_FUTEX_MANY) return -EINVAL;
  for (int i = 0; i < count; i++) {
    waiters[i].value = expected[i];
    waiters[i].address = (uint64_t)(uintptr_t)words[i];
    waiters[i].flags = 2;
    waiters[i].reserved = 0;
  }
  if (timeout_ns < 0) timeout_ns = 0;
  const uint64_t end = shmos_monotonic_ns() + (uint64_t)timeout_ns; /* absolute, unlike futex(2)'s; cannot wrap */
  struct timespec t = {.tv_sec = (time_t)(end / 1000000000u), .tv_nsec = (long)(end % 1000000000u)};
  return shm_result((int)syscall(SYS_futex_waitv, waiters, count, 0, &t, CLOCK_MONOTONIC));
}

int shmos_futex_wake(const void *word, int count) {
  return shm_result((int)syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0));
}
