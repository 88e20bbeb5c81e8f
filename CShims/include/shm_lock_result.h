/* What an attempt to take a lock came to. */
#ifndef SHM_LOCK_RESULT_H
#define SHM_LOCK_RESULT_H

#include "shm_base.h"
#include <errno.h>

/* What an attempt came to; a negative number is any other -errno (a damaged lock, too many readers). */
enum {
  SHM_LOCK_ACQUIRED = 0,
  SHM_LOCK_OWNER_DIED = 1,      /* acquired: repair what it protects, then shm_mutex_consistent, then unlock */
  SHM_LOCK_BUSY = 2,
  SHM_LOCK_TIMED_OUT = 3,
  SHM_LOCK_NOT_RECOVERABLE = 4, /* someone unlocked it without shm_mutex_consistent */
  SHM_LOCK_WOULD_DEADLOCK = 5,  /* this thread holds it */
};

static inline int shm_lock_result(int error) {
  switch (error) {
  case 0: return SHM_LOCK_ACQUIRED;
  case EOWNERDEAD: return SHM_LOCK_OWNER_DIED;
  case EBUSY: return SHM_LOCK_BUSY;
  case ETIMEDOUT: return SHM_LOCK_TIMED_OUT;
  case ENOTRECOVERABLE: return SHM_LOCK_NOT_RECOVERABLE;
  case EDEADLK: return SHM_LOCK_WOULD_DEADLOCK;
  default: return -error;
  }
}

#endif
