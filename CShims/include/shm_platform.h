/* What two processes must agree on to share pthread objects. */
#ifndef SHM_PLATFORM_H
#define SHM_PLATFORM_H

#include "shm_base.h"

SHM_NONNULL_BEGIN

uint32_t shmos_mutex_size(void);
uint32_t shmos_rwlock_size(void);
const char *shmos_libc_version(void); /* "2.36" */
const char *shmos_architecture(void); /* "x86_64" */

SHM_NONNULL_END
#endif
