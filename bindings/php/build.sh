# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The package, for a repository of type "path" or "artifact" of Composer: nothing is compiled.
command -v php >/dev/null || skipped "php-cli php-curl"
cp -r bindings/php/. "$there"
rm -r "$there/build.sh" "$there/tests"
php -l "$there/src/Firn.php" >"$there.log" || { cat "$there.log" >&2; exit 1; }
echo "firn: php: $there"
