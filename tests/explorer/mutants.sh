# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# What the explorer must catch: changes to limiter.h, each one sed -zE command (the whole file is
# one line to it). `plain_store` is the explorer's. Sourced by test_explorer.sh, which has
# try_mutant EXPECTED NAME COMMAND: `loose` admits too much, `strict` too little, `endless` retries.

each_mutant() {
	try_mutant loose "a plain store in place of the maximum" \
		's/if \(rf_cas\(cell, old, (rf_word\(epoch, used\))\) == old\)\n\t*return 1;/plain_store(cell, \1);\n\t\treturn 1;/; s/(__u64 old = rf_load\(cell\);\n)\n\t*if \(rf_cell_holds\([^;]*return 1;/\1\n\t\t(void)old;/'
	try_mutant loose "the maximum, by a plain store" \
		's/if \(rf_cas\(cell, old, (rf_word\(epoch, used\))\) == old\)\n\t*return 1;/plain_store(cell, \1);\n\t\treturn 1;/'
	try_mutant strict "the last sum wins over a larger one" \
		's/return rf_word_used\(word\) >= used;/return rf_word_used(word) == used;/'
	try_mutant loose "an addition to the head after a lost race" \
		's/(\n\t*return ok \? RF_UNDER : RF_OVER;\n)(\t*)\/\* Lost: [^*]*\*\//\1\2head = rf_fetch_add(\&window->head, cost);\n\2return rf_word_used(head) + cost <= policy->limit ? RF_UNDER : RF_OVER;/'
	try_mutant loose "a head only N cells ahead counts as the past" \
		's/(#define RF_EPOCH_AHEAD) \(1U << 16\)/\1 3U/'
	try_mutant loose "a load and a store in place of the addition" \
		's/(\n\t*)head = rf_fetch_add\(&window->head, cost\);(\n\t*return )/\1head = rf_load(\&window->head);\1plain_store(\&window->head, head + cost);\2/'
	try_mutant loose "the load decides, not what the addition returned" \
		's/(\n\t*)head = (rf_fetch_add\(&window->head, cost\);\n\t*return )/\1\2/'
	try_mutant loose "a lost race for the head counts as won" \
		's/if \((rf_cas\(&window->head, head, rf_word\(now, [^;]*\)) == head\)\n\t*return ok/\1;\n\t\treturn ok/'
	try_mutant loose "a lost race for a cell counts as won" \
		's/if \((rf_cas\(cell, old, rf_word\(epoch, used\)\)) == old\)\n/\1;\n/'
	try_mutant loose "the head is stored, whoever won" \
		's/if \(rf_cas\(&window->head, head, (rf_word\(now, [^;]*\))\) == head\)\n\t*return ok/plain_store(\&window->head, \1);\n\t\treturn ok/'
	try_mutant loose "the sum of a window that is a cell too short" \
		's/if \(age - 1 < cells - 1\)/if (cells > 1 \&\& age - 1 < cells - 2)/'
	try_mutant strict "the sum of a window that is a cell too long" \
		's/if \(age - 1 < cells - 1\)/if (age - 1 < cells)/'
	try_mutant loose "the sum counts the present cell as well" \
		's/if \(age - 1 < cells - 1\)/if (age < cells)/'
	try_mutant loose "the head is not looked at again after the sum" \
		's/if \(rf_word_epoch\(rf_load\(&window->head\)\) != rf_word_epoch\(head\)\)\n\t*return 0;/;/'
	try_mutant loose "a cell is held, wherever the head is" \
		's/(rf_cell_holds\([^}]*)rf_word_epoch\(rf_load\(&window->head\)\) != epoch;/\11;/'
	try_mutant loose "a cell is written, wherever the head is" \
		's/return (rf_word_epoch\(rf_load\(&window->head\)\) != epoch);/return rf_epoch_is_present(rf_word_epoch(word), epoch) \&\& \1;/'
	try_mutant loose "a closed cell is not written" \
		's/return rf_cell_raise\(window, rf_word_epoch\(head\), own\) \? 1 : -1;/(void)own;\n\treturn 1;/'
	try_mutant strict "a closed cell keeps what refused packets added" \
		's/__u32 clipped = used < policy->clip \? used : policy->clip;/__u32 clipped = used;/'
	try_mutant endless "retries without end" \
		's/i < RF_RETRIES; i\+\+\) \{\n(\t*__u64 head = rf_load)/1 || i < RF_RETRIES; i++) {\n\1/'
}
