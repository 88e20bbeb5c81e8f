/*
 * USDT probes: places that a tracer can hook while the program runs (bpftrace, perf, SystemTap), and a nop otherwise.
 *
 * What <sys/sdt.h> makes, written down here so that nobody needs its package: a nop, and a note in .note.stapsdt that
 * says where it is, under which name, and in which registers its arguments lie (SystemTap's
 * "UserSpaceProbeImplementation", version 3 of the note). The section .stapsdt.base lets a tracer see how far a
 * prelinker moved the file. No semaphores: the arguments are at hand anyway.
 *
 *   bpftrace -e 'usdt:./program:sharedtable:barrier__wait { @[arg0] = count(); }'
 */
#ifndef SHM_USDT_H
#define SHM_USDT_H

#include "shm_base.h"

/* All arguments are 64 bits wide and unsigned, in registers: a memory operand would make the compiler spill them. */
#define SHM_PROBE(name, template, ...)                                                                                 \
  __asm__ __volatile__("990: nop\n"                                                                                    \
                       ".pushsection .note.stapsdt,\"\",%%note\n"                                                      \
                       ".balign 4\n"                                                                                   \
                       ".4byte 992f-991f, 994f-993f, 3\n"                                                              \
                       "991: .asciz \"stapsdt\"\n"                                                                     \
                       "992: .balign 4\n"                                                                              \
                       "993: .8byte 990b\n"                                                                            \
                       ".8byte _.stapsdt.base\n"                                                                       \
                       ".8byte 0\n"                                                                                    \
                       ".asciz \"sharedtable\"\n"                                                                      \
                       ".asciz \"" name "\"\n"                                                                         \
                       ".asciz \"" template "\"\n"                                                                     \
                       "994: .balign 4\n"                                                                              \
                       ".popsection\n"                                                                                 \
                       ".ifndef _.stapsdt.base\n"                                                                      \
                       ".pushsection .stapsdt.base,\"aG\",%%progbits,.stapsdt.base,comdat\n"                           \
                       ".weak _.stapsdt.base\n"                                                                        \
                       ".hidden _.stapsdt.base\n"                                                                      \
                       "_.stapsdt.base: .space 1\n"                                                                    \
                       ".size _.stapsdt.base, 1\n"                                                                     \
                       ".popsection\n"                                                                                 \
                       ".endif\n" ::__VA_ARGS__)

/* `table` is the first word of the table's uuid: the same in every process, and shown by `shmctl stat`. */

/* A barrier finds the writer lock taken. */
SHM_INLINE void shm_probe_barrier_wait(uint64_t table) { SHM_PROBE("barrier__wait", "8@%0", "r"(table)); }
/* A barrier begins, which will be this version. */
SHM_INLINE void shm_probe_barrier_entry(uint64_t table, uint64_t version) {
  SHM_PROBE("barrier__entry", "8@%0 8@%1", "r"(table), "r"(version));
}
/* It has ended; committed is 0 if it was undone. */
SHM_INLINE void shm_probe_barrier_exit(uint64_t table, uint64_t version, uint64_t committed) {
  SHM_PROBE("barrier__exit", "8@%0 8@%1 8@%2", "r"(table), "r"(version), "r"(committed));
}
/* A read section begins, at this snapshot; not the ones that join it, and no single get. */
SHM_INLINE void shm_probe_read_entry(uint64_t table, uint64_t snapshot) {
  SHM_PROBE("read__entry", "8@%0 8@%1", "r"(table), "r"(snapshot));
}
SHM_INLINE void shm_probe_read_exit(uint64_t table) { SHM_PROBE("read__exit", "8@%0", "r"(table)); }

#endif
