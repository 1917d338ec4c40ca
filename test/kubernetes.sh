# SPDX-License-Identifier: MIT
# The manifests of packaging/kubernetes: test/serve/kubernetes.py.
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=test/serve exec /usr/bin/python3 test/serve/kubernetes.py "$@"
