#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the tables of docs/reference/recognised.md: the formats, and which text is recognised as which. Needs `make test-build`.
set -eu
cd "$(dirname "$0")/.."
FIRN_WRITE=1 "${BUILD:-build}/test/formats_pure_test"
