#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_membarrier.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static int membarrier(int command) { return shm_result((int)syscall(SYS_membarrier, command, 0, 0)); }

int shmos_membarrier_register_global_expedited(void) { return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED); }
int shmos_membarrier_global_expedited(void) { return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }
