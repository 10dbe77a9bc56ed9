/* Counts the commands that a local server handles, by its INFO stats. */
#ifndef REQUESTS_H
#define REQUESTS_H

struct requests;

/* Returns NULL, and reports nothing, if no server answers on the port without a
 * password and TLS. */
struct requests *requests_open(int port);
void requests_close(struct requests *);

void requests_begin(struct requests *);
void requests_end(struct requests *);

/* Returns the commands between begin and end, without ours; NAN if unknown. */
double requests_count(const struct requests *);

#endif
