/*
 * The files of a configuration: reading them, and putting included ones together.
 */
#ifndef WEIR_CONFIG_SOURCE_H
#define WEIR_CONFIG_SOURCE_H

#include <weir/attr.h>
#include <weir/slice.h>

#include "config/loader.h"

enum { WEIR_SOURCE_DEPTH_MAX = 16, WEIR_SOURCE_FILES_MAX = 256 };

/*
 * Reads the file, and what its `include` names, into loader->root.  A list of an included file is appended to
 * that of the same key, any other value replaces the whole (with a warning).  text: the content of the main
 * file when it is at hand already; ptr NULL: it is read.  0, WEIR_CONFIG_REFUSED or negative.
 */
WEIR_MUST_USE int weir_source_read(struct weir_loader *loader, const char *path, struct weir_slice text);

#endif
