/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records: the JSON of each command, as tables. A row has the key of a field, the place of its
 * value and its meaning. The JSON and the tables of ringfence-json(5) follow from the same rows;
 * text for people is printed from the same structs.
 */
#ifndef RINGFENCE_RECORD_H
#define RINGFENCE_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rf_prefix;

/*
 * The key `schema` of every object. Raise it when a key or a value is renamed or removed, or
 * changes its meaning; a new key does not raise it.
 */
#define RF_JSON_SCHEMA 2

enum rf_field_kind {
	RF_FIELD_BOOL,
	RF_FIELD_INT,
	RF_FIELD_U8,
	RF_FIELD_U32,
	RF_FIELD_I64,
	RF_FIELD_U64,	  /* below 2^63 */
	RF_FIELD_MS,	  /* uint64_t of nanoseconds */
	RF_FIELD_LEFT,	  /* the same; RF_FOREVER: no value */
	RF_FIELD_SECONDS, /* uint64_t of nanoseconds */
	RF_FIELD_TIME,	  /* uint64_t, nanoseconds since 1970; 0: no value */
	RF_FIELD_ENUM,	  /* a word of `words` */
	RF_FIELD_REAL,
	RF_FIELD_TEXT,	 /* an array of char */
	RF_FIELD_WORD,	 /* const char *; NULL: no value */
	RF_FIELD_OBJECT, /* `fields`, of a struct at the offset */
	RF_FIELD_LINKED, /* the same of a pointer; NULL: no value */
	RF_FIELD_PREFIX, /* struct rf_prefix; of one host, its address */
	RF_FIELD_TUPLE,	 /* a list of the values of `fields`, in their order */
	RF_FIELD_LIST,	 /* of an array, or of what `item` returns */
	RF_FIELD_NAMED,	 /* the same, an object whose keys `name` returns */
	RF_FIELD_MORE,	 /* not a separate field: the same object has `fields` as well */
	RF_FIELD_VIA,	 /* the same, of the struct that a pointer names; NULL: without them */
	RF_FIELD_JSON,	 /* json_t *, made while it was read; `element` is its type */
	RF_FIELD_KINDS,
};

/* An array in the struct, or one that the struct points to. */
struct rf_field_array {
	size_t offset, stride; /* of an element; 0: no array */
	bool is_pointer;
	size_t count_offset, count_size;
};

struct rf_field {
	const char *key; /* NULL: the end of the table */
	const char *meaning;
	enum rf_field_kind kind;
	bool or_null; /* without a value it is null; else the key is left out */
	bool if_any;  /* 0, false and "" are no value */
	size_t offset;
	/* Has it a value? NULL: yes. */
	bool (*has)(const void *of);
	/* Makes a value that is not stored; `kind` is its type. NULL: no memory. */
	json_t *(*make)(const void *of);
	const struct rf_field *fields; /* of an object, or of each element */
	/* The element `i`, of kind `element`; NULL: there are no more. */
	const void *(*item)(const void *of, size_t i);
	const char *(*name)(const void *item, size_t i);
	enum rf_field_kind element;
	struct rf_field_array array;
	const char *const *words;
};

/* The kind follows from the type of the member. */
/* clang-format off */
#define RF_FIELD_KIND(member)            \
	_Generic((member),               \
		bool: RF_FIELD_BOOL,     \
		int: RF_FIELD_INT,       \
		uint8_t: RF_FIELD_U8,    \
		uint32_t: RF_FIELD_U32,  \
		long: RF_FIELD_I64,      \
		long long: RF_FIELD_I64, \
		unsigned long: RF_FIELD_U64,      \
		unsigned long long: RF_FIELD_U64, \
		double: RF_FIELD_REAL,   \
		char *: __builtin_types_compatible_p(__typeof__(member), char *) ? RF_FIELD_WORD \
										 : RF_FIELD_TEXT, \
		const char *: RF_FIELD_WORD)
/* clang-format on */

