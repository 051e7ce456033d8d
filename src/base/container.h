/* From an embedded member to the object that holds it: for timers, tasks and list links. */
#ifndef WEIR_BASE_CONTAINER_H
#define WEIR_BASE_CONTAINER_H

#include <stddef.h>

/* ptr points to that member of an object of that type, which is not const. */
#define WEIR_CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#endif
