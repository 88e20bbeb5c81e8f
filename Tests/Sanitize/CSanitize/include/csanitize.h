/* Nothing to call: linked in, csanitize.c tells the thread sanitizer of Swift's Mutex. See there. */
