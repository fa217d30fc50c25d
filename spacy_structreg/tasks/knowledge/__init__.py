"""Knowledge sources: lexicons, raw-text statistics, guides and word clusters."""
