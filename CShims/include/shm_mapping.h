/* Objects mapped into this process, and their huge pages: the result, or -errno. */
#ifndef SHM_MAPPING_H
#define SHM_MAPPING_H

#include "shm_base.h"

SHM_NONNULL_BEGIN

/*
 * MAP_SHARED from offset 0. `count` may exceed the object's size: pages beyond it are SIGBUS until it grows.
 * Aligned to SHMOS_HUGE_BYTES where address space allows, as huge pages need it.
 */
int shmos_map(int fd, size_t count, bool writable, void *_Nullable *_Nonnull base);
#define SHMOS_HUGE_BYTES ((size_t)2 << 20)
/* How many of `count` bytes of a mapping, from a multiple of SHMOS_HUGE_BYTES on, are backed by huge pages now:
 * madvise(2), MADV_COLLAPSE (Linux 6.1). Takes the kernel some 100 us for each 2 MiB. */
size_t shmos_collapse(void *from, size_t count);
int shmos_unmap(void *base, size_t count);

SHM_NONNULL_END
#endif
