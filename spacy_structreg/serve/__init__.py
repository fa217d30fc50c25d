"""A pipeline as a service: a JSON API, and a page in the browser."""
