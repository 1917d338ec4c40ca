/* SPDX-License-Identifier: MIT */
/* Functions of libm, which is loaded at their first use. Linked, it would make the start of every
 * subcommand a tenth slower. Any thread may call them. */
#ifndef FIRN_MATHS_H
#define FIRN_MATHS_H

/* As the C library has them; the process ends, with status 6 and a sentence, where there is no
 * libm. */
double maths_ceil(double x);
double maths_exp(double x);
double maths_expm1(double x);
double maths_floor(double x);
double maths_lgamma(double x);
double maths_log(double x);
double maths_log1p(double x);
double maths_log2(double x);
double maths_sqrt(double x);
double maths_pow(double x, double y);
double maths_ldexp(double x, int n);

#endif
