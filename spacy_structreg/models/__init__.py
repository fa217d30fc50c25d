"""Models, a file a family, and the base class that trains, saves and loads them."""
