/* SPDX-License-Identifier: MIT */
/* How IDs are written, and who reads them. For the files of choose.h only. */
#ifndef FIRN_CHOOSE_TEXT_H
#define FIRN_CHOOSE_TEXT_H

#include "choose.h"

#define CHOOSE_YEAR       INT64_C(31557600) /* seconds */
#define CHOOSE_LONG_YEARS 25 /* a layout or numbers that end before are worth a caution */

/* Do capital and small letters differ in an ID as text? */
bool choose_mixes_case(const firn_scheme *scheme);
/* Does the database hold an ID as a signed integer, although its own text is another? */
bool choose_is_integer(const firn_scheme *scheme, const choose_answers *answers);
/* Do people read the IDs? */
bool choose_is_for_people(const choose_answers *answers);
/* Years until a series of that many integers is used up. */
double choose_years(double integers, const choose_answers *answers);

#endif
