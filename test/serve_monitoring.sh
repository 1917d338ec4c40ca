# SPDX-License-Identifier: MIT
# Alert rules, dashboard and runbook, with a real Prometheus: test/serve/monitoring.py.
exec /usr/bin/python3 test/serve/monitoring.py "$@"
