/*
 * Other programs on the machine: a side that was measured while they used its
 * CPUs is slower, and the runs do not show by how much.
 *
 * On a machine with two CPUs, sessions of one server differed by .3 to .45 in
 * ln(rps) where others used 35 to 38 % of the CPU time in one and none in the
 * other, p99 by .6 and p99.9 by 1.2, and by 3 to 4 where they used 92 %. So the
 * difference of -ln(1 - share), which is ln of how many times less CPU time
 * they left, is taken for the standard deviation of what they do to ln(value),
 * and twice that for p99 and beyond.
 *
 * Where they leave little on both sides, chance decides who gets it, for all
 * cases together and for each: 12 sessions of one server, in which others used
 * 23 to 92 %, lay by .3 around that line where they used 80 %, and single cases
 * by twice that. The standard deviation of each side is taken to be .2 of the
 * square of its -ln(1 - share): .04 at 35 %, .5 at 80 %.
 */
#ifndef BUSY_H
#define BUSY_H

#include <stddef.h>

struct comparison;
struct row;

/*
 * Measures the CPU time of other programs on both sides, which the functions
 * below take from the pair: the median over the runs; of a command of a mixed
 * scenario or trace that does not say it, that of the whole. NAN: not known.
 */
void busy_measure(struct comparison *);

/*
 * Return the variance of ln(contender / baseline) that other programs cause
 * unless the sides ran interleaved, in what cases have in common and in each of
 * them beside it; 0: their shares are not known or too small (.02 as standard
 * deviation), or the metric does not depend on time.
 */
double busy_noise(const struct row *);
double busy_own_noise(const struct row *);

/*
 * Sets percent[0] and [1] to the CPU time of other programs, of all CPUs, on
 * both sides of the row for which it differs most. Returns the number of cases
 * with a row that allows for it; 0: percent is not set.
 */
size_t busy_find(const struct comparison *, double percent[2]);

/*
 * Returns the largest share of the CPU time, in percent, that other programs
 * used while a row was measured interleaved that changed; 0: less than a
 * quarter, or not known. Such rows tell which side is faster, but how much is
 * that of a busy machine: where others used 80 %, a server with half the CPU
 * time per request answered 6 times as many requests.
 */
double busy_beside(const struct comparison *);

#endif
