/* fork(): its generations, by which a handle knows whose it is, and how it is kept out. Handlers: shm_fork.c. */
#ifndef SHM_FORK_H
#define SHM_FORK_H

#include "shm_base.h"

/* 1 in the process image that loaded the library, and one more with every fork since: handles compare it. Never 0. */
extern uint64_t shm_fork_count;
static inline __attribute__((always_inline)) uint64_t shm_fork_generation(void) {
  return __atomic_load_n(&shm_fork_count, __ATOMIC_RELAXED);
}
/* Was this process forked by a thread inside a section of liburcu? It gets no grace periods. */
bool shm_forked_inside_section(void);
/* Keeps fork() out: for what a child must find unlocked and whole. Not recursive, and never for long. */
void shm_fork_lock(void);
void shm_fork_unlock(void);
/*
 * Has children close this descriptor before fork() returns there: for a lock of its open file description, which would last as long as
 * the child. The owner withdraws it before it closes it. -ENOSPC when as many are noted as can be.
 */
int shm_fork_close_in_child(int fd);
void shm_fork_leave_to_child(int fd);

#endif
