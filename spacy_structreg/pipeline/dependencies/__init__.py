"""The component that parses dependencies."""
