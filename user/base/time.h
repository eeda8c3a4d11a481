/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_TIME_H
#define RINGFENCE_TIME_H

#include <stdint.h>

#define RF_TIME_TEXT_SIZE 32

/* ns since 1970; it steps when the clock is set. */
uint64_t rf_time_wall(void);
/* ns of CLOCK_MONOTONIC, which stops while the machine sleeps. */
uint64_t rf_time_awake(void);
/* ns of a CPU that the calling thread has used. */
uint64_t rf_time_used(void);
/* ns to add to a time of rf_time_awake() for the one of rf_time_wall(). */
int64_t rf_time_offset(void);
/* A time since 1970 in UTC: 2026-11-23T02:10:00.250Z */
void rf_format_utc(uint64_t time_ns, char text[RF_TIME_TEXT_SIZE]);

/* ---- durations: always a number and its unit, without a blank, as the grammar reads them ---- */

#define RF_DURATION_TEXT_SIZE 32

/* 250ms, 1.5s, 12m 5s. */
void rf_format_ms(uint64_t ms, char text[RF_DURATION_TEXT_SIZE]);
/* A remaining time, rounded up, in its two largest units: 9m 30s. */
void rf_format_left(uint64_t time_ns, char text[RF_DURATION_TEXT_SIZE]);
/* The same as a TIME of the grammar: 570s. */
void rf_format_for(uint64_t time_ns, char text[RF_DURATION_TEXT_SIZE]);

/* The same of local time, in seconds: 2026-11-23 02:10:00 */
void rf_format_local(uint64_t time_ns, char text[RF_TIME_TEXT_SIZE]);

#endif /* RINGFENCE_TIME_H */
