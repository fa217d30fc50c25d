"""The interfaces of other segmenters, over pipelines of ours."""
