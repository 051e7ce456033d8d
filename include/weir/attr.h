/* Compiler attributes that the public headers and the tree use by one name each. */
#ifndef WEIR_ATTR_H
#define WEIR_ATTR_H

/* The result of the function must be looked at. */
#define WEIR_MUST_USE __attribute__((warn_unused_result))

/* Visible outside the library; everything else is hidden. */
#define WEIR_EXPORT __attribute__((visibility("default")))

/* Calls fn(&variable) when the variable leaves its scope; fn must accept an empty object. */
#define WEIR_CLEANUP(fn) __attribute__((cleanup(fn)))

#endif
