# SPDX-License-Identifier: MIT
# For vcpkg: this file and vcpkg.json are the folder firn of --overlay-ports. make dist writes the version and the checksum.
vcpkg_download_distfile(archive
    URLS "https://git.example/firn/releases/firn-amalgamation-${VERSION}.tar.gz"
    FILENAME "firn-amalgamation-${VERSION}.tar.gz"
    SHA512 @sha512@)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")
vcpkg_check_features(OUT_FEATURE_OPTIONS options INVERTED_FEATURES sqlite FIRN_PURE)
vcpkg_cmake_configure(SOURCE_PATH "${source}" OPTIONS ${options})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/firn)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
