# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# The compiled application; warnings are errors.
command -v mix >/dev/null || skipped "elixir"
cp -r bindings/elixir/. "$there"
(cd "$there" && MIX_ENV=prod HOME="$there" mix compile --warnings-as-errors) >"$there.log" 2>&1 || { cat "$there.log" >&2; exit 1; }
echo "firn: elixir: $there/_build/prod/lib/firn"
