# SPDX-License-Identifier: MIT
# See test/printed.py.
exec /usr/bin/python3 test/printed.py
