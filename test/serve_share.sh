# SPDX-License-Identifier: MIT
# Clients that share a server: large replies, quotas, the access log: test/serve/share.py. A word names the only part to run.
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec /usr/bin/python3 test/serve/share.py "$@"
