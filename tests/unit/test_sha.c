// SPDX-License-Identifier: GPL-2.0
/* SHA-1 and SHA-256: the known answers of FIPS 180, and all lengths around a block. */
#include <stdio.h>

#include "unit.h"

#include "base/sha.h"

struct row {
	const char *text;
	const char *sha1, *sha256;
};

static void to_hex(const uint8_t *digest, size_t size, char *text)
{
	for (size_t i = 0; i < size; i++)
		sprintf(text + 2 * i, "%02x", digest[i]);
}

static void has_digests(void **state)
{
	const struct row *row = *state;
	uint8_t digest[RF_SHA256_SIZE];
	char text[2 * RF_SHA256_SIZE + 1];

	rf_sha1(row->text, strlen(row->text), digest);
	to_hex(digest, RF_SHA1_SIZE, text);
	assert_string_equal(text, row->sha1);
	rf_sha256(row->text, strlen(row->text), digest);
	to_hex(digest, RF_SHA256_SIZE, text);
	assert_string_equal(text, row->sha256);
}

#define ROW(name, text, sha1, sha256) \
	UNIT_ROW_OF("sha: " name, has_digests, (&(struct row){text, sha1, sha256}))

static const struct CMUnitTest tests[] = {
	ROW("nothing", "", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
	    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
	ROW("three letters", "abc", "a9993e364706816aba3e25717850c26c9cd0d89d",
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
	ROW("two blocks", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	    "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
	    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
	ROW("55 letters", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "c1c8bbdc22796e28c0e15163d20899b65621d65a",
	    "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
	ROW("56 letters", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "c2db330f6083854c99d4b5bfb6e8f29f201be699",
	    "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
	ROW("63 letters", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "03f09f5b158a7a8cdad920bddc29b81c18a551f5",
	    "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
	ROW("64 letters", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "0098ba824b5c16427bd7a1122a5a442a25ec644d",
	    "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
	ROW("65 letters", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "11655326c708d70319be2610e8a57d9a5b959d3b",
	    "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"),
	ROW("119 letters",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56",
	    "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
	ROW("120 letters",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "f34c1488385346a55709ba056ddd08280dd4c6d6",
	    "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
	ROW("128 letters",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "ad5b3fdbcb526778c2839d2f151ea753995e26a0",
	    "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"),
	ROW("200 letters",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	    "e61cfffe0d9195a525fc6cf06ca2d77119c24a40",
	    "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5"),
};

int main(void)
{
	return cmocka_run_group_tests_name("sha", tests, NULL, NULL);
}
