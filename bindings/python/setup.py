# SPDX-License-Identifier: MIT
"""Builds the C part with libfirn: with the one in the package, vendor/firn/firn.c, if there is one, which needs the headers and
archives of libmd and SQLite; else with the installed one. FIRN_INCLUDE and FIRN_LIB, two folders, name another libfirn."""
import glob
import os
import sysconfig

from setuptools import Extension, setup

INCLUDE, LIB = os.environ.get("FIRN_INCLUDE"), os.environ.get("FIRN_LIB")
CONTAINED = os.path.exists("vendor/firn/firn.c") and not LIB
MODULES = "/usr/lib/%s/firn" % (sysconfig.get_config_var("MULTIARCH") or "")

setup(ext_modules=[Extension(
    "firn._firn", sorted(glob.glob("firn/*.c")) + ["vendor/firn/firn.c"] * CONTAINED, py_limited_api=True,
    depends=["firn/firn_python.h"], libraries=["m"] if CONTAINED else ["firn"],
    include_dirs=["vendor"] if CONTAINED else [INCLUDE] if INCLUDE else [], library_dirs=[LIB] if LIB else [],
    define_macros=[("FIRN_SQLITE", None), ("FIRN_API", ""), ("FIRN_MODULE_DIR_ONLY", None),
                   ("FIRN_MODULE_DIR", '"%s"' % MODULES)] if CONTAINED else [],
    extra_compile_args=["-std=c17", "-fvisibility=hidden", "-Wall", "-Wextra"],
    extra_link_args=["-l:libmd.a", "-l:libsqlite3.a", "-Wl,--exclude-libs,ALL", "-s"] if CONTAINED else [])],
    options={"bdist_wheel": {"py_limited_api": "cp39"}})
