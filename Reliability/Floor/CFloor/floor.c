#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "floor.h"
#include "shm_bucket.h"
#include "shm_bytes.h"
#include "shm_hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BUCKET_WORDS 8
#define OFFSET_MASK ((1ULL << 48) - 1)
#define SEED 0x5eed

typedef struct __attribute__((packed)) {
  uint64_t version;
  uint16_t key_length, value_length;
  unsigned char bytes[];
} entry;
_Static_assert(sizeof(entry) + FLOOR_KEY_BYTES + 100 == 128, "two cache lines an entry");

struct floor_table {
  unsigned char *base;
  uint64_t *words;
  uint64_t mask; /* number of buckets - 1 */
  size_t stride;
  size_t value_bytes;
  size_t used; /* bytes of base */
  size_t bytes;
};

floor_table *floor_create(size_t keys, size_t value_bytes) {
  size_t buckets = 64;
  while (buckets * BUCKET_WORDS * 7 < keys * 10) buckets *= 2; /* at most 70 % full */
  const size_t index = buckets * BUCKET_WORDS * sizeof(uint64_t);
  floor_table *t = malloc(sizeof *t);
  t->value_bytes = value_bytes;
  t->stride = (sizeof(entry) + FLOOR_KEY_BYTES + value_bytes + 63) / 64 * 64;
  t->bytes = index + keys * t->stride;
  t->base = mmap(NULL, t->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (t->base == MAP_FAILED) {
    perror("floor: mmap");
    exit(1);
  }
  t->words = (uint64_t *)t->base;
  t->mask = buckets - 1;
  t->used = index;
  return t;
}

void floor_destroy(floor_table *t) {
  munmap(t->base, t->bytes);
  free(t);
}

/* 0 marks an empty word. */
static inline uint32_t tag_of(uint64_t hash) {
  const uint32_t tag = (uint32_t)(hash >> 48);
  return tag ? tag : 1;
}

void floor_put(floor_table *t, const void *key, const void *value) {
  entry *e = (entry *)(t->base + t->used);
  e->version = 1;
  e->key_length = FLOOR_KEY_BYTES;
  e->value_length = (uint16_t)t->value_bytes;
  memcpy(e->bytes, key, FLOOR_KEY_BYTES);
  memcpy(e->bytes + FLOOR_KEY_BYTES, value, t->value_bytes);
  const uint64_t hash = shm_hash(key, FLOOR_KEY_BYTES, SEED);
  for (uint64_t bucket = hash & t->mask;; bucket = (bucket + 1) & t->mask) {
    uint64_t *words = t->words + bucket * BUCKET_WORDS;
    for (int i = 0; i < BUCKET_WORDS; i++) {
      if (words[i] != 0) continue;
      words[i] = (uint64_t)tag_of(hash) << 48 | t->used;
      t->used += t->stride;
      return;
    }
  }
}

static inline __attribute__((always_inline)) entry *find(const floor_table *t, const void *key, size_t length) {
  const uint64_t hash = shm_hash(key, length, SEED);
  const uint32_t tag = tag_of(hash);
  for (uint64_t bucket = hash & t->mask;; bucket = (bucket + 1) & t->mask) {
    const uint64_t *words = t->words + bucket * BUCKET_WORDS;
    for (uint32_t m = shm_match_tag(words, tag); m != 0; m &= m - 1) {
      entry *e = (entry *)(t->base + (words[__builtin_ctz(m)] & OFFSET_MASK));
      if (e->key_length == length && shm_equal(e->bytes, key, length)) return e;
    }
    if (shm_match_tag(words, 0) != 0) return NULL;
  }
}

uint64_t floor_get_all(const floor_table *t, const void *keys, size_t count, void *buffer) {
  uint64_t sum = 0;
  const unsigned char *key = keys;
  for (size_t i = 0; i < count; i++, key += FLOOR_KEY_BYTES) {
    const entry *e = find(t, key, FLOOR_KEY_BYTES);
    if (e == NULL) continue;
    const size_t length = e->value_length;
    memcpy(buffer, e->bytes + FLOOR_KEY_BYTES, length);
    sum += length;
  }
  return sum;
}

uint64_t floor_set_all(floor_table *t, const void *keys, size_t count, const void *value) {
  uint64_t sum = 0;
  const unsigned char *key = keys;
  for (size_t i = 0; i < count; i++, key += FLOOR_KEY_BYTES) {
    entry *e = find(t, key, FLOOR_KEY_BYTES);
    if (e == NULL) continue;
    e->version++;
    memcpy(e->bytes + FLOOR_KEY_BYTES, value, t->value_bytes);
    sum += t->value_bytes;
  }
  return sum;
}
