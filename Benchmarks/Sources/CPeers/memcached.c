#include "CPeers.h"

#include <libmemcached/memcached.h>
#include <stdlib.h>
#include <string.h>

struct memcached_client {
  memcached_st *server;
};

memcached_client *memcached_connect(const char *socket) {
  memcached_client *c = malloc(sizeof *c);
  c->server = memcached_create(NULL);
  memcached_behavior_set(c->server, MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, 1);
  if (memcached_success(memcached_server_add_unix_socket(c->server, socket))) return c;
  peer_fail("memcached", "cannot add the socket");
}

void memcached_destroy(memcached_client *c) {
  memcached_free(c->server);
  free(c);
}

static uint64_t get_one(memcached_client *c, const char *key, void *buffer) {
  size_t length;
  uint32_t flags;
  memcached_return_t e;
  char *value = memcached_get(c->server, key, PEER_KEY_BYTES, &length, &flags, &e);
  if (value == NULL) return 0;
  memcpy(buffer, value, length);
  free(value);
  return length;
}

static uint64_t get_some(memcached_client *c, const char *keys, size_t count, void *buffer) {
  const char *names[100];
  size_t lengths[100];
  for (size_t i = 0; i < count; i++) {
    names[i] = keys + i * PEER_KEY_BYTES;
    lengths[i] = PEER_KEY_BYTES;
  }
  memcached_return_t e = memcached_mget(c->server, names, lengths, count);
  if (!memcached_success(e)) peer_fail("memcached", memcached_strerror(c->server, e));
  uint64_t sum = 0;
  memcached_result_st *result;
  while ((result = memcached_fetch_result(c->server, NULL, &e)) != NULL) {
    memcpy(buffer, memcached_result_value(result), memcached_result_length(result));
    sum += memcached_result_length(result);
    memcached_result_free(result);
  }
  return sum;
}

uint64_t memcached_get_all(memcached_client *c, const void *keys, size_t count, void *buffer, size_t batch) {
  uint64_t sum = 0;
  if (batch > 100) batch = 100;
  for (size_t done = 0; done < count;) {
    const char *key = (const char *)keys + done * PEER_KEY_BYTES;
    const size_t now = count - done < batch ? count - done : batch;
    sum += now == 1 ? get_one(c, key, buffer) : get_some(c, key, now, buffer);
    done += now;
  }
  return sum;
}

void memcached_set_all(memcached_client *c, const void *keys, size_t count, const void *value, size_t value_bytes) {
  for (size_t i = 0; i < count; i++) {
    const memcached_return_t e = memcached_set(
        c->server, (const char *)keys + i * PEER_KEY_BYTES, PEER_KEY_BYTES, value, value_bytes, 0, 0);
    if (!memcached_success(e)) peer_fail("memcached", memcached_strerror(c->server, e));
  }
}
