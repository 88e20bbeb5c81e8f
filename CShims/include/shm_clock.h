/* Time, in nanoseconds. */
#ifndef SHM_CLOCK_H
#define SHM_CLOCK_H

#include "shm_base.h"
#include <time.h>

SHM_NONNULL_BEGIN

/* Of a clock that there is. */
SHM_INLINE uint64_t shmos_now_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t); /* cannot fail for these clocks and a valid address */
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t shmos_realtime_ns(void);
uint64_t shmos_monotonic_ns(void);
/* As of the last tick: some milliseconds old, a fraction of the price. */
SHM_INLINE uint64_t shmos_monotonic_coarse_ns(void) { return shmos_now_ns(CLOCK_MONOTONIC_COARSE); }
/* May return early when a signal handler runs. */
void shmos_sleep(uint64_t ns);

SHM_NONNULL_END
#endif
