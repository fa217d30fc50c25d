"""What the benchmarks share: tasks, processes, runs and reports."""
