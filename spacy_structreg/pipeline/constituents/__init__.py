"""The component that finds constituents."""