/* The offset of a member. The row does not compile unless its kind can read that member. */
#define RF_FIELD_OFFSET(type, member, fits)                                                        \
	(offsetof(type, member) + 0 * sizeof(struct {                                              \
					  _Static_assert(fits,                                     \
							 "the kind of a row must fit its member"); \
					  int unused;                                              \
				  }))
#define RF_MEMBER(type, member) (((type *)0)->member)
#define RF_MEMBER_IS(type, member, of) \
	__builtin_types_compatible_p(__typeof__(RF_MEMBER(type, member)), of)
#define RF_MEMBER_HAS_SIZE(type, member, of) (sizeof(RF_MEMBER(type, member)) == sizeof(of))
#define RF_MEMBER_IS_STRUCT(type, member) (__builtin_classify_type(RF_MEMBER(type, member)) == 12)
#define RF_MEMBER_IS_POINTER(type, member) (__builtin_classify_type(RF_MEMBER(type, member)) == 5)

#define RF_FIELD_AT(kind_, key_, type, member, fits, meaning_, ...)          \
	{                                                                    \
		.key = key_, .meaning = meaning_, .kind = kind_,             \
		.offset = RF_FIELD_OFFSET(type, member, fits), ##__VA_ARGS__ \
	}
#define RF_FIELD(key, type, member, meaning, ...)                                             \
	RF_FIELD_AT(RF_FIELD_KIND(RF_MEMBER(type, member)), key, type, member, true, meaning, \
		    ##__VA_ARGS__)
#define RF_FIELD_NS(kind, key, type, member, meaning, ...)                                        \
	RF_FIELD_AT(kind, key, type, member, RF_MEMBER_HAS_SIZE(type, member, uint64_t), meaning, \
		    ##__VA_ARGS__)
#define RF_FIELD_OF_NS(key, type, member, meaning, ...) \
	RF_FIELD_NS(RF_FIELD_MS, key, type, member, meaning, ##__VA_ARGS__)
#define RF_FIELD_LEFT_OF(key, type, member, meaning, ...) \
	RF_FIELD_NS(RF_FIELD_LEFT, key, type, member, meaning, ##__VA_ARGS__)
#define RF_FIELD_IN_SECONDS(key, type, member, meaning, ...) \
	RF_FIELD_NS(RF_FIELD_SECONDS, key, type, member, meaning, ##__VA_ARGS__)
#define RF_FIELD_OF_TIME(key, type, member, meaning, ...) \
	RF_FIELD_NS(RF_FIELD_TIME, key, type, member, meaning, ##__VA_ARGS__)
#define RF_FIELD_OF_ENUM(key, type, member, words_, meaning, ...)                             \
	RF_FIELD_AT(RF_FIELD_ENUM, key, type, member,                                         \
		    RF_MEMBER_HAS_SIZE(type, member, unsigned int), meaning, .words = words_, \
		    ##__VA_ARGS__)
#define RF_FIELD_OF_PREFIX(key, type, member, meaning, ...) \
	RF_FIELD_AT(RF_FIELD_PREFIX, key, type, member,     \
		    RF_MEMBER_IS(type, member, struct rf_prefix), meaning, ##__VA_ARGS__)
#define RF_FIELD_IN(key, type, member, fields_, meaning, ...)                              \
	RF_FIELD_AT(RF_FIELD_OBJECT, key, type, member, RF_MEMBER_IS_STRUCT(type, member), \
		    meaning, .fields = fields_, ##__VA_ARGS__)
#define RF_FIELD_LINK(key, type, member, fields_, meaning, ...)                             \
	RF_FIELD_AT(RF_FIELD_LINKED, key, type, member, RF_MEMBER_IS_POINTER(type, member), \
		    meaning, .fields = fields_, ##__VA_ARGS__)
#define RF_FIELDS_OF(type, member, fields_, ...)                                              \
	RF_FIELD_AT(RF_FIELD_MORE, "", type, member, RF_MEMBER_IS_STRUCT(type, member), NULL, \
		    .fields = fields_, ##__VA_ARGS__)
#define RF_FIELDS_VIA(type, member, fields_)                                                  \
	RF_FIELD_AT(RF_FIELD_VIA, "", type, member, RF_MEMBER_IS_POINTER(type, member), NULL, \
		    .fields = fields_)

#define RF_FIELD_READ(key, type, member, element_, fields_, meaning, ...)                   \
	RF_FIELD_AT(RF_FIELD_JSON, key, type, member, RF_MEMBER_IS(type, member, json_t *), \
		    meaning, .element = element_, .fields = fields_, ##__VA_ARGS__)

/* Elements of kind `element_`; of objects, `fields_` are theirs. */
#define RF_FIELD_ARRAY(key_, type, member, count, element_, fields_, meaning_, ...)            \
	{                                                                                      \
		.key = key_, .meaning = meaning_, .kind = RF_FIELD_LIST, .element = element_,  \
		.fields = fields_,                                                             \
		.array = {offsetof(type, member), sizeof(*RF_MEMBER(type, member)),            \
			  RF_MEMBER_IS(type, member, __typeof__(&RF_MEMBER(type, member)[0])), \
			  RF_FIELD_OFFSET(type, count,                                         \
					  RF_MEMBER_HAS_SIZE(type, count, uint32_t) ||         \
						  RF_MEMBER_HAS_SIZE(type, count, uint64_t)),  \
			  sizeof(RF_MEMBER(type, count))},                                     \
		##__VA_ARGS__                                                                  \
	}
#define RF_FIELD_OBJECTS(key, type, member, count, fields, meaning, ...) \
	RF_FIELD_ARRAY(key, type, member, count, RF_FIELD_OBJECT, fields, meaning, ##__VA_ARGS__)

/* Of a value made from the struct, which is not a member of it. */
#define RF_FIELD_MADE(key_, kind_, make_, meaning_, ...)                                      \
	{                                                                                     \
		.key = key_, .meaning = meaning_, .kind = kind_, .make = make_, ##__VA_ARGS__ \
	}
/* An object whose fields are members of the same struct. */
#define RF_FIELD_GROUP(key, fields_, meaning, ...) \
	RF_FIELD_MADE(key, RF_FIELD_OBJECT, NULL, meaning, .fields = fields_, ##__VA_ARGS__)
#define RF_FIELDS_ALSO(fields_, ...) \
	RF_FIELD_MADE("", RF_FIELD_MORE, NULL, NULL, .fields = fields_, ##__VA_ARGS__)
#define RF_FIELD_LIST_OF(key, item_, fields_, meaning, ...)             \
	RF_FIELD_MADE(key, RF_FIELD_LIST, NULL, meaning, .item = item_, \
		      .element = RF_FIELD_OBJECT, .fields = fields_, ##__VA_ARGS__)
#define RF_FIELD_BY_NAME(key, item_, name_, element_, fields_, meaning, ...)            \
	RF_FIELD_MADE(key, RF_FIELD_NAMED, NULL, meaning, .item = item_, .name = name_, \
		      .element = element_, .fields = fields_, ##__VA_ARGS__)

/*
 * The fields of a table of ringfence-json(5), up to three: `print_keys NAME` finds it in its
 * section. Without this a record is a part of others.
 */
struct rf_record_table {
	const char *name;
	const struct rf_field *fields[4];
};

#define RF_RECORD(name_, ...)                                                 \
	static const struct rf_record_table record_of_##name_ __attribute__(( \
		used, section("rf_records"), aligned(sizeof(void *)))) = {#name_, {__VA_ARGS__}}

/* The object of a struct whose fields these are. NULL: no memory. */
json_t *rf_record_json(const struct rf_field *fields, const void *of);
/* "number", "text, null" … */
const char *rf_field_type(const struct rf_field *field);

#endif /* RINGFENCE_RECORD_H */
