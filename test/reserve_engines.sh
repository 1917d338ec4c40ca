# SPDX-License-Identifier: MIT
# Five engines that are stopped for a minute under the processes of two machines with reserves: test/torture/reserve.py.
exec /usr/bin/python3 test/torture/reserve.py postgres mysql redis etcd zookeeper
