/* Time, in nanoseconds. */
#ifndef SHM_CLOCK_H
#define SHM_CLOCK_H

#include "shm_base.h"

SHM_NONNULL_BEGIN

uint64_t shmos_realtime_ns(void);
uint64_t shmos_monotonic_ns(void);
/* As of the last tick: some milliseconds old, a fraction of the price. */
uint64_t shmos_monotonic_coarse_ns(void);
/* May return early when a signal handler runs. */
void shmos_sleep(uint64_t ns);

SHM_NONNULL_END
#endif
