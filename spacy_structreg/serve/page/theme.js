// Runs before anything is drawn, so that a page in the chosen colours never flashes in others.
try {
  const theme = JSON.parse(localStorage.getItem("structreg.theme"));
  if (["light", "dark"].includes(theme)) document.documentElement.dataset.theme = theme;
} catch {
  // Storage is forbidden or holds something else: the colours are the system's.
}
