/*
 * What a thread knows of the tables it uses: its slot in each, what sections it is in, and at which snapshot.
 * Initial-exec TLS, so that reading it is one instruction in executables and shared libraries alike.
 * Only its own thread reads or writes a record: no atomics.
 */
#ifndef SHM_THREAD_H
#define SHM_THREAD_H

#include "shm_base.h"
#include "shm_fork.h"
#include <string.h>

typedef struct {
  uint64_t segment;      /* process-unique number of the attached segment; 0 = no record */
  void *_Nullable slot;  /* this thread's slot in the segment's ctl object */
  uint64_t snapshot;     /* version the current read section sees */
  uint32_t readDepth;    /* nested read sections; only the outermost announces and withdraws */
  uint32_t inBarrier;    /* the barrier of this table that it runs: a BarrierMark */
  uint64_t now;          /* the section's instant for expiry, in nanoseconds since 1970 */
  uint32_t slotIndex;
  uint32_t reserved;
  uint64_t sequence;     /* an observer of the rwlock variant: the even wseq its section began at */
  void *_Nullable changes; /* what a barrier of some keys has changed so far; 64 bytes: a record's address is a shift */
} shm_thread_record;

#define SHM_THREAD_RECORDS 8
#define SHM_THREAD_HOMES 16 /* a power of two: a segment's number, modulo this, says where its record is first sought */

typedef struct {
  shm_thread_record *_Nonnull homes[SHM_THREAD_HOMES]; /* the record found last of those that are sought here */
  shm_thread_record records[SHM_THREAD_RECORDS];
  shm_thread_record *_Nullable overflow; /* further records, freed when the thread ends */
  uint32_t overflowCount;
  bool endIsWatched; /* this thread's end runs shm_thread_at_end's function and frees the overflow */
  uint32_t observing; /* observers' outermost sections that this thread is in, over all tables */
  uint64_t outsideIn; /* the fork generation in which this thread left the last of these; 0 while it is in one */
  uint64_t seenEnds;  /* how many segments of this process had ended when this thread last gave back what it had in
                         them */
  void *_Nullable scratch; /* see shm_thread_scratch; freed when the thread ends */
} shm_thread_state;

extern __thread shm_thread_state shm_thread __attribute__((tls_model("initial-exec")));

/* The record of `segment`, or NULL: then shm_thread_add makes one. Never blocks. */
shm_thread_record *_Nullable shm_thread_find(uint64_t segment);
/* Where the record of `segment` is, unless this thread has last used another table whose number is equal modulo
 * SHM_THREAD_HOMES: compare its segment. A pointer and not the record's place, since a thread keeps the records of
 * tables that it has long closed, and these must not keep the others from being read at full speed. */
static inline __attribute__((always_inline)) shm_thread_record *_Nonnull shm_thread_home(uint64_t segment) {
  return shm_thread.homes[segment % SHM_THREAD_HOMES];
}
/* The record of `segment` or NULL; without a call if it is at home. */
static inline __attribute__((always_inline)) shm_thread_record *_Nullable shm_thread_quick_find(uint64_t segment) {
  shm_thread_record *home = shm_thread_home(segment);
  return __builtin_expect(home->segment == segment, 1) ? home : shm_thread_find(segment);
}
/* Is the record's thread in no section and no barrier of its segment? Both counters at once. */
static inline __attribute__((always_inline)) bool shm_thread_is_outside(const shm_thread_record *_Nonnull record) {
  uint64_t both;
  _Static_assert(offsetof(shm_thread_record, inBarrier) == offsetof(shm_thread_record, readDepth) + 4, "one word");
  memcpy(&both, &record->readDepth, sizeof both);
  return both == 0;
}
/* The slot of a participant's record, which has one from the start. */
static inline __attribute__((always_inline)) void *_Nonnull shm_thread_slot(const shm_thread_record *_Nonnull record) {
  if (record->slot == NULL) __builtin_unreachable(); /* for the compiler, which need not ask again then */
  return record->slot;
}
/* A zeroed record for `segment`; NULL when memory is exhausted. Records never move while their thread lives. */
shm_thread_record *_Nullable shm_thread_add(uint64_t segment);
/* Forgets the record of `segment` in this thread. */
void shm_thread_remove(uint64_t segment);
/* The first record of this thread after `previous`, of all in use; NULL behind the last. Begins at NULL. Removing the
 * one that was returned last is allowed. */
shm_thread_record *_Nullable shm_thread_next(const shm_thread_record *_Nullable previous);
/* Forgets all that the calling thread knows of tables: for a child made by fork, whose records are copies of its
 * parent's. Only writes memory. */
void shm_thread_forget(void);
/* The function that each ending thread runs, if it has a record, before its records go: for what they name. Set it
 * before the first record is added. A destructor of the program that runs later may add a record: then it runs again,
 * as often as the C library repeats destructors. A thread that is killed together with its process runs nothing. */
void shm_thread_at_end(void (*_Nonnull function)(void));
/* Have more segments ended than this thread last knew of? From then on it knows of `ends`. */
static inline bool shm_thread_learn_ends(uint64_t ends) {
  const bool news = shm_thread.seenEnds != ends;
  shm_thread.seenEnds = ends;
  return news;
}

/* SHM_SCRATCH_BYTES bytes of this thread's, aligned to 16, for what is put together on its way into a table: the C
 * library's allocator takes several times as many instructions for a kilobyte. NULL if there are none; then allocate.
 * They keep no contents: whoever uses them calls nobody who might use them, too. */
#define SHM_SCRATCH_BYTES 9216
void *_Nullable shm_thread_make_scratch(void);
static inline __attribute__((always_inline)) void *_Nullable shm_thread_scratch(void) {
  void *scratch = shm_thread.scratch;
  return __builtin_expect(scratch != NULL, 1) ? scratch : shm_thread_make_scratch();
}

/* Enters (+1) or leaves (-1) an observer's outermost section. */
static inline __attribute__((always_inline)) void shm_thread_observe(int32_t change) {
  shm_thread.observing += (uint32_t)change;
  shm_thread.outsideIn = shm_thread.observing == 0 ? shm_fork_generation() : 0;
}
/* Is this thread in no observer's section of any table, and in the process that a handle of `generation` belongs to?
 * Both at once. Also no until the thread has left its first such section. */
static inline __attribute__((always_inline)) bool shm_thread_observes_nothing(uint64_t generation) {
  return shm_thread.outsideIn == generation;
}

#endif
