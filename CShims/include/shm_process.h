/* Processes and threads: who they are, and whether they live. The result, or -errno. */
#ifndef SHM_PROCESS_H
#define SHM_PROCESS_H

#include "shm_base.h"

SHM_NONNULL_BEGIN

int32_t shmos_pid(void);
int32_t shmos_tid(void);
/* On a single processor, what a thread spins for does not happen while it spins. */
bool shmos_has_several_processors(void);
/* Names the calling thread, at most 15 bytes: for people. */
void shmos_name_thread(const char *name);
/* Inode of /proc/self/ns/pid. */
int shmos_pid_namespace(uint64_t *inode);
/* When the process began, in clock ticks since boot: with the pid, a name that is not reused until reboot. */
int shmos_process_start_time(int32_t pid, uint64_t *ticks);
/* Command name (that of the main thread), NUL-padded to 16 bytes. */
void shmos_command_name(void *out16);
int shmos_command_name_of(int32_t pid, void *out16);
/* kill(pid, 0); a process we may not signal is alive too, and so is a zombie. */
bool shmos_process_is_alive(int32_t pid);

SHM_NONNULL_END
#endif
