# SPDX-License-Identifier: MIT
"""Builds the C part against libfirn: the installed one, or the one in FIRN_INCLUDE and FIRN_LIB (two folders)."""
import glob
import os

from setuptools import Extension, setup

INCLUDE, LIB = os.environ.get("FIRN_INCLUDE"), os.environ.get("FIRN_LIB")

setup(ext_modules=[Extension(
    "firn._firn", sorted(glob.glob("firn/*.c")), libraries=["firn"], py_limited_api=True, depends=["firn/firn_python.h"],
    include_dirs=[INCLUDE] if INCLUDE else [], library_dirs=[LIB] if LIB else [],
    extra_compile_args=["-std=c17", "-fvisibility=hidden", "-Wall", "-Wextra"])],
    options={"bdist_wheel": {"py_limited_api": "cp39"}})
