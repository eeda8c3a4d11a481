/* SPDX-License-Identifier: GPL-2.0 */
/* Defaults of settings that other programs than the daemon know, too. */
#ifndef RINGFENCE_SCHEMA_SETTINGS_H
#define RINGFENCE_SCHEMA_SETTINGS_H

#define RF_SETTINGS_FILE "/etc/ringfence/watch.conf"
#define RF_OFF "off" /* instead of a path: "" */
#define RF_HISTORY_DIRECTORY "/var/lib/ringfence"
#define RF_EVENTS_FILE RF_HISTORY_DIRECTORY "/events.jsonl"

#endif /* RINGFENCE_SCHEMA_SETTINGS_H */
