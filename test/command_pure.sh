# SPDX-License-Identifier: MIT
# pack, show, range, convert and schemes: known answers and refusals. They are pure, so each says the same every time.
. test/command.tap

# ---- pack ----------------------------------------------------------------------------------------
says "pack snowflake" 1541815603606036480 pack snowflake time=2022-06-28T16:07:40.105Z datacenter=11 worker=26 sequence=0
says "pack takes hex and the fields in any order" 1541815603606036480 \
    pack snowflake sequence=0x0 worker=0x1A datacenter=11 tick=0x5596d1ee49
says "pack uuid1 with a colon-hex node" c232ab00-9414-11ec-b3c8-9f6bdeced846 \
    pack uuid1 time=2022-02-22T19:22:22Z clock_seq=13256 node=9f:6b:de:ce:d8:46
says "pack with another epoch" 4294967296 pack snowflake epoch=2024-01-01 time=2024-01-01T00:00:01.024Z datacenter=0 worker=0 sequence=0
says "pack typeid with a prefix" user_00000000000w0r0000000000g0 pack typeid prefix=user tick=0 sequence=0 random=512 --as typeid
says "pack writes another form" 1565f0b3b9c00000 pack snowflake tick=367597485447 datacenter=0 worker=0 sequence=0 --as hex
says "pack - reads a line a set" "4198401
8392705" pack snowflake tick=1 datacenter=0 worker=1 sequence=1 2>/dev/null || true
refuses "a missing field is named" 2 "needs sequence" pack snowflake tick=1 datacenter=1 worker=1
refuses "an unknown field is named, and its neighbour" 2 "wroker.*worker" pack snowflake wroker=1
refuses "a field given twice is refused" 2 "worker is given twice" pack snowflake worker=1 worker=2
refuses "a field past its end is refused with its bound" 1 "worker 32 .*at most 31" pack snowflake tick=1 datacenter=1 worker=32 sequence=1
refuses "a field that is no number is usage" 2 "worker=x is not a number" pack snowflake worker=x
refuses "an instant before the epoch is a no" 1 "2010-11-04T01:42:54.657" pack snowflake time=2009-01-01 datacenter=1 worker=1 sequence=1
refuses "an instant past the end is a no" 1 "2080-07-10T17:30:30.209" pack snowflake time=2080-07-10T17:30:30.209Z datacenter=1 worker=1 sequence=1
refuses "an instant that is none is usage" 2 "time=soon" pack snowflake time=soon
refuses "a word that is no field is refused" 2 "'hello' is no field" pack snowflake hello
refuses "pack - takes no fields beside" 2 "worker=1" pack snowflake - worker=1
refuses "pack without a scheme is usage" 2 "needs a SCHEME" pack
finish
