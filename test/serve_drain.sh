# SPDX-License-Identifier: MIT
# Draining, and rolling restarts behind load balancers: test/serve/drain.py.
exec /usr/bin/python3 test/serve/drain.py "$@"
