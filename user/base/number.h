/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_NUMBER_H
#define RINGFENCE_NUMBER_H

#include <stdint.h>

#define RF_SHORT_TEXT_SIZE 16

/* 1.42M, 811k, 20: a number of packets a second. */
void rf_format_short(double number, char text[RF_SHORT_TEXT_SIZE]);

#define RF_GROUPED_TEXT_SIZE 32

/* 2,104,331 */
void rf_format_grouped(uint64_t number, char text[RF_GROUPED_TEXT_SIZE]);

#endif /* RINGFENCE_NUMBER_H */
