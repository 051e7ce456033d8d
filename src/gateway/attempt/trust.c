/*
 * A list, since there are as many entries as different settings of certificates: one, as a rule.  An entry
 * remembers in which round it was asked for last, and goes with the first round that does without it.
 */
#include "gateway/attempt/trust.h"

#include <string.h>

#include <weir/error.h>

#include "base/slice.h"
#include "config/file.h"

enum { FILE_CA, FILE_CERT, FILE_KEY, FILES };

struct weir_trust_entry {
    struct weir_trust_entry *next;
    weir_tls_context *context; /* a reference */
    uint64_t round;
    bool insecure;
    struct weir_slice files[FILES]; /* paths, each with NUL behind it */
    struct weir_file_stamp stamps[FILES];
    size_t text_bytes;
    char text[];
};

void weir_trust_init(struct weir_trust *ret_trust, const struct weir_mem *mem)
{
    *ret_trust = (struct weir_trust){.mem = mem};
    (void)pthread_mutex_init(&ret_trust->lock, NULL);
}

static void free_entry(struct weir_trust *trust, struct weir_trust_entry *entry)
{
    weir_tls_context_unref(entry->context);
    trust->mem->free(trust->mem->user, entry, sizeof(*entry) + entry->text_bytes);
}

void weir_trust_deinit(struct weir_trust *trust)
{
    struct weir_trust_entry *entry;

    if (trust->mem == NULL)
        return;
    while ((entry = trust->first) != NULL) {
        trust->first = entry->next;
        free_entry(trust, entry);
    }
    (void)pthread_mutex_destroy(&trust->lock);
    *trust = (struct weir_trust){0};
}

static bool is_for(const struct weir_trust_entry *entry, const struct weir_tls_spec *spec)
{
    return entry->insecure == spec->insecure && weir_slice_eq(entry->files[FILE_CA], spec->ca_file) &&
           weir_slice_eq(entry->files[FILE_CERT], spec->cert_file) &&
           weir_slice_eq(entry->files[FILE_KEY], spec->key_file);
}

static struct weir_file_stamp stamp_now(struct weir_slice path)
{
    struct weir_file_stamp stamp = {0};

    return path.len > 0 && weir_file_stamp_of(path, &stamp) == 0 ? stamp : (struct weir_file_stamp){0};
}

/* Its files are those that it was made of. */
static bool is_fresh(const struct weir_trust_entry *entry)
{
    for (size_t i = 0; i < FILES; i++) {
        const struct weir_file_stamp stamp = stamp_now(entry->files[i]);

        if (!weir_file_stamp_eq(&stamp, &entry->stamps[i]))
            return false;
    }
    return true;
}

static struct weir_trust_entry *new_entry(const struct weir_trust *trust, const struct weir_tls_spec *spec)
{
    const struct weir_slice paths[FILES] = {spec->ca_file, spec->cert_file, spec->key_file};
    size_t bytes = spec->ca_file.len + spec->cert_file.len + spec->key_file.len + FILES;
    struct weir_trust_entry *entry = trust->mem->alloc(trust->mem->user, sizeof(*entry) + bytes);
    char *at;

    if (entry == NULL)
        return NULL;
    *entry = (struct weir_trust_entry){.insecure = spec->insecure, .text_bytes = bytes};
    at = entry->text;
    for (size_t i = 0; i < FILES; i++) {
        if (paths[i].len > 0)
            memcpy(at, paths[i].ptr, paths[i].len);
        at[paths[i].len] = '\0';
        entry->files[i] = (struct weir_slice){at, paths[i].len};
        entry->stamps[i] = stamp_now(entry->files[i]); /* before they are read */
        at += paths[i].len + 1;
    }
    return entry;
}

static int add(struct weir_trust *trust, const struct weir_tls_spec *spec, char text[WEIR_TLS_TEXT_MAX],
               struct weir_trust_entry **ret_entry)
{
    struct weir_trust_entry *entry = new_entry(trust, spec);
    int r;

    if (entry == NULL)
        return WEIR_ERR_NOMEM;
    r = weir_tls_context_new(trust->mem, spec, text, &entry->context);
    if (r != 0) {
        free_entry(trust, entry);
        return r;
    }
    entry->next = trust->first;
    trust->first = entry;
    *ret_entry = entry;
    return 0;
}

/* A fresh one, or NULL. */
static struct weir_trust_entry *find(const struct weir_trust *trust, const struct weir_tls_spec *spec)
{
    for (struct weir_trust_entry *entry = trust->first; entry != NULL; entry = entry->next)
        if (is_for(entry, spec) && is_fresh(entry))
            return entry;
    return NULL;
}

int weir_trust_get(struct weir_trust *trust, const struct weir_tls_spec *spec, char text[WEIR_TLS_TEXT_MAX],
                   weir_tls_context **ret_context)
{
    struct weir_trust_entry *entry;
    int r = 0;

    (void)pthread_mutex_lock(&trust->lock);
    entry = find(trust, spec);
    if (entry == NULL)
        r = add(trust, spec, text, &entry);
    if (r == 0) {
        entry->round = trust->round;
        *ret_context = weir_tls_context_ref(entry->context);
    }
    (void)pthread_mutex_unlock(&trust->lock);
    return r;
}

void weir_trust_begin(struct weir_trust *trust)
{
    (void)pthread_mutex_lock(&trust->lock);
    trust->round++;
    (void)pthread_mutex_unlock(&trust->lock);
}

void weir_trust_end(struct weir_trust *trust)
{
    struct weir_trust_entry **at = &trust->first;

    (void)pthread_mutex_lock(&trust->lock);
    while (*at != NULL) {
        struct weir_trust_entry *entry = *at;

        if (entry->round == trust->round) {
            at = &entry->next;
            continue;
        }
        *at = entry->next;
        free_entry(trust, entry);
    }
    (void)pthread_mutex_unlock(&trust->lock);
}
