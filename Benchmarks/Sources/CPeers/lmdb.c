#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CPeers.h"

#include <lmdb.h>
#include <stdlib.h>
#include <string.h>

struct lmdb_table {
  MDB_env *environment;
  MDB_dbi database;
  MDB_txn *reader;
};

static void check(int e, const char *what) {
  if (e != MDB_SUCCESS) peer_fail(what, mdb_strerror(e));
}

lmdb_table *lmdb_create(const char *directory, size_t capacity_bytes) {
  lmdb_table *t = malloc(sizeof *t);
  check(mdb_env_create(&t->environment), "mdb_env_create");
  check(mdb_env_set_mapsize(t->environment, capacity_bytes), "mdb_env_set_mapsize");
  check(mdb_env_open(t->environment, directory, MDB_NOSYNC | MDB_WRITEMAP | MDB_NOTLS, 0600), "mdb_env_open");
  MDB_txn *txn;
  check(mdb_txn_begin(t->environment, NULL, 0, &txn), "mdb_txn_begin");
  check(mdb_dbi_open(txn, NULL, 0, &t->database), "mdb_dbi_open");
  check(mdb_txn_commit(txn), "mdb_txn_commit");
  check(mdb_txn_begin(t->environment, NULL, MDB_RDONLY, &t->reader), "mdb_txn_begin");
  mdb_txn_reset(t->reader);
  return t;
}

void lmdb_destroy(lmdb_table *t) {
  mdb_txn_abort(t->reader);
  mdb_env_close(t->environment);
  free(t);
}

void lmdb_set_all(lmdb_table *t, const void *keys, size_t count, const void *value, size_t value_bytes, size_t batch) {
  const unsigned char *key = keys;
  for (size_t done = 0; done < count;) {
    MDB_txn *txn;
    check(mdb_txn_begin(t->environment, NULL, 0, &txn), "mdb_txn_begin");
    for (size_t i = 0; i < batch && done < count; i++, done++, key += PEER_KEY_BYTES) {
      MDB_val k = {PEER_KEY_BYTES, (void *)key}, v = {value_bytes, (void *)value};
      check(mdb_put(txn, t->database, &k, &v, 0), "mdb_put");
    }
    check(mdb_txn_commit(txn), "mdb_txn_commit");
  }
}

void lmdb_load(lmdb_table *t, const void *keys, size_t count, const void *value, size_t value_bytes) {
  lmdb_set_all(t, keys, count, value, value_bytes, 10000);
}

uint64_t lmdb_get_all(lmdb_table *t, const void *keys, size_t count, void *buffer, size_t batch) {
  uint64_t sum = 0;
  const unsigned char *key = keys;
  for (size_t done = 0; done < count;) {
    check(mdb_txn_renew(t->reader), "mdb_txn_renew");
    for (size_t i = 0; i < batch && done < count; i++, done++, key += PEER_KEY_BYTES) {
      MDB_val k = {PEER_KEY_BYTES, (void *)key}, v;
      const int e = mdb_get(t->reader, t->database, &k, &v);
      if (e == MDB_NOTFOUND) continue;
      check(e, "mdb_get");
      memcpy(buffer, v.mv_data, v.mv_size);
      sum += v.mv_size;
    }
    mdb_txn_reset(t->reader);
  }
  return sum;
}

uint64_t lmdb_used_bytes(lmdb_table *t) {
  MDB_envinfo info;
  MDB_stat stat;
  check(mdb_env_info(t->environment, &info), "mdb_env_info");
  check(mdb_env_stat(t->environment, &stat), "mdb_env_stat");
  return (uint64_t)(info.me_last_pgno + 1) * stat.ms_psize;
}
