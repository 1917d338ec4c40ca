# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154 # bindings/build runs this and sets $there
# An assembly for Mono. With the SDK of .NET, which Debian does not have, `dotnet pack` makes the package.
command -v mcs >/dev/null || skipped "mono-mcs libmono-system-net-http4.0-cil"
cp bindings/csharp/Firn.cs bindings/csharp/Firn.csproj bindings/csharp/README.md "$there"
mcs -langversion:7 -warnaserror -target:library -r:System.Net.Http -out:"$there/Firn.dll" "$there/Firn.cs"
echo "firn: csharp: $there/Firn.dll"
