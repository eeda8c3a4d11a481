# SPDX-License-Identifier: GPL-2.0
# Reads a document of OpenMetrics with the parser of Prometheus' client for Python, which is
# stricter than Prometheus itself. Prints the number of samples, and the number of samples with an
# exemplar.
import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

families = list(text_string_to_metric_families(sys.stdin.read()))
samples = [sample for family in families for sample in family.samples]
print(len(samples), sum(sample.exemplar is not None for sample in samples))
