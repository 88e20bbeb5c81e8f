/*
 * Atomics on shared memory with the memory order in the name. There is no default order: a caller says what it
 * needs, and the comment at the call names the pair. All operate on naturally aligned words, lock-free on every
 * supported machine, and are therefore safe between processes.
 */
#ifndef SHM_ATOMICS_H
#define SHM_ATOMICS_H

#include "shm_base.h"

_Static_assert(__atomic_always_lock_free(8, 0), "64-bit atomics must be lock-free to be shared between processes");

static inline __attribute__((always_inline)) uint64_t shm_load_relaxed(const void *p) {
  return __atomic_load_n((const uint64_t *)p, __ATOMIC_RELAXED);
}
static inline __attribute__((always_inline)) uint64_t shm_load_acquire(const void *p) {
  return __atomic_load_n((const uint64_t *)p, __ATOMIC_ACQUIRE);
}
static inline __attribute__((always_inline)) void shm_store_relaxed(void *p, uint64_t v) {
  __atomic_store_n((uint64_t *)p, v, __ATOMIC_RELAXED);
}
static inline __attribute__((always_inline)) void shm_store_release(void *p, uint64_t v) {
  __atomic_store_n((uint64_t *)p, v, __ATOMIC_RELEASE);
}
static inline __attribute__((always_inline)) uint64_t shm_exchange_seqcst(void *p, uint64_t v) {
  return __atomic_exchange_n((uint64_t *)p, v, __ATOMIC_SEQ_CST);
}
/* Strong compare-and-swap, sequentially consistent on success, acquire on failure. */
static inline __attribute__((always_inline)) bool shm_cas_seqcst(void *p, uint64_t expected, uint64_t desired) {
  return __atomic_compare_exchange_n((uint64_t *)p, &expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}
/* Adds (wrapping) and returns what was there before. */
static inline __attribute__((always_inline)) uint64_t shm_add_seqcst(void *p, uint64_t v) {
  return __atomic_fetch_add((uint64_t *)p, v, __ATOMIC_SEQ_CST);
}
static inline __attribute__((always_inline)) uint64_t shm_load_seqcst(const void *p) {
  return __atomic_load_n((const uint64_t *)p, __ATOMIC_SEQ_CST);
}
static inline __attribute__((always_inline)) uint32_t shm_load32_relaxed(const void *p) {
  return __atomic_load_n((const uint32_t *)p, __ATOMIC_RELAXED);
}
static inline __attribute__((always_inline)) uint32_t shm_load32_acquire(const void *p) {
  return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
}
static inline __attribute__((always_inline)) uint32_t shm_add32_release(void *p, uint32_t v) {
  return __atomic_fetch_add((uint32_t *)p, v, __ATOMIC_RELEASE);
}
static inline __attribute__((always_inline)) void shm_fence_acquire(void) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
}
static inline __attribute__((always_inline)) void shm_fence_release(void) {
  __atomic_thread_fence(__ATOMIC_RELEASE);
}
static inline __attribute__((always_inline)) void shm_fence_seqcst(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
/*
 * A full fence right after an atomic read-modify-write that somebody else made, such as pthread_mutex_unlock. On x86
 * that was a locked instruction, a full fence by itself; elsewhere its release orders no later load.
 */
static inline __attribute__((always_inline)) void shm_fence_after_rmw(void) {
#if defined(__x86_64__) || defined(__i386__)
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
/* Orders nothing between processors; keeps the compiler from moving stores across it. Enough between a store and
 * the crash that follows it: a killed process leaves a program-order prefix of its stores. */
static inline __attribute__((always_inline)) void shm_fence_compiler(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
static inline __attribute__((always_inline)) void shm_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield" ::: "memory");
#endif
}
static inline __attribute__((always_inline)) void shm_prefetch(const void *p) { __builtin_prefetch(p); }
/* Into the second-level cache: for more lines at once than the first level has buffers for misses. Prefetches into that
 * one would wait for a buffer. */
static inline __attribute__((always_inline)) void shm_prefetch_l2(const void *p) { __builtin_prefetch(p, 0, 2); }
/* For a store: the line comes without a copy in another processor's cache. By its instruction on x86-64, where processors without
 * it take it for none: a compiler that serves all of them prefetches for a load instead. */
static inline __attribute__((always_inline)) void shm_prefetch_to_store(const void *p) {
#if defined(__x86_64__)
  __asm__ __volatile__("prefetchw %0" : : "m"(*(const char *)p));
#else
  __builtin_prefetch(p, 1);
#endif
}

#endif
