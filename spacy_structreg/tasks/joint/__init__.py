"""Joint segmentation and tagging."""
