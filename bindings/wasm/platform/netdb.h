/* SPDX-License-Identifier: MIT */
/* The modules' header asks for it; nothing of it is used. */
