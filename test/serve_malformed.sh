# SPDX-License-Identifier: MIT
# HTTP that is malformed, too long, too slow or cut off: test/serve/malformed.py. A word names the only part to run.
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec /usr/bin/python3 test/serve/malformed.py "$@"
