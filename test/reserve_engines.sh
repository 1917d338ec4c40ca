# SPDX-License-Identifier: MIT
# Five engines that are stopped for a minute under the processes of two machines with reserves: test/outlive/run.py.
exec /usr/bin/python3 test/outlive/run.py postgres mysql redis etcd zookeeper
