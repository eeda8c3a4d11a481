// SPDX-License-Identifier: GPL-2.0
/*
 * Is a loaded program this build's? The kernel tags a program with a hash of its instructions. The
 * same hash is computed here without loading anything: libbpf prepares the program for a later
 * load, which needs no privilege.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "attach/build.h"
#include "attach/load.h"
#include "kernel/log.h"
#include "kernel/program.h"

#define LOAD_64 (BPF_LD | BPF_IMM | BPF_DW)

/* What stands for a map in an instruction that loads its address; 0: it loads a number. */
static uint8_t map_source(const struct bpf_insn *instruction)
{
	if (instruction->code != LOAD_64)
		return 0;
	switch (instruction->src_reg) {
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_IDX:
		return BPF_PSEUDO_MAP_FD;
	case BPF_PSEUDO_MAP_VALUE:
	case BPF_PSEUDO_MAP_IDX_VALUE:
		return BPF_PSEUDO_MAP_VALUE;
	}
	return 0;
}

/* As the kernel does before it hashes: which maps are used makes no difference. */
static void forget_maps(struct bpf_insn *instruction, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		const uint8_t source = map_source(&instruction[i]);

		if (!source)
			continue;
		instruction[i].src_reg = source;
		instruction[i].imm = 0;
		instruction[++i].imm = 0;
	}
}

/* Linux hashes with SHA-1, and since 6.18 with SHA-256. A tag is the begin of the digest. */
static void make_tags_of(const struct bpf_insn *instruction, size_t count,
			 struct rf_build_tags *tags)
{
	const size_t size = count * sizeof(*instruction);
	struct sha1_ctx sha1;
	struct sha256_ctx sha256;

	sha1_init(&sha1);
	sha1_update(&sha1, size, (const uint8_t *)instruction);
	sha1_digest(&sha1, sizeof(tags->sha1), tags->sha1);
	sha256_init(&sha256);
	sha256_update(&sha256, size, (const uint8_t *)instruction);
	sha256_digest(&sha256, sizeof(tags->sha256), tags->sha256);
}

static int make_tags(const struct bpf_program *program, struct rf_build_tags *tags)
{
	const size_t count = bpf_program__insn_cnt(program);
	struct bpf_insn *copy = malloc(count * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, bpf_program__insns(program), count * sizeof(*copy));
	forget_maps(copy, count);
	make_tags_of(copy, count, tags);
	free(copy);
	return 0;
}

static int prepare(struct bpf_object *object, struct rf_build_tags tags[RF_ENTRY_COUNT])
{
	LIBBPF_OPTS(gen_loader_opts, options);
	int err = bpf_object__gen_loader(object, &options);

	if (!err)
		err = bpf_object__load(object);
	for (int i = 0; i < RF_ENTRY_COUNT && !err; i++)
		err = make_tags(bpf_object__find_program_by_name(object, rf_entry_names[i]),
				&tags[i]);
	return err;
}

int rf_build_read(struct rf_build *build)
{
	int err = 0;

	*build = (struct rf_build){};
	rf_log_pause(true);
	for (int i = 0; i < RF_BUILDS && !err; i++) {
		struct bpf_object *object = rf_load_build(i);

		err = object ? prepare(object, build->tags[i]) : -errno;
		bpf_object__close(object);
	}
	rf_log_pause(false);
	build->known = !err;
	return err;
}

enum rf_answer rf_build_has(const struct rf_build *build, const uint8_t tag[RF_PROGRAM_TAG_SIZE])
{
	static const uint8_t none[RF_PROGRAM_TAG_SIZE];

	if (!build->known || memcmp(tag, none, sizeof(none)) == 0)
		return RF_NOT_KNOWN;
	for (int i = 0; i < RF_BUILDS * RF_ENTRY_COUNT; i++) {
		const struct rf_build_tags *of =
			&build->tags[i / RF_ENTRY_COUNT][i % RF_ENTRY_COUNT];

		if (memcmp(tag, of->sha1, RF_PROGRAM_TAG_SIZE) == 0 ||
		    memcmp(tag, of->sha256, RF_PROGRAM_TAG_SIZE) == 0)
			return RF_YES;
	}
	return RF_NO;
}

enum rf_answer rf_build_is_on(const struct rf_build *build, const struct rf_interface *interface)
{
	struct rf_program program;
	struct rf_error ignored;
	enum rf_answer answer = RF_NOT_KNOWN;

	if (!rf_program_open(&program, interface->program_id, &ignored))
		answer = rf_build_has(build, program.tag);
	rf_program_close(&program);
	return answer;
}
