#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#define _LGPL_SOURCE 1
#include <urcu/urcu-bp.h>

#define FLAVOUR bp
#define FLAVOUR_OPS urcu_bp_flavor
#define READ_LOCK() urcu_bp_read_lock()
#define READ_UNLOCK() urcu_bp_read_unlock()
#define ENTER_THREAD() ((void)0)
#define QUIESCENT() ((void)0)
#include "rculfhash.inc"
