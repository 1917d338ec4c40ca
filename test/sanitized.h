/* SPDX-License-Identifier: MIT */
/* Is this the build with sanitizers? They look at how memory is used, not at results: what the
 * plain build proves with every value, that one samples. The address sanitizer's allocator does not
 * take its locks before a fork: a child of a process whose other threads allocate may wait for one
 * of them without end, so such forks are checked without it. */
#ifndef FIRN_TEST_SANITIZED_H
#define FIRN_TEST_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#endif
