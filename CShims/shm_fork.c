/*
 * What must happen around fork: a child has only the thread that forked, with copies of its parent's records and locks.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_fork.h"
#include "shm_thread.h"
#include "shm_urcu.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* Written only in a fork's child while it has one thread; atomic because threads it makes later read it. */
uint64_t shm_fork_count = 1;
static bool forked_inside_section;

bool shm_forked_inside_section(void) { return __atomic_load_n(&forked_inside_section, __ATOMIC_RELAXED); }

/*
 * Held over fork, so that no other thread is inside what it covers at that moment: in the child such a thread does not
 * go on, and its locks stay locked. Taken before liburcu's, as by those who wait for a grace period inside it.
 */
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;

void shm_fork_lock(void) { pthread_mutex_lock(&fork_lock); }
void shm_fork_unlock(void) { pthread_mutex_unlock(&fork_lock); }

/*
 * Descriptors that a child closes, each one higher so that 0 is a free place. A place names a descriptor only while that is open, at any moment
 * at which another thread may fork. Atomic because several threads note theirs at once; the child finds what the parent's memory was.
 */
static int closed_in_child[64];
enum { CLOSED_IN_CHILD = sizeof closed_in_child / sizeof closed_in_child[0] };

static bool replace_place(int from, int to) {
  for (int i = 0; i < CLOSED_IN_CHILD; i++) {
    int found = from;
    if (__atomic_compare_exchange_n(&closed_in_child[i], &found, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return true;
  }
  return false;
}

int shm_fork_close_in_child(int fd) { return replace_place(0, fd + 1) ? 0 : -ENOSPC; }
void shm_fork_leave_to_child(int fd) { replace_place(fd + 1, 0); }

/* Its owners' copies in the child belong to threads that are not there, so nobody closes these numbers a second time. */
static void close_descriptors(void) {
  for (int i = 0; i < CLOSED_IN_CHILD; i++) {
    const int place = __atomic_load_n(&closed_in_child[i], __ATOMIC_RELAXED);
    __atomic_store_n(&closed_in_child[i], 0, __ATOMIC_RELAXED);
    if (place != 0) close(place - 1);
  }
}

/*
 * liburcu wants its lock held over fork, and its registry in the child pruned of threads that are not there.
 * But a thread that forks inside a section must not wait for the lock: its holder may be waiting for that section to
 * end. So such a child gets no grace periods any more: it leaks what it would have freed. Nor does it touch liburcu's
 * locks when it forks in its turn: a thread that held them when the child was made is not there to give them back.
 */
static void before_fork(void) {
  if (shm_rcu_is_reading()) return;
  pthread_mutex_lock(&fork_lock);
  if (!shm_forked_inside_section()) urcu_bp_before_fork();
}

static void after_fork_in_parent(void) {
  if (shm_rcu_is_reading()) return;
  pthread_mutex_unlock(&fork_lock);
  /* Last, as in the child: it lets signals through again, whose handlers find the locks free. */
  if (!shm_forked_inside_section()) urcu_bp_after_fork_parent();
}

static void after_fork_in_child_inside_section(void) {
  __atomic_store_n(&forked_inside_section, true, __ATOMIC_RELAXED);
  /* The parent did not take it before the fork: another thread may have held it. */
  pthread_mutex_init(&fork_lock, NULL);
}

/*
 * The child's thread has a copy of its parent's records: they name slots that belong to the parent, whose robust
 * mutexes the child does not hold. It starts with none, so that its first use takes the slow path, where the
 * generation is compared. No lock is taken here: another thread may have held any at the fork.
 * A child made by clone() or _Fork() runs no handlers; one that execs needs none.
 */
static void after_fork_in_child(void) {
  __atomic_store_n(&shm_fork_count, shm_fork_count + 1, __ATOMIC_RELAXED);
  shm_thread_forget();
  close_descriptors();
  if (shm_rcu_is_reading()) {
    after_fork_in_child_inside_section();
    return;
  }
  pthread_mutex_unlock(&fork_lock);
  /* Blocked signals come now: a handler that ran before would have taken the child for its parent. */
  if (!shm_forked_inside_section()) urcu_bp_after_fork_child();
}

__attribute__((constructor)) static void watch_forks(void) {
  /* Without the handlers a child would write into its parent's slots: better not to start at all. */
  if (pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) abort();
}
