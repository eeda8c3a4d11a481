// SPDX-License-Identifier: GPL-2.0
#include "schema/record.h"
#include "base/json.h"
#include "base/prefix.h"
#include "base/time.h"
#include "base/units.h"
#include "ringfence/abi.h"

static json_t *list_json(const struct rf_field *field, const void *of);
static json_t *named_json(const struct rf_field *field, const void *of);

static json_t *prefix_json(const struct rf_prefix *prefix)
{
	char text[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(prefix, text);
	return json_string(text);
}

static json_t *time_json(uint64_t time_ns)
{
	char text[RF_TIME_TEXT_SIZE];

	rf_format_utc(time_ns, text);
	return json_string(text);
}

/* Of documents with many short rows: the keys would be most of the text. */
static json_t *tuple_json(const struct rf_field *fields, const void *of)
{
	json_t *object = rf_record_json(fields, of), *list = json_array(), *value;
	const char *key;

	json_object_foreach (object, key, value)
		json_array_append(list, value);
	json_decref(object);
	return list;
}

static json_t *value_json(enum rf_field_kind kind, const struct rf_field *field, const void *at)
{
	switch (kind) {
	case RF_FIELD_BOOL:
		return json_boolean(*(const bool *)at);
	case RF_FIELD_INT:
		return json_integer(*(const int *)at);
	case RF_FIELD_U8:
		return json_integer(*(const uint8_t *)at);
	case RF_FIELD_U32:
		return json_integer(*(const uint32_t *)at);
	case RF_FIELD_I64:
		return json_integer(*(const int64_t *)at);
	case RF_FIELD_U64:
		return json_integer(*(const uint64_t *)at);
	case RF_FIELD_MS:
	case RF_FIELD_LEFT:
		return json_integer(*(const uint64_t *)at / RF_NS_PER_MS);
	case RF_FIELD_SECONDS:
		return json_real(*(const uint64_t *)at / 1e9);
	case RF_FIELD_TIME:
		return time_json(*(const uint64_t *)at);
	case RF_FIELD_ENUM:
		return json_string(field->words[*(const unsigned int *)at]);
	case RF_FIELD_REAL:
		return json_real(*(const double *)at);
	case RF_FIELD_TEXT:
		return rf_json_text(at);
	case RF_FIELD_WORD:
		return rf_json_text(*(const char *const *)at);
	case RF_FIELD_OBJECT:
		return rf_record_json(field->fields, at);
	case RF_FIELD_LINKED:
		return rf_record_json(field->fields, *(const void *const *)at);
	case RF_FIELD_PREFIX:
		return prefix_json(at);
	case RF_FIELD_TUPLE:
		return tuple_json(field->fields, at);
	case RF_FIELD_LIST:
		return list_json(field, at);
	case RF_FIELD_NAMED:
		return named_json(field, at);
	case RF_FIELD_JSON:
		return json_incref(*(json_t *const *)at);
	case RF_FIELD_MORE:
	case RF_FIELD_VIA:
	case RF_FIELD_KINDS:
		break;
	}
	return NULL;
}

/* NULL: it has fewer. */
static const void *element_at(const struct rf_field *field, const void *of, size_t i)
{
	const struct rf_field_array *array = &field->array;
	const char *at = (const char *)of + array->offset;
	const void *count = (const char *)of + array->count_offset;

	if (!array->stride)
		return field->item(of, i);
	if (i >= (array->count_size == sizeof(uint64_t) ? *(const uint64_t *)count
							: *(const uint32_t *)count))
		return NULL;
	return (array->is_pointer ? *(const char *const *)at : at) + i * array->stride;
}

static json_t *list_json(const struct rf_field *field, const void *of)
{
	json_t *list = json_array();
	const void *item;

	for (size_t i = 0; (item = element_at(field, of, i)); i++) {
		if (json_array_append_new(list, value_json(field->element, field, item))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static json_t *named_json(const struct rf_field *field, const void *of)
{
	json_t *object = json_object();
	const void *item;

	for (size_t i = 0; (item = element_at(field, of, i)); i++) {
		if (json_object_set_new(object, field->name(item, i),
					value_json(field->element, field, item))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static bool is_any(enum rf_field_kind kind, const void *at)
{
	switch (kind) {
	case RF_FIELD_BOOL:
		return *(const bool *)at;
	case RF_FIELD_U8:
	case RF_FIELD_TEXT:
		return *(const char *)at;
	case RF_FIELD_INT:
	case RF_FIELD_U32:
		return *(const uint32_t *)at;
	case RF_FIELD_WORD:
		return **(const char *const *)at;
	default:
		return *(const uint64_t *)at;
	}
}

/* Pointers, times and deadlines can be without a value. */
static bool has_value(const struct rf_field *field, const void *of, const void *at)
{
	if (field->has && !field->has(of))
		return false;
	if (field->make)
		return true;
	switch (field->kind) {
	case RF_FIELD_WORD:
	case RF_FIELD_LINKED:
	case RF_FIELD_JSON:
		if (!*(const void *const *)at)
			return false;
		break;
	case RF_FIELD_TIME:
		return *(const uint64_t *)at;
	case RF_FIELD_LEFT:
		return *(const uint64_t *)at != RF_FOREVER;
	default:
		break;
	}
	return !field->if_any || is_any(field->kind, at);
}

static int add_fields(json_t *object, const struct rf_field *fields, const void *of);

static int add_field(json_t *object, const struct rf_field *field, const void *of)
{
	const void *at = (const char *)of + field->offset;
	json_t *value;

	if (field->kind == RF_FIELD_MORE && field->has && !field->has(of))
		return 0;
	if (field->kind == RF_FIELD_MORE)
		return add_fields(object, field->fields, at);
	if (field->kind == RF_FIELD_VIA) {
		const void *via = *(const void *const *)at;

		return via ? add_fields(object, field->fields, via) : 0;
	}
	if (has_value(field, of, at))
		value = field->make ? field->make(of) : value_json(field->kind, field, at);
	else if (field->or_null)
		value = json_null();
	else
		return 0;
	return json_object_set_new(object, field->key, value);
}

static int add_fields(json_t *object, const struct rf_field *fields, const void *of)
{
	int err = 0;

	for (; fields->key && !err; fields++)
		err = add_field(object, fields, of);
	return err;
}

json_t *rf_record_json(const struct rf_field *fields, const void *of)
{
	json_t *object = json_object();

	if (!add_fields(object, fields, of))
		return object;
	json_decref(object);
	return NULL;
}

const char *rf_field_type(const struct rf_field *field)
{
	static const char *const types[RF_FIELD_KINDS][2] = {
		[RF_FIELD_BOOL] = {"boolean", "boolean, null"},
		[RF_FIELD_INT] = {"number", "number, null"},
		[RF_FIELD_U8] = {"number", "number, null"},
		[RF_FIELD_U32] = {"number", "number, null"},
		[RF_FIELD_I64] = {"number", "number, null"},
		[RF_FIELD_U64] = {"number", "number, null"},
		[RF_FIELD_MS] = {"number", "number, null"},
		[RF_FIELD_LEFT] = {"number", "number, null"},
		[RF_FIELD_SECONDS] = {"number", "number, null"},
		[RF_FIELD_TIME] = {"text", "text, null"},
		[RF_FIELD_ENUM] = {"text", "text, null"},
		[RF_FIELD_REAL] = {"number", "number, null"},
		[RF_FIELD_TEXT] = {"text", "text, null"},
		[RF_FIELD_WORD] = {"text", "text, null"},
		[RF_FIELD_OBJECT] = {"object", "object, null"},
		[RF_FIELD_LINKED] = {"object", "object, null"},
		[RF_FIELD_PREFIX] = {"text", "text, null"},
		[RF_FIELD_TUPLE] = {"list", "list, null"},
		[RF_FIELD_LIST] = {"list", "list, null"},
		[RF_FIELD_NAMED] = {"object", "object, null"},
		[RF_FIELD_MORE] = {"", ""},
		[RF_FIELD_VIA] = {"", ""},
		[RF_FIELD_JSON] = {"", ""},
	};
	const bool is_read = field->kind == RF_FIELD_JSON;

	return types[is_read ? field->element : field->kind][field->or_null];
}
