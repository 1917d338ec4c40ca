#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the tables of docs/reference/recognised.md: the formats, and what is taken for what. Needs `make test-build`.
set -eu
cd "$(dirname "$0")/.."
FIRN_WRITE=1 "${BUILD:-build}/test/formats_pure_test"
