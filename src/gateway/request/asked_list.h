/*
 * The fallback lists that a request brings (router-semantics 2.7, 11.2; decisions 14), in every form:
 *
 *   ["B", "C"]                            the chain itself
 *   [{"model": "B", "temperature": 0}]    the chain, with what each hop changes
 *   [{"A": ["B", {"model": "C", ...}]}]   a chain for group A
 */
#ifndef WEIR_GATEWAY_ASKED_LIST_H
#define WEIR_GATEWAY_ASKED_LIST_H

#include <weir/attr.h>
#include <weir/slice.h>
#include <weir/snapshot.h>

#include "gateway/request/asked.h"
#include "provider/fields.h"
#include "wire/json_scan.h"

/* Reads the value of the field; notes in asked what targets say of places.  0, WEIR_REFUSED or negative; the
 * list lives in arena and body. */
WEIR_MUST_USE int weir_asked_list(const struct weir_asked_rules *rules, const struct weir_json_item *field,
                                  struct weir_arena *arena, struct weir_asked *asked,
                                  struct weir_chain_list *ret_list, struct weir_problem *ret_problem);

/* A member that says where or with which key: notes it in asked where rules allow it.  0, WEIR_REFUSED or
 * negative. */
WEIR_MUST_USE int weir_asked_place(const struct weir_asked_rules *rules, const struct weir_field *field,
                                   const struct weir_json_item *item, struct weir_arena *arena,
                                   struct weir_asked *asked, struct weir_problem *ret_problem);

#endif
