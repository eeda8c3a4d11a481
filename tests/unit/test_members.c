// SPDX-License-Identifier: GPL-2.0
/* Which interface of the fence the packets of a link count for. */
#include "unit.h"

#include "fence/by_interface.h"

enum { ETH0 = 1, ETH1, ETH2, BOND, OUTER, BRIDGE, LINKS };

struct row {
	const char *name;
	struct rf_link link[LINKS];
	unsigned int of, counts_for;
};

#define NIC(index, master)               \
	{                                \
		index, master, false, "" \
	}
#define ATTACHED(index, kind)        \
	{                            \
		index, 0, true, kind \
	}

static const struct row rows[] = {
	{"an interface of the fence counts for itself", {ATTACHED(ETH0, "")}, ETH0, ETH0},
	{"a member counts for its bond",
	 {ATTACHED(ETH0, ""), ATTACHED(BOND, "bond"), NIC(ETH1, BOND), NIC(ETH2, BOND)},
	 ETH2,
	 BOND},
	{"a member counts for its team", {ATTACHED(BOND, "team"), NIC(ETH1, BOND)}, ETH1, BOND},
	{"a virtual function counts for its hv_netvsc",
	 {ATTACHED(ETH0, ""), NIC(ETH1, ETH0)},
	 ETH1,
	 ETH0},
	{"a port does not count for its bridge",
	 {ATTACHED(BRIDGE, "bridge"), NIC(ETH1, BRIDGE)},
	 ETH1,
	 0},
	{"a member that the fence is on counts for itself",
	 {{ETH1, BOND, true, ""}, ATTACHED(BOND, "bond")},
	 ETH1,
	 ETH1},
	{"a member of a member counts for the bond that the fence is on",
	 {ATTACHED(OUTER, "bond"), {BOND, OUTER, false, "bond"}, NIC(ETH1, BOND)},
	 ETH1,
	 OUTER},
	{"a member counts for the nearest bond that the fence is on",
	 {ATTACHED(OUTER, "bond"), {BOND, OUTER, true, "bond"}, NIC(ETH1, BOND)},
	 ETH1,
	 BOND},
	{"a member of a bond in a bridge does not count for the bridge",
	 {ATTACHED(BRIDGE, "bridge"), {BOND, BRIDGE, false, "bond"}, NIC(ETH1, BOND)},
	 ETH1,
	 0},
	{"a member of a bond that the fence is not on counts for none",
	 {ATTACHED(ETH0, ""), {BOND, 0, false, "bond"}, NIC(ETH1, BOND)},
	 ETH1,
	 0},
	{"a member whose master has just gone counts for none",
	 {ATTACHED(ETH0, ""), NIC(ETH1, BOND)},
	 ETH1,
	 0},
	{"masters that changed while they were read end in none",
	 {{BOND, OUTER, false, "bond"}, {OUTER, BOND, false, "bond"}},
	 BOND,
	 0},
};

static void link_counts_for(void **state)
{
	const struct row *row = *state;
	struct rf_links links = {};

	for (int i = 0; i < LINKS && row->link[i].index; i++) {
		assert_int_equal(rf_links_add(&links, &row->link[i]), 0);
		assert_int_equal(rf_links_add(&links, &row->link[i]), 0);
		assert_int_equal(links.count, i + 1);
	}
	assert_int_equal(rf_link_counts_for(&links, rf_links_find(&links, row->of)),
			 row->counts_for);
	rf_links_free(&links);
}

static void a_list_grows(void **state)
{
	struct rf_links links = {};

	(void)state;
	for (unsigned int i = 1; i <= 1000; i++)
		assert_int_equal(rf_links_add(&links, &(struct rf_link){.index = i}), 0);
	assert_int_equal(rf_links_find(&links, 1000)->index, 1000);
	assert_null(rf_links_find(&links, 1001));
	rf_links_free(&links);
}

int main(void)
{
	struct CMUnitTest tests[UNIT_ARRAY_SIZE(rows) + 1] = {};

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++)
		tests[i] = (struct CMUnitTest)UNIT_ROW_OF(rows[i].name, link_counts_for, &rows[i]);
	tests[UNIT_ARRAY_SIZE(rows)] = (struct CMUnitTest)UNIT_ROW("a list grows", a_list_grows);
	return _cmocka_run_group_tests("members", tests, UNIT_ARRAY_SIZE(tests), NULL, NULL);
}
