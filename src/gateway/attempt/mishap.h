/*
 * What the network and the reader of answers say, in the words of the classifier.
 */
#ifndef WEIR_GATEWAY_MISHAP_H
#define WEIR_GATEWAY_MISHAP_H

#include <stdbool.h>

#include "net/client.h"
#include "provider/classify.h"

/* False: weir's own limits were met, which is nobody's failure. */
bool weir_mishap_of_fetch(enum weir_fetch_failure_kind kind, weir_mishap *ret_mishap);

/* Of the conditions of weir_read_answer. */
weir_mishap weir_mishap_of_answer(int condition);

#endif
