/*
 * A board on a server, by which programs know each other's states: each is
 * subscribed to one channel, whose name is its state, and lists the channels of
 * all. No message is sent and no key written, and the state of a program that
 * ends is gone.
 */
#ifndef BOARD_H
#define BOARD_H

struct board;
struct json;
struct target;

/*
 * Connects to the first node of the target, which must outlive the board.
 * Returns NULL after reporting an error.
 */
struct board *board_open(const struct target *);
void board_close(struct board *); /* NULL does nothing */

/* Replaces the state of this program. Returns 0, or -1 after reporting. */
int board_publish(struct board *, const struct json *state);

/*
 * Calls 'fn', which takes it, with each state, until it returns -1: then, or
 * after reporting an error, returns -1, else 0. While a state is replaced there
 * may be two of a program. A connection that was lost is made anew once.
 */
int board_read(
    struct board *, int (*fn)(void *arg, struct json *state), void *arg);

#endif
