/* The functions that access memory plainly, out of line under SHM_OUTLINE; see shm_base.h. Empty otherwise. */
#define SHM_OUTLINE_DEFINE 1
#include "shm_hash.h"

typedef int shm_outline_is_not_empty;
