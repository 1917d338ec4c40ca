# SPDX-License-Identifier: MIT
# For Conan 2: conan create . in this folder. make dist writes the version and the checksum.
from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get


class Firn(ConanFile):
    name = "firn"
    version = "@version@"
    description = "distributed IDs: every known scheme, unique by reservation"
    license = "MIT"
    topics = ("id", "uuid", "snowflake", "ulid")
    package_type = "library"
    languages = "C"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "pure": [True, False]}
    default_options = {"shared": False, "fPIC": True, "pure": False}
    implements = ["auto_shared_fpic"]

    def layout(self):
        cmake_layout(self, src_folder="src")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("firn runs on Linux")

    def requirements(self):
        if not self.options.pure:
            self.requires("sqlite3/[>=3.40 <4]")

    def source(self):
        get(
            self,
            f"https://git.example/firn/releases/firn-amalgamation-{self.version}.tar.gz",
            sha256="@sha256@",
            strip_root=True,
        )

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["FIRN_PURE"] = bool(self.options.pure)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, self.package_folder + "/licenses")
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = ["firn"]
        self.cpp_info.set_property("cmake_target_name", "firn::firn")
        self.cpp_info.system_libs = ["md", "dl", "pthread"]  # libmd of the system: Debian's package is libmd-dev
