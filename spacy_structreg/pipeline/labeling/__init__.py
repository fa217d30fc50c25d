"""The component that labels tokens."""
