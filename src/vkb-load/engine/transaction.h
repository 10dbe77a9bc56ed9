/*
 * Transactions: a text with MULTI is sent whole. A batch has whole texts only,
 * however short the pipeline is; a number of requests is rounded up to whole
 * texts; with a rate, all commands of a text are due at the same time. After a
 * broken connection the text that was under way is sent again from its first
 * command; what was answered of it is not counted twice.
 *
 * In a mix a batch may end within a transaction, and each command is due by
 * itself; what follows holds there, too.
 *
 * No command of such a text is redirected or sent again by itself: MOVED, ASK,
 * TRYAGAIN and so on are errors, the server then refuses EXEC with EXECABORT,
 * which is one too, and nothing of the transaction is done. After a MOVED the
 * slots are read again, so the next ones find their node.
 */
#ifndef TRANSACTION_H
#define TRANSACTION_H

#include <stdbool.h>
#include <stdint.h>

struct compiled;
struct conn;
struct engine_work;
struct template;
struct worker;

/*
 * Sets 'together' and 'execs' of the source of a compiled template. Returns
 * NULL, or why its transactions are not valid, which the caller frees.
 */
char *transaction_find(
    struct template *, const struct engine_work *, bool cluster);

/* Is a command of a template MULTI? */
bool transaction_begins(const struct template *, const struct compiled *);

/* Is the nth awaited reply of a client's connection that of an EXEC? */
bool transaction_is_exec(
    const struct worker *, const struct conn *, uint32_t nth);

/* Is the nth awaited request of a client's connection in a transaction? */
bool transaction_is_whole(
    const struct worker *, const struct conn *, uint32_t nth);

/*
 * Before n lost requests are sent again, the last of 'batch': returns how many
 * more to begin with a whole text.
 */
uint32_t transaction_complete(const struct worker *, struct conn *, uint32_t n);

/* Returns how many of n replies are not of requests that were sent again. */
uint32_t transaction_count_new(struct conn *, uint32_t n);

#endif
