# SPDX-License-Identifier: MIT
# The server at its bounds: test/serve/limits.py. A word names the only part to run.
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec /usr/bin/python3 test/serve/limits.py "$@"
