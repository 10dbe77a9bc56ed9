/*
 * The normal and Student's t distribution, and the incomplete beta function.
 *
 * Sources: incomplete beta by its continued fraction (Abramowitz & Stegun
 * 26.5.8, evaluated after Lentz), its prefactor after Loader, "Fast and
 * Accurate Computation of Binomial Probabilities" (2000); t from it (A&S
 * 26.7.1); quantiles by safeguarded Newton steps. Relative error below 1e-11,
 * in the tails as well. Arguments outside of the domain give NAN.
 */
#ifndef TDIST_H
#define TDIST_H

/* I_x(a, b), 0 <= x <= 1, a and b > 0. */
double tdist_betainc(double a, double b, double x);

double tdist_normal_cdf(double z);
double tdist_normal_quantile(double p); /* 0 <= p <= 1 */

/*
 * P(T > t), and the t with P(T <= t) = q. df > 0 need not be whole; an infinite
 * df gives the normal distribution.
 */
double tdist_sf(double t, double df);
double tdist_quantile(double q, double df);

#endif
