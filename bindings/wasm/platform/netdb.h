/* SPDX-License-Identifier: MIT */
/* The header of the modules includes it, and modules/ff1.c uses nothing of it. */
