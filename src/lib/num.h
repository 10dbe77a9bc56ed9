/*
 * Numbers as people write them, read strictly: the whole string or nothing,
 * no blanks, decimal only. 0 done, -1 not such a number (nothing is said: the
 * caller knows the name).
 */
#ifndef NUM_H
#define NUM_H

struct str;

int num_int(const char *s, long long *v);
int num_real(const char *s, double *v); /* finite */
int num_duration(
    const char *s, double *v);             /* seconds; 90, 1.5s, 2m, 3h, 20ms */
int num_size(const char *s, long long *v); /* bytes; 16, 4k, 1m, 2g (1024) */
int num_percent(const char *s, double *v); /* 2%, 0.5%: .02, .005 */

/* The shorter of 15 and 17 digits that reads back as v, which is finite. */
void num_append(struct str *, double v);

/* Views, for people only. 'buf' is returned. */
#define NUM_BUF 32
const char *num_plural(double n);               /* "" for 1, else "s" */
char *num_human(char buf[NUM_BUF], double v);   /* 556K, 1.23M, 0.813 */
char *num_seconds(char buf[NUM_BUF], double s); /* 48s, 3m12s, 1h05m */

#endif
