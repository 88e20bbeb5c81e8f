#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_urcu.h"
#include "shm_fork.h"

bool shm_rcu_synchronize(void) {
  /* Inside a section it would wait for itself. */
  if (shm_rcu_is_reading() || shm_forked_inside_section()) return false;
  urcu_bp_synchronize_rcu();
  return true;
}
