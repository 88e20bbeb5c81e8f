#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#define _LGPL_SOURCE 1
#include <urcu/urcu-qsbr.h>

#define FLAVOUR qsbr
#define FLAVOUR_OPS urcu_qsbr_flavor
#define READ_LOCK() urcu_qsbr_read_lock()
#define READ_UNLOCK() urcu_qsbr_read_unlock()
#define ENTER_THREAD() urcu_qsbr_register_thread()
#define QUIESCENT() urcu_qsbr_quiescent_state()
#include "rculfhash.inc"
