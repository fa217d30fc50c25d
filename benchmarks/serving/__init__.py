"""Pipelines in use: throughput, latency, memory, size and the cost of training, beside peers."""
