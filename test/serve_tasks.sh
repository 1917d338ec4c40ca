# SPDX-License-Identifier: MIT
# Requests that wait: test/serve/tasks.py. Words name the only parts to run.
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec /usr/bin/python3 test/serve/tasks.py "$@"
