# SPDX-License-Identifier: MIT
"""The types of IDs: test/frameworks/run checks this file in strict mode. Each ignored line is an error there."""
import datetime
import uuid

import firn


async def typed() -> None:
    number: int = firn.open("snowflake", store="memory:", node=3, datacenter=1).next()
    numbers: list[int] = firn.open(node=3).many(2)
    key: uuid.UUID = firn.open("uuid7").next()
    text: str = firn.open("ulid").next()
    raw: bytes = firn.open("snowflake", output="bytes").next()
    words: str = firn.open("snowflake", output="base32").next()
    other: firn.ID = firn.open("time:41 node:10 sequence:12", node=1).next()
    async with await firn.aopen("uuid7") as gen:
        key = await gen.anext()
        keys: list[uuid.UUID] = await gen.aat(datetime.date(2026, 1, 6), 3)
    for id in firn.open("discord"):
        number = id
    number = firn.parse("1541815603606036480", "snowflake")
    key = firn.parse("01a202cb-0795-71b0-8535-188ffa9daaa8", "uuid7")
    least, greatest = firn.range("uuid7", "2026-01-06", datetime.date(2026, 1, 7))
    key = least
    text = firn.typeid("user")
    held: bool = firn.open("snowflake").status()["held"]
    with firn.Segment("orders", store="memory:") as segment:
        first: range = segment.block(3)
    with firn.Job("snowflake", name="orders", digest=7, store="memory:") as job:
        number = job.next("2019-05-04")
    key = firn.Job("uuid7", seed="of the orders").next(datetime.date(2019, 5, 4))
    wrong: str = firn.open("snowflake").next()  # type: ignore
    wrong = firn.uuid7()  # type: ignore
    firn.open("snowflake").status()["none"]  # type: ignore
    print(number, numbers, key, keys, text, raw, words, other, greatest, held, first, wrong)
