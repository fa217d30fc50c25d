"""The component that classifies texts."""
