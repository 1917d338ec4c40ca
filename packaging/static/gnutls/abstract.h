/* SPDX-License-Identifier: MIT */
#include "gnutls.h"
