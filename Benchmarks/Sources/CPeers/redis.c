#include "CPeers.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

struct redis_client {
  redisContext *context;
};

redis_client *redis_connect(const char *socket) {
  redis_client *c = malloc(sizeof *c);
  c->context = redisConnectUnix(socket);
  if (c->context == NULL || c->context->err) peer_fail("redis", c->context ? c->context->errstr : "no memory");
  return c;
}

void redis_destroy(redis_client *c) {
  redisFree(c->context);
  free(c);
}

static redisReply *answer(redis_client *c) {
  void *reply = NULL;
  if (redisGetReply(c->context, &reply) != REDIS_OK) peer_fail("redis", c->context->errstr);
  return reply;
}

uint64_t redis_get_all(redis_client *c, const void *keys, size_t count, void *buffer, size_t batch) {
  uint64_t sum = 0;
  for (size_t done = 0; done < count;) {
    const size_t now = count - done < batch ? count - done : batch;
    for (size_t i = 0; i < now; i++) {
      const char *words[] = {"GET", (const char *)keys + (done + i) * PEER_KEY_BYTES};
      const size_t lengths[] = {3, PEER_KEY_BYTES};
      redisAppendCommandArgv(c->context, 2, words, lengths);
    }
    for (size_t i = 0; i < now; i++) {
      redisReply *reply = answer(c);
      if (reply->type == REDIS_REPLY_STRING) {
        memcpy(buffer, reply->str, reply->len);
        sum += reply->len;
      }
      freeReplyObject(reply);
    }
    done += now;
  }
  return sum;
}

void redis_set_all(redis_client *c, const void *keys, size_t count, const void *value, size_t value_bytes, size_t batch) {
  for (size_t done = 0; done < count;) {
    const size_t now = count - done < batch ? count - done : batch;
    for (size_t i = 0; i < now; i++) {
      const char *words[] = {"SET", (const char *)keys + (done + i) * PEER_KEY_BYTES, value};
      const size_t lengths[] = {3, PEER_KEY_BYTES, value_bytes};
      redisAppendCommandArgv(c->context, 3, words, lengths);
    }
    for (size_t i = 0; i < now; i++) freeReplyObject(answer(c));
    done += now;
  }
}

uint64_t redis_used_bytes(redis_client *c) {
  redisReply *reply = redisCommand(c->context, "INFO memory");
  if (reply == NULL || reply->type != REDIS_REPLY_STRING) peer_fail("redis", "no answer to INFO");
  const char *found = strstr(reply->str, "used_memory:");
  const uint64_t bytes = found ? strtoull(found + 12, NULL, 10) : 0;
  freeReplyObject(reply);
  return bytes;
}
