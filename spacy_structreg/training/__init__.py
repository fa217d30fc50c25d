"""One epoch as one compiled kernel: decode, find the update point, update, tick the clock."""
