#include "faulty_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTOR 512
#define FILES 64

/* What of a file a power cut leaves for certain, and what it has been told since. */
struct image {
  char path[512];
  int exists;  /* for readers of the name */
  int certain; /* its name is on the disk: it was synced once */
  unsigned char *synced, *current;
  size_t synced_size, current_size;
  int broken; /* failed once: fails for ever */
  int was_synced; /* since the plan was made */
};

struct file {
  sqlite3_file base;
  struct image *image; /* NULL: a temporary file */
  sqlite3_file *real;
};

static struct image images[FILES];
static enum faulty_disk_fault planned;
static uint64_t planned_at, operations, bytes_read, random_state;
static char cut_directory[512];
static int cut_copies;
static sqlite3_vfs *system_vfs;

static uint64_t next_random(void) {
  random_state += 0x9e3779b97f4a7c15ull;
  uint64_t z = random_state;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

static void fill(struct image *i, const void *bytes, size_t count, size_t offset) {
  if (offset + count > i->current_size) {
    i->current = realloc(i->current, offset + count);
    memset(i->current + i->current_size, 0, offset + count - i->current_size);
    i->current_size = offset + count;
  }
  memcpy(i->current + offset, bytes, count);
}

static struct image *find_image(const char *path) {
  struct image *unused = NULL;
  for (int n = 0; n < FILES; n++) {
    if (strcmp(images[n].path, path) == 0) return &images[n];
    if (!unused && !images[n].path[0]) unused = &images[n];
  }
  if (!unused) abort();
  snprintf(unused->path, sizeof unused->path, "%s", path);
  FILE *file = fopen(path, "rb");
  if (file) {
    unsigned char buffer[65536];
    size_t count, offset = 0;
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0) {
      fill(unused, buffer, count, offset);
      offset += count;
    }
    fclose(file);
    unused->exists = unused->certain = 1;
    unused->synced_size = unused->current_size;
    unused->synced = malloc(unused->synced_size ? unused->synced_size : 1);
    if (unused->synced_size) memcpy(unused->synced, unused->current, unused->synced_size);
  }
  return unused;
}

/* What a power cut leaves of a file, if luck has it so. */
static void leave(const struct image *i, const char *directory) {
  if (!i->path[0] || (!i->exists && !i->certain)) return;
  if ((!i->certain || !i->exists) && next_random() % 2) return;
  size_t size = i->synced_size;
  if (i->exists && i->current_size != size && next_random() % 2) size = i->current_size;
  char path[1200];
  const char *name = strrchr(i->path, '/');
  snprintf(path, sizeof path, "%s%s", directory, name);
  FILE *file = fopen(path, "wb");
  if (!file) abort();
  unsigned mode = i->exists ? next_random() % 4 : 1; /* everything, nothing, or some of it */
  for (size_t at = 0; at < size; at += SECTOR) {
    unsigned char sector[SECTOR] = {0};
    size_t count = size - at < SECTOR ? size - at : SECTOR;
    int is_new = mode == 0 ? 1 : mode == 1 ? 0 : next_random() % 2;
    const unsigned char *from = is_new ? i->current : i->synced;
    size_t from_size = is_new ? i->current_size : i->synced_size;
    if (at < from_size) memcpy(sector, from + at, from_size - at < count ? from_size - at : count);
    if (fwrite(sector, 1, count, file) != count) abort();
  }
  fclose(file);
}

static void cut(void) {
  for (int copy = 0; cut_directory[0] && copy < cut_copies; copy++) {
    char directory[600];
    snprintf(directory, sizeof directory, "%s/%llu.%d", cut_directory, (unsigned long long)operations, copy);
    if (mkdir(directory, 0700) != 0) abort();
    for (int n = 0; n < FILES; n++) leave(&images[n], directory);
  }
}

/* Counts an operation. Returns SQLITE_OK if it is to be done. */
static int count(struct image *i, int is_sync, int is_write) {
  operations++;
  if (i && i->broken) return is_sync ? SQLITE_IOERR_FSYNC : SQLITE_IOERR_WRITE;
  if (planned == FAULTY_DISK_NONE || planned_at == 0) return SQLITE_OK;
  if (planned == FAULTY_DISK_FULL) return operations >= planned_at && is_write ? SQLITE_FULL : SQLITE_OK;
  if (operations != planned_at) return SQLITE_OK;
  if (planned == FAULTY_DISK_KILL) {
    kill(getpid(), SIGKILL);
    pause();
  }
  if (i) i->broken = 1;
  return is_sync ? SQLITE_IOERR_FSYNC : SQLITE_IOERR_WRITE;
}

/* --------------------------------------------------- a file's methods --------------------------------------------------- */

#define REAL(f) (((struct file *)(f))->real)
#define IMAGE(f) (((struct file *)(f))->image)

