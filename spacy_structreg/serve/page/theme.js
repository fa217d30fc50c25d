// Runs before anything is drawn, so that a page in the chosen colors never flashes in others.
try {
  const theme = JSON.parse(localStorage.getItem("structreg.theme"));
  if (["light", "dark"].includes(theme)) document.documentElement.dataset.theme = theme;
} catch {
  // Storage is forbidden or holds something else: the colors are the system's.
}
