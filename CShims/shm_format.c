#include "shm_format_fields.h"
#include "shm_lock.h"

_Static_assert(sizeof(struct shm_lock_place) == SHM_MUTEX_BYTES, "a place for a mutex is as large as the locks expect");
_Static_assert(sizeof(struct shm_lock_place) == SHM_RWLOCK_BYTES, "a place for a rwlock is as large as the locks expect");

#define FIELD_ITEM(s, f) {#s, #f, offsetof(struct s, f), SHM_FIELD_SIZE(s, f)},
#define STRUCT_ITEMS(s, fields) fields(FIELD_ITEM, s) {#s, "", 0, sizeof(struct s)},
#define CONSTANT_ITEM(name, value) {"constant", #name, (uint64_t)(value), 0},
#define CLASS_ITEM(size) {"size class", #size, size, 0},

static const struct shm_format_item items[] = {
  SHM_FORMAT_STRUCTS(STRUCT_ITEMS)
  SHM_FORMAT_CONSTANTS(CONSTANT_ITEM)
  SHM_SIZE_CLASSES(CLASS_ITEM)
};

const struct shm_format_item *shm_format_items(size_t *count) {
  *count = sizeof(items) / sizeof(items[0]);
  return items;
}
