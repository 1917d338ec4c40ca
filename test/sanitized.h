/* SPDX-License-Identifier: MIT */
/* Is this the build with sanitizers? They look at how memory is used, not at results: what the plain build proves with
 * every value, that one samples. */
#ifndef FIRN_TEST_SANITIZED_H
#define FIRN_TEST_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
