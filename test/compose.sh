# SPDX-License-Identifier: MIT
# The Compose file of packaging/compose: test/serve/compose.py.
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=test/serve exec /usr/bin/python3 test/serve/compose.py "$@"