static int x_close(sqlite3_file *f) {
  int r = REAL(f)->pMethods->xClose(REAL(f));
  free(REAL(f));
  return r;
}
static int x_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at) {
  bytes_read += (uint64_t)n;
  return REAL(f)->pMethods->xRead(REAL(f), to, n, at);
}
static int x_write(sqlite3_file *f, const void *from, int n, sqlite3_int64 at) {
  struct image *i = IMAGE(f);
  int r = i ? count(i, 0, 1) : SQLITE_OK;
  if (r == SQLITE_OK) r = REAL(f)->pMethods->xWrite(REAL(f), from, n, at);
  if (r == SQLITE_OK && i) fill(i, from, (size_t)n, (size_t)at);
  if (i) cut();
  return r;
}
/* The first sync of a journal or log syncs the directory as well: names made and removed there are certain. */
static void sync_names(const char *path) {
  size_t length = strlen(path);
  if (length < 4 || (strcmp(path + length - 4, "-wal") && strcmp(path + length - 8, "-journal"))) return;
  for (int n = 0; n < FILES; n++) images[n].certain = images[n].exists;
}
static int x_truncate(sqlite3_file *f, sqlite3_int64 size) {
  struct image *i = IMAGE(f);
  int r = i ? count(i, 0, 0) : SQLITE_OK;
  if (r == SQLITE_OK) r = REAL(f)->pMethods->xTruncate(REAL(f), size);
  if (r == SQLITE_OK && i && (size_t)size < i->current_size) i->current_size = (size_t)size;
  if (i) cut();
  return r;
}
static int x_sync(sqlite3_file *f, int flags) {
  struct image *i = IMAGE(f);
  int r = i ? count(i, 1, 0) : SQLITE_OK;
  if (r == SQLITE_OK) r = REAL(f)->pMethods->xSync(REAL(f), flags);
  if (r == SQLITE_OK && i) {
    if (!i->certain) sync_names(i->path);
    i->synced = realloc(i->synced, i->current_size ? i->current_size : 1);
    if (i->current_size) memcpy(i->synced, i->current, i->current_size);
    i->synced_size = i->current_size;
    i->was_synced = 1;
  }
  return r;
}
static int x_file_size(sqlite3_file *f, sqlite3_int64 *size) { return REAL(f)->pMethods->xFileSize(REAL(f), size); }
static int x_lock(sqlite3_file *f, int lock) { return REAL(f)->pMethods->xLock(REAL(f), lock); }
static int x_unlock(sqlite3_file *f, int lock) { return REAL(f)->pMethods->xUnlock(REAL(f), lock); }
static int x_check(sqlite3_file *f, int *out) { return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out); }
static int x_control(sqlite3_file *f, int what, void *with) { return REAL(f)->pMethods->xFileControl(REAL(f), what, with); }
static int x_sector_size(sqlite3_file *f) {
  (void)f;
  return SECTOR;
}
/* None: no write is atomic, none is kept in order. */
static int x_characteristics(sqlite3_file *f) {
  (void)f;
  return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1, /* no shared memory: SQLite keeps its index of the log to itself when it is alone (EXCLUSIVE) */
    .xClose = x_close,
    .xRead = x_read,
    .xWrite = x_write,
    .xTruncate = x_truncate,
    .xSync = x_sync,
    .xFileSize = x_file_size,
    .xLock = x_lock,
    .xUnlock = x_unlock,
    .xCheckReservedLock = x_check,
    .xFileControl = x_control,
    .xSectorSize = x_sector_size,
    .xDeviceCharacteristics = x_characteristics,
};

static int x_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *out) {
  (void)vfs;
  struct file *file = (struct file *)f;
  memset(file, 0, sizeof *file);
  int isNamed = path && flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL);
  struct image *i = isNamed ? find_image(path) : NULL;
  if (i && access(path, F_OK) != 0) {
    /* Removed meanwhile, by whomever: another file. */
    i->broken = 0;
    i->exists = 0;
    i->current_size = 0;
  }
  file->real = calloc(1, (size_t)system_vfs->szOsFile);
  int r = system_vfs->xOpen(system_vfs, path, file->real, flags, out);
  if (r != SQLITE_OK) {
    free(file->real);
    file->base.pMethods = NULL;
    return r;
  }
  if (i) i->exists = 1;
  file->image = i;
  file->base.pMethods = &methods;
  return SQLITE_OK;
}

static int x_delete(sqlite3_vfs *vfs, const char *path, int sync) {
  (void)vfs;
  struct image *i = find_image(path);
  int r = count(NULL, 0, 0);
  if (r == SQLITE_OK) r = system_vfs->xDelete(system_vfs, path, sync);
  if (r == SQLITE_OK) {
    /* A cut may bring back what had been synced. */
    i->exists = 0;
    i->current_size = 0;
  }
  cut();
  return r;
}

int faulty_disk_register(void) {
  static sqlite3_vfs vfs;
  if (system_vfs) return SQLITE_OK;
  system_vfs = sqlite3_vfs_find(NULL);
  if (!system_vfs) return SQLITE_ERROR;
  vfs = *system_vfs;
  vfs.szOsFile = sizeof(struct file);
  vfs.zName = "faulty";
  vfs.pNext = NULL;
  vfs.xOpen = x_open;
  vfs.xDelete = x_delete;
  return sqlite3_vfs_register(&vfs, 0);
}

void faulty_disk_plan(enum faulty_disk_fault fault, uint64_t at) {
  for (int n = 0; n < FILES; n++) {
    free(images[n].synced);
    free(images[n].current);
  }
  memset(images, 0, sizeof images);
  planned = fault;
  planned_at = at;
  operations = 0;
  bytes_read = 0;
}

void faulty_disk_cut_power(const char *directory, int copies, uint64_t seed) {
  cut_directory[0] = 0;
  if (directory) snprintf(cut_directory, sizeof cut_directory, "%s", directory);
  cut_copies = copies;
  random_state = seed;
}

uint64_t faulty_disk_bytes_read(void) { return bytes_read; }

uint64_t faulty_disk_operations(void) { return operations; }

int faulty_disk_has_synced(const char *path) {
  for (int n = 0; n < FILES; n++)
    if (strcmp(images[n].path, path) == 0) return images[n].was_synced;
  return 0;
}
