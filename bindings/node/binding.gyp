# SPDX-License-Identifier: MIT
{
  "targets": [{
    "target_name": "firn",
    "sources": ["generator.c", "job.c", "numbers.c", "pure.c", "series.c", "values.c", "work.c"],
    "cflags": ["-std=c17", "-fvisibility=hidden"],
    "libraries": ["-lfirn"]
  }]
}
