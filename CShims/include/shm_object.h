/*
 * Objects in /dev/shm: made, opened, made longer and shorter, locked, looked at.
 * Thin wrappers, as all of system calls here: the result, or -errno. No policy, no allocation, no logging. EINTR is
 * handled where repeating is right, and is a result where the caller must look around first. Names are those of
 * shm_open ("/name").
 */
#ifndef SHM_OBJECT_H
#define SHM_OBJECT_H

#include "shm_base.h"

SHM_NONNULL_BEGIN

typedef struct {
  uint64_t device;
  uint64_t inode;
  uint64_t links;     /* 0: unlinked behind our back */
  uint64_t size;      /* bytes */
  uint64_t allocated; /* bytes that have memory behind them */
  uint32_t owner;
  uint32_t group;
  uint32_t mode; /* permission bits only */
  uint32_t kind; /* the file type bits, S_IFMT */
} shmos_status;

/* O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR; the umask applies. A descriptor (close-on-exec), or -errno. */
int shmos_create(const char *name, uint32_t mode);
/* A new, empty object that has no name and can be given none, for this user alone: O_TMPFILE | O_EXCL in /dev/shm. */
int shmos_create_nameless(void);
/* Never O_CREAT. O_NONBLOCK, since a name squatted by a FIFO must not hang us. */
int shmos_open(const char *name, bool writable);
/* For reading, with O_NOATIME: EPERM unless this process is the owner, or may act as the owner. */
int shmos_open_owned(const char *name);
int shmos_unlink(const char *name);
int shmos_close(int fd);
int shmos_fstat(int fd, shmos_status *out);
/* What has the name, which is neither opened nor followed: for what cannot be opened. */
int shmos_look(const char *name, shmos_status *out);
int shmos_truncate(int fd, uint64_t size);
/*
 * Claims pages, extending the size if needed: -ENOSPC instead of a later SIGBUS. fallocate(2) and not
 * posix_fallocate(3), which would emulate by writing zero bytes where the file system lacks the call:
 * that races with other processes' stores. Signals wait for its end; what interrupts it all the same, as being
 * stopped, has the kernel undo everything, and it begins anew.
 */
int shmos_allocate(int fd, uint64_t offset, uint64_t count);
/* Gives the pages of a range back; the size stays, and the range reads as zeros. Whoever touches it later claims a page
 * again, or gets SIGBUS: fallocate(2), FALLOC_FL_PUNCH_HOLE. */
int shmos_punch(int fd, uint64_t offset, uint64_t count);
/* flock without waiting: -EWOULDBLOCK when another open file description holds it. */
int shmos_try_flock(int fd, bool exclusive);
int shmos_funlock(int fd);
/* A lock of the whole object by its open file description, apart from flock's: fcntl(2), F_OFD_SETLK, without waiting.
 * The exclusive one needs a descriptor to write by. -EAGAIN when another description holds it. */
int shmos_try_ofd_lock(int fd, bool exclusive);
int shmos_ofd_unlock(int fd);
/* Opens what a descriptor is of once more, for reading and writing, by way of /proc/self/fd: a new open file description, also
 * of an object that has lost its name. */
int shmos_reopen(int fd);
int shmos_fchmod(int fd, uint32_t mode);
/* UINT32_MAX leaves that one as it is. */
int shmos_fchown(int fd, uint32_t owner, uint32_t group);

SHM_NONNULL_END
#endif
