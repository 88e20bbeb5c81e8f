#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <pthread.h>
#include <rte_config.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_jhash.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "CPeers.h"
#include "shm_hash.h"

#define BULK 32

struct rte_table {
  struct rte_hash *hash;
  size_t value_bytes;
};

/* The hash that all of us use, so that the tables are compared and not their hashes. */
static uint32_t hash_key(const void *key, uint32_t length, uint32_t seed) {
  return (uint32_t)shm_hash(key, length, seed);
}

static void start(void) {
  static int started;
  if (started) return;
  started = 1;
  char *arguments[] = {"bench", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "-m", "1024", "-l", "0",
                       "--log-level=error"};
  /* EAL pins the calling thread: take that back. */
  cpu_set_t cpus;
  pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus);
  if (rte_eal_init(sizeof arguments / sizeof *arguments, arguments) < 0) peer_fail("rte_eal_init", rte_strerror(rte_errno));
  pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
}

rte_table *rte_create(size_t keys, size_t value_bytes) {
  start();
  static int number;
  char name[16];
  snprintf(name, sizeof name, "bench%d", number++);
  struct rte_hash_parameters p = {
      .name = name,
      .entries = (uint32_t)(keys + keys / 2),
      .key_len = PEER_KEY_BYTES,
      .hash_func = hash_key,
      .socket_id = -1,
      .extra_flag = RTE_HASH_EXTRA_FLAGS_RW_CONCURRENCY_LF,
  };
  rte_table *t = malloc(sizeof *t);
  t->hash = rte_hash_create(&p);
  t->value_bytes = value_bytes;
  if (t->hash == NULL) peer_fail("rte_hash_create", rte_strerror(rte_errno));
  return t;
}

void rte_put(rte_table *t, const void *key, const void *value) {
  void *copy = malloc(t->value_bytes);
  memcpy(copy, value, t->value_bytes);
  const int e = rte_hash_add_key_data(t->hash, key, copy);
  if (e < 0) peer_fail("rte_hash_add_key_data", rte_strerror(-e));
}

uint64_t rte_get_all(rte_table *t, const void *keys, size_t count, void *buffer) {
  uint64_t sum = 0;
  const unsigned char *key = keys;
  for (size_t i = 0; i < count; i++, key += PEER_KEY_BYTES) {
    void *value;
    if (rte_hash_lookup_data(t->hash, key, &value) < 0) continue;
    memcpy(buffer, value, t->value_bytes);
    sum += t->value_bytes;
  }
  return sum;
}

uint64_t rte_get_bulk(rte_table *t, const void *keys, size_t count, void *buffer) {
  uint64_t sum = 0;
  for (size_t done = 0; done + BULK <= count; done += BULK) {
    const void *names[BULK];
    void *values[BULK];
    uint64_t hits = 0;
    for (int i = 0; i < BULK; i++) names[i] = (const char *)keys + (done + i) * PEER_KEY_BYTES;
    rte_hash_lookup_bulk_data(t->hash, names, BULK, &hits, values);
    for (; hits != 0; hits &= hits - 1) {
      const int i = __builtin_ctzll(hits);
      memcpy((char *)buffer + (size_t)i * t->value_bytes, values[i], t->value_bytes);
      sum += t->value_bytes;
    }
  }
  return sum;
}
