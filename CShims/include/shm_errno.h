/* Errors, for people: static strings, not translated; NULL for a number nobody knows. */
#ifndef SHM_ERRNO_H
#define SHM_ERRNO_H

#include "shm_base.h"

SHM_NONNULL_BEGIN

const char *_Nullable shmos_errno_name(int number);        /* "EACCES" */
const char *_Nullable shmos_errno_description(int number); /* "Permission denied" */

SHM_NONNULL_END
#endif
