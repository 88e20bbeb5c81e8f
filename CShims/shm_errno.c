#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_errno.h"

#include <string.h>

const char *shmos_errno_name(int number) { return strerrorname_np(number); }
const char *shmos_errno_description(int number) { return strerrordesc_np(number); }
