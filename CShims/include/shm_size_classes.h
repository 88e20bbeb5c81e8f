/*
 * The size classes: the sizes of the blocks that a slab is made of. Each is the largest multiple of 16 of which k fit into
 * a slab. They are a part of the layout hash (shm_format.c).
 *
 * To add a size: name it in the list, and give the sizes from it on their new numbers in shm_size_class.
 */
#ifndef SHM_SIZE_CLASSES_H
#define SHM_SIZE_CLASSES_H

#include "shm_base.h"
#include "shm_format_constants.h"

#define SHM_SIZE_CLASSES(S)                                                                                            \
  S(32) S(48) S(64) S(80) S(96) S(112) S(128) S(144) S(160) S(176) S(192) S(208) S(224) S(240) S(256) S(272) S(288)    \
  S(304) S(320) S(336) S(352) S(368) S(384) S(416) S(448) S(480) S(512) S(576) S(672) S(768) S(896) S(1024) S(1168)    \
  S(1360) S(1632) S(2048) S(2336) S(2720) S(3264) S(4096)

#define SHM_COUNT_CLASS(size) +1
enum { SHM_SIZE_CLASS_COUNT = SHM_SIZE_CLASSES(SHM_COUNT_CLASS) };

/* A class's block size, 0 for one that there is not. Inlined into a load from constant data. */
#define SHM_CLASS_SIZE(size) size,
SHM_INLINE uint32_t shm_size_class_bytes(size_t size_class) {
  static const uint16_t sizes[SHM_CLASSES_AT_MOST] = {SHM_SIZE_CLASSES(SHM_CLASS_SIZE)};
  return sizes[size_class];
}

/* How many blocks of the class lie before `within` bytes of a slab, at most a slab's: by a factor, since a division
 * takes longer. SizeClassTests compares it with the division. */
#define SHM_CLASS_FACTOR(size) ((1 << 20) + (size) / 16 - 1) / ((size) / 16),
SHM_INLINE uint32_t shm_index_in_slab(size_t within, size_t size_class) {
  static const uint32_t factors[SHM_CLASSES_AT_MOST] = {SHM_SIZE_CLASSES(SHM_CLASS_FACTOR)};
  return (uint32_t)(within / 16) * factors[size_class] >> 20;
}

/* The smallest class with room for `sixteenths` times 16 bytes, which is at most what the largest class has room for.
 * SizeClassTests compares it with the list of classes above. */
SHM_INLINE uint32_t shm_size_class(size_t sixteenths) {
  static const uint8_t classes[] = {
      [0 ... 2] = 0, [3] = 1, [4] = 2, [5] = 3, [6] = 4, [7] = 5, [8] = 6, [9] = 7, [10] = 8, [11] = 9,
      [12] = 10, [13] = 11, [14] = 12, [15] = 13, [16] = 14, [17] = 15, [18] = 16, [19] = 17, [20] = 18,
      [21] = 19, [22] = 20, [23] = 21, [24] = 22, [25 ... 26] = 23, [27 ... 28] = 24, [29 ... 30] = 25,
      [31 ... 32] = 26, [33 ... 36] = 27, [37 ... 42] = 28, [43 ... 48] = 29, [49 ... 56] = 30,
      [57 ... 64] = 31, [65 ... 73] = 32, [74 ... 85] = 33, [86 ... 102] = 34, [103 ... 128] = 35,
      [129 ... 146] = 36, [147 ... 170] = 37, [171 ... 204] = 38, [205 ... 256] = 39};
  return classes[sixteenths];
}

#endif
