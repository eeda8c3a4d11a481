-- SPDX-License-Identifier: GPL-2.0
redis.register_function('rf_beat', rf_beat)
redis.register_function('rf_ban', rf_ban)
redis.register_function('rf_bans', rf_bans)
redis.register_function('rf_gone', rf_gone)
redis.register_function('rf_report', rf_report)
redis.register_function('rf_sums', rf_sums)
