#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_clock.h"

#include <time.h>

static uint64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t); /* cannot fail for these clocks and a valid address */
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t shmos_realtime_ns(void) { return now(CLOCK_REALTIME); }
uint64_t shmos_monotonic_ns(void) { return now(CLOCK_MONOTONIC); }
uint64_t shmos_monotonic_coarse_ns(void) { return now(CLOCK_MONOTONIC_COARSE); }

void shmos_sleep(uint64_t ns) {
  struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}
