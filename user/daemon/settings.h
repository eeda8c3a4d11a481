/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The settings of the daemon: the words of its command line and the lines of its file are the same.
 */
#ifndef RINGFENCE_SETTINGS_H
#define RINGFENCE_SETTINGS_H

#include "base/error.h"
#include "base/prefix.h"
#include "rules/file.h"
#include "rules/grammar.h"
#include "rules/settings.h"
#include "schema/settings.h"
#include "watch/privacy.h"

#define RF_SETTING_PATH_SIZE 256
#define RF_SOCKET_PATH_SIZE 108 /* of sockaddr_un */
#define RF_HOSTS_MAX 16
#define RF_HOST_SIZE 128
#define RF_LISTEN_TEXT_SIZE 56

enum rf_setting {
#define SETTING(id, ...) RF_SET_##id,
#include "schema/watch_settings.def"
#undef SETTING
	RF_SETTINGS,
};

struct rf_listen {
	struct rf_address address;
	uint16_t port; /* 0: off */
};

struct rf_settings {
	uint64_t interval_ns;
	enum rf_told sources;
	struct rf_listen listen;
	char socket[RF_SOCKET_PATH_SIZE];
	char host[RF_HOSTS_MAX][RF_HOST_SIZE];
	int hosts;
	char token_file[RF_SETTING_PATH_SIZE];
	char history[RF_SETTING_PATH_SIZE];
	uint64_t keep_ns;
	uint64_t most_bytes;
	char events_file[RF_SETTING_PATH_SIZE];
	bool journal;
	char exec[RF_SETTING_PATH_SIZE];
	unsigned int given; /* bit set of enum rf_setting: all others are as embedded */
};

extern const struct rf_setting_table rf_watch_settings; /* enum rf_setting */

void rf_settings_default(struct rf_settings *settings);
static inline bool rf_settings_has(const struct rf_settings *settings, enum rf_setting one)
{
	return settings->given >> one & 1;
}

/* Takes all words. */
int rf_settings_words(struct rf_settings *settings, struct rf_words *words, struct rf_error *error);
/* Parses the lines of a file's text, which it modifies; records each error with its line. */
int rf_settings_text(struct rf_settings *settings, char *text, struct rf_mistakes *mistakes,
		     struct rf_error *error);
/* An error where settings contradict each other. */
int rf_settings_check(const struct rf_settings *settings, struct rf_error *error);

/* Reads the settings of a file, and logs each error in it. */
int rf_settings_load(struct rf_settings *settings, const char *path, struct rf_error *error);
/*
 * Reads all settings, at the start and at SIGHUP: the embedded ones, the file, the environment of a
 * unit, and `words` of the command line. On failure `settings` are unchanged.
 */
int rf_settings_make(struct rf_settings *settings, const struct rf_words *words,
		     struct rf_error *error);

bool rf_listen_is_loopback(const struct rf_listen *listen);
/* 0.0.0.0 or [::]: every address of the machine. */
bool rf_listen_is_wildcard(const struct rf_listen *listen);
/* 127.0.0.1:9436, [::1]:9436. False: it is no address with a port. */
bool rf_parse_listen(const char *text, struct rf_listen *listen);
void rf_format_listen(const struct rf_listen *listen, char text[RF_LISTEN_TEXT_SIZE]);

#endif /* RINGFENCE_SETTINGS_H */
