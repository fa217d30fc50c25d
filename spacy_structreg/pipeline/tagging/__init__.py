"""The component that tags words."""
