# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The gem.
command -v gem >/dev/null || skipped "ruby"
cp -r bindings/ruby/. "$there"
(cd "$there" && gem build --silent firn.gemspec) >"$there.log" 2>&1 || { cat "$there.log" >&2; exit 1; }
echo "firn: ruby: $(ls "$there"/*.gem)"
