/*
 * Thread records.
 *
 * The first SHM_THREAD_RECORDS records lie in the thread-local state itself; further ones in chunks that are
 * appended, never moved and never shrunk. When the thread ends, a key's destructor runs the function of
 * shm_thread_at_end and frees the chunks. The main thread's chunks live as long as the process.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(shm_thread_record) == 64, "the address of a record is a shift");
_Static_assert((SHM_THREAD_HOMES & (SHM_THREAD_HOMES - 1)) == 0, "a remainder is a mask");
_Static_assert(SHM_THREAD_HOMES == 16, "as many as are spelt out below");

/* The home of nobody: of no segment, and never written to. */
static shm_thread_record nobody;

__thread shm_thread_state shm_thread __attribute__((tls_model("initial-exec"))) = {
    .homes = {&nobody, &nobody, &nobody, &nobody, &nobody, &nobody, &nobody, &nobody, &nobody, &nobody, &nobody,
              &nobody, &nobody, &nobody, &nobody, &nobody}};

#define CHUNK_RECORDS 16

/* `overflow` points at the first chunk's first record, which is the chunk's own address. */
typedef struct chunk {
  shm_thread_record records[CHUNK_RECORDS];
  struct chunk *next;
} chunk;
_Static_assert(offsetof(chunk, records) == 0, "overflow is read as the address of the chunk");

static pthread_key_t end_key; /* its value only has to differ from NULL */
static bool has_end_key;
static void (*at_end)(void);

void shm_thread_at_end(void (*function)(void)) { __atomic_store_n(&at_end, function, __ATOMIC_RELEASE); }

static chunk *first_chunk(void) { return (chunk *)shm_thread.overflow; }

/* Run by the ending thread. Another destructor may come after this one and add a record: then this one runs again. */
static void end_thread(void *unused) {
  (void)unused;
  shm_thread.endIsWatched = false;
  void (*function)(void) = __atomic_load_n(&at_end, __ATOMIC_ACQUIRE);
  if (function != NULL) function();
  free(shm_thread.scratch);
  shm_thread.scratch = NULL;
  chunk *first = first_chunk();
  shm_thread.overflow = NULL;
  shm_thread.overflowCount = 0;
  for (int i = 0; i < SHM_THREAD_HOMES; i++) shm_thread.homes[i] = &nobody;
  for (chunk *c = first; c != NULL;) {
    chunk *next = c->next;
    free(c);
    c = next;
  }
}

static void watch_end(void) {
  if (!shm_thread.endIsWatched && has_end_key) shm_thread.endIsWatched = pthread_setspecific(end_key, &shm_thread) == 0;
}

static shm_thread_record *search(shm_thread_record *records, int count, uint64_t segment) {
  for (int i = 0; i < count; i++)
    if (records[i].segment == segment) return &records[i];
  return NULL;
}

shm_thread_record *shm_thread_find(uint64_t segment) {
  if (segment == 0) return NULL; /* 0 marks a free record */
  shm_thread_record *r = search(shm_thread.records, SHM_THREAD_RECORDS, segment);
  for (chunk *c = first_chunk(); r == NULL && c != NULL; c = c->next) r = search(c->records, CHUNK_RECORDS, segment);
  if (r != NULL) shm_thread.homes[segment % SHM_THREAD_HOMES] = r;
  return r;
}

static shm_thread_record *free_record(void) {
  shm_thread_record *r = search(shm_thread.records, SHM_THREAD_RECORDS, 0);
  chunk *last = NULL;
  for (chunk *c = first_chunk(); r == NULL && c != NULL; c = c->next) {
    r = search(c->records, CHUNK_RECORDS, 0);
    last = c;
  }
  if (r != NULL) return r;

  if (!shm_thread.endIsWatched) return NULL; /* the chunk would leak with every thread */
  chunk *c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  if (last == NULL)
    shm_thread.overflow = c->records;
  else
    last->next = c;
  shm_thread.overflowCount += CHUNK_RECORDS;
  return c->records;
}

shm_thread_record *shm_thread_add(uint64_t segment) {
  if (segment == 0) return NULL;
  watch_end(); /* where that fails the thread's end runs nothing, but the kernel still marks the thread's slots */
  shm_thread_record *r = shm_thread_find(segment);
  if (r == NULL) r = free_record();
  if (r == NULL) return NULL;
  *r = (shm_thread_record){.segment = segment};
  shm_thread.homes[segment % SHM_THREAD_HOMES] = r;
  return r;
}

void shm_thread_remove(uint64_t segment) {
  shm_thread_record *r = shm_thread_find(segment);
  if (r != NULL) *r = (shm_thread_record){0};
}

void *shm_thread_make_scratch(void) {
  if (shm_thread.scratch == NULL && shm_thread.endIsWatched) shm_thread.scratch = malloc(SHM_SCRATCH_BYTES);
  return shm_thread.scratch;
}

/* The first record in use from `index` on; NULL if there is none. */
static shm_thread_record *in_use(shm_thread_record *records, ptrdiff_t index, int count) {
  for (; index < count; index++)
    if (records[index].segment != 0) return &records[index];
  return NULL;
}

/* Where `previous` is among `records`, plus one; 0 if it is not. */
static ptrdiff_t after(const shm_thread_record *previous, const shm_thread_record *records, int count) {
  const uintptr_t bytes = (uintptr_t)previous - (uintptr_t)records;
  return bytes < (uintptr_t)count * sizeof *records ? (ptrdiff_t)(bytes / sizeof *records) + 1 : 0;
}

shm_thread_record *shm_thread_next(const shm_thread_record *previous) {
  ptrdiff_t from = after(previous, shm_thread.records, SHM_THREAD_RECORDS);
  bool begun = previous == NULL || from > 0;
  shm_thread_record *r = begun ? in_use(shm_thread.records, from, SHM_THREAD_RECORDS) : NULL;
  for (chunk *c = first_chunk(); r == NULL && c != NULL; c = c->next) {
    from = begun ? 0 : after(previous, c->records, CHUNK_RECORDS);
    begun = begun || from > 0;
    if (begun) r = in_use(c->records, from, CHUNK_RECORDS);
  }
  return r;
}

void shm_thread_forget(void) {
  memset(shm_thread.records, 0, sizeof shm_thread.records);
  shm_thread.observing = 0;
  shm_thread.outsideIn = 0;
  for (chunk *c = first_chunk(); c != NULL; c = c->next) memset(c->records, 0, sizeof c->records);
}

__attribute__((constructor)) static void make_end_key(void) {
  has_end_key = pthread_key_create(&end_key, end_thread) == 0;
}
