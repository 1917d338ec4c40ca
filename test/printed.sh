# SPDX-License-Identifier: MIT
# See test/printed.py.
exec python3 test/printed.py
