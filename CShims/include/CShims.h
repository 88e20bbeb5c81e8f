/* Floor 0: byte layout helpers, atomics with the order in the name, thin system calls. No policy. */
#ifndef CSHIMS_H
#define CSHIMS_H
#include "shm_base.h"
#include "shm_format_fields.h"
#include "shm_atomics.h"
#include "shm_hash.h"
#include "shm_thread.h"
#include "shm_os.h"
#include "shm_lock.h"
#include "shm_probe.h"
#include "shm_urcu.h"
#endif
