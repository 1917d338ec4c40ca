# SPDX-License-Identifier: MIT
# Refusals of the server, and its answers at the edges of its commands and paths: test/serve/refusals.py. A word names the only
# part to run.
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec /usr/bin/python3 test/serve/refusals.py "$@"
