#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#define _LGPL_SOURCE 1
#include <urcu/urcu-memb.h>

#define FLAVOUR memb
#define FLAVOUR_OPS urcu_memb_flavor
#define READ_LOCK() urcu_memb_read_lock()
#define READ_UNLOCK() urcu_memb_read_unlock()
#define ENTER_THREAD() urcu_memb_register_thread()
#define QUIESCENT() ((void)0)
#include "rculfhash.inc"
