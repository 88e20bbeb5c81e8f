/*
 * liburcu's "bulletproof" flavour, for this process's own structures only: what its threads look up while another
 * closes it. Nothing of it goes into shared memory: the registry holds process pointers and its membarrier is the
 * private one, which no other process feels. Threads need no registration, so GCD's threads may read.
 *
 * _LGPL_SOURCE asks for the inlined read side (0.7 ns against 8 ns a section); the LGPL permits it for programs
 * that can be relinked. Pointers are published and loaded with the compiler's atomics and not with uatomic_*,
 * which are no more than volatile in this release and which the thread sanitizer does not know.
 *
 * Forking: handlers in shm_fork.c hold the grace-period lock over fork, so that a child may go on using it.
 */
#ifndef SHM_URCU_H
#define SHM_URCU_H

#include "shm_base.h"
#ifndef _LGPL_SOURCE
#define _LGPL_SOURCE 1
#endif
#include <urcu/urcu-bp.h>

SHM_NONNULL_BEGIN

/* Sections nest. Never wait in one for a thread that synchronizes. */
SHM_INLINE void shm_rcu_read_lock(void) { urcu_bp_read_lock(); }
SHM_INLINE void shm_rcu_read_unlock(void) { urcu_bp_read_unlock(); }
/* Asks the thread's reader first: urcu_bp_read_ongoing would register a thread that never read. */
SHM_INLINE bool shm_rcu_is_reading(void) { return URCU_TLS(urcu_bp_reader) != NULL && urcu_bp_read_ongoing() != 0; }

/*
 * Waits until every section that was open has ended. False, at once and without waiting: this thread is inside a
 * section, or the process was forked from within one. Then nothing may be freed.
 */
bool shm_rcu_synchronize(void);

/* PAIR rcu-pointer: what was stored before the pointer was assigned is seen by who loads it. */
SHM_INLINE void *_Nullable shm_rcu_dereference(void *_Nullable const *_Nonnull p) {
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}
SHM_INLINE void shm_rcu_assign(void *_Nullable *_Nonnull p, void *_Nullable value) {
  __atomic_store_n(p, value, __ATOMIC_RELEASE);
}

SHM_NONNULL_END
#endif
