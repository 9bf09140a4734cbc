"""A long conversation becomes short: old turns summarised, tool results reduced or spilled."""
