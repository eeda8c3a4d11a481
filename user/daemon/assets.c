// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "base/units.h"
#include "build/page_assets.h"
#include "daemon/assets.h"

#define ASSET(path, type, name)                \
	{                                      \
		path, type, name, sizeof(name) \
	}

static const struct rf_asset assets[] = {
	ASSET("/", "text/html; charset=utf-8", page_html),
	ASSET("/page.css", "text/css; charset=utf-8", page_css),
	ASSET("/page.js", "text/javascript; charset=utf-8", page_js),
	ASSET("/plots.js", "text/javascript; charset=utf-8", plots_js),
	ASSET("/icon.svg", "image/svg+xml", icon_svg),
};

const struct rf_asset *rf_asset_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(assets); i++)
		if (strcmp(assets[i].path, path) == 0)
			return &assets[i];
	return NULL;
}
