# SPDX-License-Identifier: MIT
# Odd words in every place of every question, over both protocols: test/serve/values.py. test/run-all runs it under valgrind too.
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
exec /usr/bin/python3 test/serve/values.py "$@"
