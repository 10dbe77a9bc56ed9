/*
 * How many commands a server handled meanwhile, as it says itself.
 */
#ifndef REQUESTS_H
#define REQUESTS_H

struct requests;

/* NULL, and nothing is said: no server answers there without a password. */
struct requests *requests_open(int port);
void requests_close(struct requests *);

void requests_begin(struct requests *);
void requests_end(struct requests *);

/* NAN: not known. */
double requests_count(const struct requests *);

#endif
