/*
 * Strict parsing of decimal numbers: the whole string must be the number,
 * without blanks. Returns 0, or -1 if it is not such a number; the caller
 * reports that.
 */
#ifndef NUM_H
#define NUM_H

#include <stdbool.h>
#include <stddef.h>

struct str;

int num_int(const char *s, long long *v);
int num_real(const char *s, double *v); /* finite */
int num_duration(
    const char *s, double *v);             /* seconds; 90, 1.5s, 2m, 3h, 20ms */
int num_size(const char *s, long long *v); /* bytes; 16, 4k, 1m, 2g (1024) */
int num_percent(const char *s, double *v); /* 2%, 0.5%: .02, .005 */

/* Adds v (finite) with 15 significant digits, or 17 if 15 do not read back as
 * v. */
void num_append(struct str *, double v);

/* Writes a count with its significant digits: 155, 1745.3, 0.0021. */
void num_write_count(struct str *, double);

/* Texts for people. All but the first return 'buf'. */
#define NUM_BUF 32
const char *num_plural(double n);             /* "" for 1, else "s" */
char *num_all(char buf[NUM_BUF], size_t n);   /* "both", "all 8" */
char *num_human(char buf[NUM_BUF], double v); /* 556K, 1.23M, 0.813 */
/* 1250 ns as "1.25 us"; what has no unit of time as num_human */
char *num_amount(char buf[NUM_BUF], double v, const char *unit);
bool num_is_time(const char *unit);             /* s, ms, us, ns */
char *num_seconds(char buf[NUM_BUF], double s); /* 48s, 3m12s, 1h05m */

#endif
