#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_clock.h"

#include <time.h>

uint64_t shmos_realtime_ns(void) { return shmos_now_ns(CLOCK_REALTIME); }
uint64_t shmos_monotonic_ns(void) { return shmos_now_ns(CLOCK_MONOTONIC); }

void shmos_sleep(uint64_t ns) {
  struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}
