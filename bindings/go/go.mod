// SPDX-License-Identifier: MIT
module firn.example/firn

go 1.19
