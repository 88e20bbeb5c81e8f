/*
 * XXH3 (64 bits, seeded; xxhash 0.8, https://github.com/Cyan4973/xxHash) and the two word-parallel comparisons of
 * a lookup: a tag against the eight words of a bucket, and a key against a key.
 */
#ifndef SHM_HASH_H
#define SHM_HASH_H

#include "shm_base.h"
#include <string.h>
#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 0 /* Swift's importer defines __NO_INLINE__, from which xxhash would conclude otherwise */
#include <xxhash.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

/* The long form is a call; the short one, which the compiler cuts down to what 16 bytes need, is not. */
uint64_t shm_hash_long(const void *key, size_t length, uint64_t seed);
#if defined(SHM_OUTLINE) && !defined(SHM_OUTLINE_DEFINE)
uint64_t shm_hash(const void *key, size_t length, uint64_t seed);
#else
#ifdef SHM_OUTLINE
#define SHM_HASH
#else
#define SHM_HASH static inline __attribute__((always_inline, flatten))
#endif
SHM_HASH uint64_t shm_hash(const void *key, size_t length, uint64_t seed) {
  return length <= 16 ? XXH3_64bits_withSeed(key, length, seed) : shm_hash_long(key, length, seed);
}
#endif

#if defined(__SSE2__) && !defined(SHM_PORTABLE)
/* All ones in the 16-bit lane of each word whose upper 16 bits equal `tag`. */
static inline __attribute__((always_inline)) __m128i shm_compare_tags(const void *bucket, uint32_t tag) {
  const float *w = (const float *)bucket;
  __m128 a = _mm_load_ps(w), b = _mm_load_ps(w + 4), c = _mm_load_ps(w + 8), d = _mm_load_ps(w + 12);
  __m128i ab = _mm_castps_si128(_mm_shuffle_ps(a, b, 0xDD));
  __m128i cd = _mm_castps_si128(_mm_shuffle_ps(c, d, 0xDD));
  __m128i p = _mm_packs_epi32(_mm_srai_epi32(ab, 16), _mm_srai_epi32(cd, 16));
  return _mm_cmpeq_epi16(p, _mm_set1_epi16((short)tag));
}
#endif

/*
 * Bit i set: the upper 16 bits of word i equal `tag`. `bucket` is 64 bytes, aligned to 64.
 * A plain vector load is not an atomic load: the caller loads the word again, atomically, before it follows it,
 * and the tag it saw may be stale in either direction only as a concurrent get may be ordered before the put.
 */
static inline __attribute__((always_inline)) uint32_t shm_match_tag(const void *bucket, uint32_t tag) {
#if defined(__SSE2__) && !defined(SHM_PORTABLE)
  const __m128i e = shm_compare_tags(bucket, tag);
  return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(e, _mm_setzero_si128())) & 0xffu;
#elif defined(__ARM_NEON) && !defined(SHM_PORTABLE)
  const uint16_t *w = (const uint16_t *)bucket;
  uint16x8x4_t lanes = vld4q_u16(w); /* lane 3 of each word is its upper 16 bits (little-endian) */
  uint16x8_t e = vceqq_u16(lanes.val[3], vdupq_n_u16((uint16_t)tag));
  static const uint16_t weights[8] = {1, 2, 4, 8, 16, 32, 64, 128};
  return vaddvq_u16(vandq_u16(e, vld1q_u16(weights)));
#else
  const uint64_t *w = (const uint64_t *)bucket;
  uint32_t mask = 0;
  for (int i = 0; i < 8; i++)
    mask |= (uint32_t)((__atomic_load_n(&w[i], __ATOMIC_RELAXED) >> 48) == tag) << i;
  return mask;
#endif
}

/* Byte offset in `bucket` of its first word whose upper 16 bits equal `tag`, or -1. As shm_match_tag otherwise. */
static inline __attribute__((always_inline)) intptr_t shm_first_tag(const void *bucket, uint32_t tag) {
#if defined(__SSE2__) && !defined(SHM_PORTABLE)
  const uint32_t twice = (uint32_t)_mm_movemask_epi8(shm_compare_tags(bucket, tag)); /* two bits for each word */
  return twice == 0 ? -1 : (intptr_t)__builtin_ctz(twice) * 4;
#else
  const uint32_t words = shm_match_tag(bucket, tag);
  return words == 0 ? -1 : (intptr_t)__builtin_ctz(words) * 8;
#endif
}

#if defined(SHM_OUTLINE) && !defined(SHM_OUTLINE_DEFINE)
bool shm_equal(const void *x, const void *y, size_t length);
void shm_copy(void *to, const void *from, size_t length);
void shm_copy_short(void *to, const void *from, size_t length);
#else
#ifdef SHM_OUTLINE
#define SHM_PLAIN_ACCESS
#else
#define SHM_PLAIN_ACCESS SHM_INLINE
#endif

/* Equality of two keys of the same length: the first and the last 8 bytes, which may overlap, then what is between. */
SHM_PLAIN_ACCESS bool shm_equal(const void *x, const void *y, size_t length) {
  const unsigned char *a = (const unsigned char *)x, *b = (const unsigned char *)y;
  uint64_t p, q;
  if (__builtin_expect(length >= 8, 1)) {
    memcpy(&p, a, 8);
    memcpy(&q, b, 8);
    if (p != q) return false;
    memcpy(&p, a + length - 8, 8);
    memcpy(&q, b + length - 8, 8);
    if (p != q) return false;
    for (size_t i = 8; __builtin_expect(i + 8 < length, 0); i += 8) {
      memcpy(&p, a + i, 8);
      memcpy(&q, b + i, 8);
      if (p != q) return false;
    }
    return true;
  }
  for (size_t i = 0; i < length; i++)
    if (a[i] != b[i]) return false;
  return true;
}

SHM_PLAIN_ACCESS void shm_copy(void *to, const void *from, size_t length) {
  memcpy(to, from, length);
}

/* The same for what mostly has 8 to 32 bytes, as keys: two words, which may overlap, cost less than a call. */
SHM_PLAIN_ACCESS void shm_copy_short(void *to, const void *from, size_t length) {
  unsigned char *t = (unsigned char *)to;
  const unsigned char *f = (const unsigned char *)from;
  unsigned char first[16], last[16];
  if (length - 8 <= 8) {
    memcpy(first, f, 8);
    memcpy(last, f + length - 8, 8);
    memcpy(t, first, 8);
    memcpy(t + length - 8, last, 8);
  } else if (length - 16 <= 16) {
    memcpy(first, f, 16);
    memcpy(last, f + length - 16, 16);
    memcpy(t, first, 16);
    memcpy(t + length - 16, last, 16);
  } else {
    memcpy(t, f, length);
  }
}
#endif

/*
 * The same for an observer, whose source may be overwritten while it looks: what comes of it is believed only after
 * validation. A race by design, so the thread sanitizer is not shown it.
 */
#ifdef SHM_OUTLINE
bool shm_equal_racy(const void *x, const void *y, size_t length);
void shm_copy_racy(void *to, const void *from, size_t length);
uint64_t shm_hash_racy(const void *key, size_t length, uint64_t seed);
#else
SHM_INLINE bool shm_equal_racy(const void *x, const void *y, size_t length) { return shm_equal(x, y, length); }
SHM_INLINE void shm_copy_racy(void *to, const void *from, size_t length) { shm_copy(to, from, length); }
SHM_INLINE uint64_t shm_hash_racy(const void *key, size_t length, uint64_t seed) { return shm_hash(key, length, seed); }
#endif

#endif
