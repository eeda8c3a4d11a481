/* SPDX-License-Identifier: GPL-2.0 */
/* The only code of the agent that prints: a line at a time, for a terminal or for the journal. */
#ifndef RINGFENCE_AGENT_SAY_H
#define RINGFENCE_AGENT_SAY_H

/* What it does, on standard output. */
__attribute__((format(printf, 1, 2))) void rf_agent_say(const char *format, ...);
/* What went wrong, on standard error, with the program's name before it. */
__attribute__((format(printf, 1, 2))) void rf_agent_warn(const char *format, ...);
/* A text of several lines, on standard output. */
void rf_agent_print(const char *text);

#endif /* RINGFENCE_AGENT_SAY_H */
