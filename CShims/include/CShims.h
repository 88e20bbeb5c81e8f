/* Floor 0: byte layout helpers, atomics with the order in the name, thin system calls. No policy. */
#ifndef CSHIMS_H
#define CSHIMS_H
#include "shm_base.h"
#include "shm_format_fields.h"
#include "shm_atomics.h"
#include "shm_hash.h"
#include "shm_fork.h"
#include "shm_thread.h"
#include "shm_object.h"
#include "shm_mapping.h"
#include "shm_futex.h"
#include "shm_membarrier.h"
#include "shm_clock.h"
#include "shm_process.h"
#include "shm_platform.h"
#include "shm_errno.h"
#include "shm_lock_result.h"
#include "shm_robust_mutex.h"
#include "shm_rwlock.h"
#include "shm_probe.h"
#include "shm_urcu.h"
#endif
