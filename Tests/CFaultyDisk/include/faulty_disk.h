/*
 * A disk for SQLite that does what disks do at the worst moment. A VFS by the name of "faulty", over the system's.
 *
 * Operations are counted: each write, truncation, sync and deletion of a file, in the order in which SQLite asks for them. At
 * a chosen one the disk fails, is full, or ends the process. Or it loses power after each of them: then a copy is left of what
 * the disk would have held, into a directory of its own; all goes on, so that one run gives a copy for each moment.
 *
 * What was not synced since may be lost at a power cut, sector by sector, in any order: of 512 bytes either the old or the new
 * contents are there. A file whose first sync is missing may not be there at all.
 */
#ifndef FAULTY_DISK_H
#define FAULTY_DISK_H

#include <stdint.h>

enum faulty_disk_fault {
  FAULTY_DISK_NONE,
  FAULTY_DISK_KILL,       /* SIGKILL instead of the operation */
  FAULTY_DISK_FAIL,       /* EIO, for the operation and all later ones of the file */
  FAULTY_DISK_FULL,       /* ENOSPC, for writes from the operation on */
};

/* Registers the VFS. Not the default. */
int faulty_disk_register(void);

/* Forgets all files, and begins to count at 0. `at` counts from 1; 0: never. */
void faulty_disk_plan(enum faulty_disk_fault fault, uint64_t at);

/* After each operation that is not a sync by itself, leaves `copies` pictures of what a power cut there would leave, in
 * DIRECTORY/OPERATION.COPY/, for the files opened since. NULL: no more. */
void faulty_disk_cut_power(const char *directory, int copies, uint64_t seed);

uint64_t faulty_disk_operations(void);

/* Bytes that were read from files since the plan was made. */
uint64_t faulty_disk_bytes_read(void);

/* Whether a sync of the file has succeeded since the plan was made. */
int faulty_disk_has_synced(const char *path);

#endif
