# SPDX-License-Identifier: MIT
# Texts for users, and comments, are in plain words: test/words.py and its list of phrases, test/words.tsv. test/words.excused
# lists what is left out until it is clean.
. test/tap
same "no phrase of test/words.tsv, no long line, no term before its link is in what users see" "" "$(python3 test/words.py)"
finish
