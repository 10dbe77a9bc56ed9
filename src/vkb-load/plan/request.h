/*
 * Requests: options of vkb-load that others have written, as in a comment
 * on a pull request. They are data: only some options are allowed, and the load
 * has limits.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stddef.h>

struct opt;
struct opt_list;
struct plan;

struct request {
	char **words; /* the options point to them */
};

/*
 * Reads the options of a file, "-" is stdin, into the struct at 'opts'. They
 * are written as in a shell, which is not asked; 'table' has all options of the
 * program, and 'sets' has those of --set. 0, or -1, error reported; call
 * request_free in either case.
 */
int request_read(struct request *, const char *file, const struct opt *table,
    void *opts, const struct opt_list *sets);
void request_free(struct request *);

/* Checks the limits of the cases with so many runs. 0, or -1, error reported.
 */
int request_check(const struct plan *, size_t runs);

#endif
