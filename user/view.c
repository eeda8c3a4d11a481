// SPDX-License-Identifier: GPL-2.0
#include "view.h"
#include "out.h"

const char *rf_view_attached_by(const struct rf_interface *interface)
{
	return interface->by_link ? "ringfence" : "ip";
}

json_t *rf_view_interfaces(const struct rf_fence *fence)
{
	json_t *list = json_array();

	for (int i = 0; i < fence->interfaces; i++)
		json_array_append_new(
			list,
			json_pack("{s:o, s:s, s:s}", "name", rf_json_text(fence->interface[i].name),
				  "mode", rf_mode_name(fence->interface[i].mode), "attached_by",
				  rf_view_attached_by(&fence->interface[i])));
	return list;
}
