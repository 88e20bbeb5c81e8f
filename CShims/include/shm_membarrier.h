/* Memory barriers in other processes: membarrier(2). The result, or -errno. */
#ifndef SHM_MEMBARRIER_H
#define SHM_MEMBARRIER_H

#include "shm_base.h"

SHM_NONNULL_BEGIN

/* Makes this process one that shmos_membarrier_global_expedited reaches. Survives fork, not exec. */
int shmos_membarrier_register_global_expedited(void);
/* A full fence on every running thread of every registered process; the caller need not be registered. */
int shmos_membarrier_global_expedited(void);

SHM_NONNULL_END
#endif
