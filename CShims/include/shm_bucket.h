/* A tag beside the eight words of a bucket, in one comparison: what a lookup asks first. */
#ifndef SHM_BUCKET_H
#define SHM_BUCKET_H

#include "shm_base.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
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
 * A plain vector load is not an atomic load: the caller loads the word again, atomically, before it follows it. The
 * tags may be out of date: a put that the comparison misses counts as later than the caller's get, and if a word has
 * changed since, the key that it leads to decides.
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

#endif
