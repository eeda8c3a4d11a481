// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "daemon/token.h"
#include "watch/page_files.h"

#define RANDOM_BYTES 24
#define FILE_MODE 0640
#define DIRECTORY_MODE 0750

/* ---- files of the group ---- */

/* As a service, the group is the process's; root's files get it here. */
static void give_to_group(int fd)
{
	const struct group *group = getgrnam("ringfence");

	if (group && fchown(fd, -1, group->gr_gid) && errno != EPERM)
		rf_warn("%s: %s", RF_PAGE_DIRECTORY, strerror(errno));
}

/* Renames a new file into its place, so nobody reads half of it. */
static int write_file(const char *path, const char *text)
{
	char made[RF_SETTING_PATH_SIZE + 8];
	int fd, err = 0;

	snprintf(made, sizeof(made), "%s.new", path);
	unlink(made);
	fd = open(made, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	give_to_group(fd);
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text) || fchmod(fd, FILE_MODE))
		err = errno ? -errno : -EIO;
	close(fd);
	if (!err && rename(made, path))
		err = -errno;
	if (err)
		unlink(made);
	return err;
}

static void make_directory(const char *path)
{
	int fd;

	if (mkdir(path, DIRECTORY_MODE))
		return;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	give_to_group(fd);
	close(fd);
}

/* That of the service, or the same one for a daemon that runs without systemd, where it may. */
static void find_directory(struct rf_token_place *place)
{
	const char *given = getenv("RUNTIME_DIRECTORY");
	const char *path = given && *given == '/' ? given : RF_PAGE_DIRECTORY;

	*place = (struct rf_token_place){};
	if (strlen(path) > sizeof(place->directory) - 16)
		return;
	make_directory(path);
	if (!access(path, W_OK | X_OK))
		strcpy(place->directory, path);
}

/* ---- the token ---- */

/* One that we made, or a process before us. Somebody else's is not ours to trust. */
static bool is_ours(const char *path)
{
	struct stat stat;

	return !lstat(path, &stat) && S_ISREG(stat.st_mode) && stat.st_uid == geteuid() &&
	       !(stat.st_mode & 07);
}

static int make_token(char token[RF_TOKEN_SIZE], struct rf_error *error)
{
	unsigned char bytes[RANDOM_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return rf_error_failed(error, -EIO, "cannot make a token: %s", strerror(errno));
	for (int i = 0; i < RANDOM_BYTES; i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int make_or_keep(struct rf_site *site, struct rf_token_place *place, struct rf_error *error)
{
	char line[RF_TOKEN_SIZE + 1];
	struct rf_error ignored;
	int err;

	if (*place->directory)
		snprintf(place->path, sizeof(place->path), "%.200s/%s", place->directory,
			 RF_PAGE_TOKEN_FILE);
	if (*place->path && is_ours(place->path) &&
	    !rf_token_read(place->path, site->token, &ignored))
		return 0;
	err = make_token(site->token, error);
	if (err || !*place->path)
		return err;
	snprintf(line, sizeof(line), "%s\n", site->token);
	err = write_file(place->path, line);
	if (err)
		rf_warn("%s: %s; 'ringfence page' cannot tell the token", place->path,
			strerror(-err));
	if (err)
		*place->path = '\0';
	return 0;
}

int rf_token_take(struct rf_site *site, struct rf_token_place *place,
		  const struct rf_settings *settings, struct rf_error *error)
{
	find_directory(place);
	if (!*settings->token_file)
		return make_or_keep(site, place, error);
	strcpy(place->path, settings->token_file);
	return rf_token_read(settings->token_file, site->token, error);
}

/* ---- the address ---- */

static void name_file(const struct rf_token_place *place, char path[RF_SETTING_PATH_SIZE])
{
	snprintf(path, RF_SETTING_PATH_SIZE, "%.200s/%s", place->directory, RF_PAGE_FILE);
}

void rf_token_publish(const struct rf_token_place *place, const char *address)
{
	char path[RF_SETTING_PATH_SIZE], text[2 * RF_SETTING_PATH_SIZE + 2];
	int err;

	if (!*place->directory || !*place->path)
		return;
	name_file(place, path);
	snprintf(text, sizeof(text), "%.255s\n%s\n", address, place->path);
	err = write_file(path, text);
	if (err)
		rf_warn("%s: %s; 'ringfence page' cannot find the page", path, strerror(-err));
}

void rf_token_withdraw(const struct rf_token_place *place)
{
	char path[RF_SETTING_PATH_SIZE];

	if (!*place->directory || !*place->path)
		return;
	name_file(place, path);
	unlink(path);
}
