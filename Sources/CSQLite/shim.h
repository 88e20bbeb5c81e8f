/* SQLite, as the system has it, and what of it Swift cannot say: calls with variable arguments, macros. */
#ifndef CSQLITE_SHIM_H
#define CSQLITE_SHIM_H

#include <sqlite3.h>
#include <stdint.h>
#include <sys/vfs.h>

static inline int csqlite_is_sync_failure(int code) {
  return code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
}

/* The magic number of the file system under a path, as statfs(2) gives it; 0 if it cannot be told. */
static inline uint32_t csqlite_file_system(const char *path) {
  struct statfs status;
  return statfs(path, &status) == 0 ? (uint32_t)status.f_type : 0;
}

/* Close without a checkpoint: a file whose sync has failed is left as it is. */
static inline int csqlite_leave_log_at_close(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/* Syncs the database's file, which a commit to the log does not. By SQLite's own descriptor: to close another one would end SQLite's locks. */
static inline int csqlite_sync_file(sqlite3 *database) {
  sqlite3_file *file = (sqlite3_file *)0;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK) return code;
  return file && file->pMethods ? file->pMethods->xSync(file, SQLITE_SYNC_FULL) : SQLITE_ERROR;
}

/* A file is data, whatever it says: no SQL of a schema does more than the tables it declares. */
static inline int csqlite_distrust_schema(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}

#endif
